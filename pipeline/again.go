package pipeline

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/symbolize"
	"stackmill/storedir"
)

// due returns what the store has of an experiment, and whether its recording is
// to be read: a failed one each time; one that lost data when the files, options
// or program on which the result depends have changed.
func (in *ingest) due(id string) (earlier storedir.Latest, due bool, err error) {
	earlier, err = in.store.Latest(id)
	switch {
	case err != nil || earlier.Replaced:
		return earlier, false, err
	case !earlier.Exists, earlier.Err != nil, earlier.Status == storedir.Again, earlier.Status == Failed:
		return earlier, true, nil
	case earlier.Status == Partial:
		return earlier, in.state(lookAt(earlier.Looked)) != earlier.State, nil
	}
	return earlier, false, nil
}

// commitUnlessLess makes the experiment's batch exist, unless that loses what an
// earlier attempt has read, or another attempt has come first.
func (e *experiment) commitUnlessLess() error {
	r, seen, earlier := e.result, e.files.seen, e.earlier
	c := e.named()
	c.Status, c.Ingested, c.Program = r.Status, time.Now().UTC().Truncate(time.Second), e.Program
	c.Recorded, c.Samples, c.Objects = identity(e.rec), e.samples, e.found()
	if r.Lost() {
		seen.debugFiles(e.debugDirs(), e.resolver.Program.Objects)
		c.Looked, c.State = slices.Sorted(maps.Keys(seen.files)), e.ingest.state(seen.files)
	}
	known := earlier.Commit
	if earlier.Err != nil || earlier.Status == storedir.Again {
		known = storedir.Commit{}
	}
	if known.Batch != "" && (c.Samples < known.Samples || c.Objects < known.Objects) {
		r.skip() // files that were there are gone
		return nil
	}
	c.Replaces = e.replaces(earlier, &c)
	err := e.batch.CommitAnew(known, c)
	if errors.Is(err, storedir.ErrExists) {
		r.skip()
		return nil
	}
	return err
}

// skip makes the result say that the recording is in the store already.
func (r *Result) skip() { r.Status, r.Samples, r.Problems = Skipped, 0, nil }

// replaces returns the batches that the commit replaces: those before it, and
// those of copies that were at the same path, of the same recording before it was
// finished or repaired.
func (in *ingest) replaces(earlier storedir.Latest, c *storedir.Commit) (batches []string) {
	if earlier.Exists {
		batches = append(append(batches, earlier.Replaces...), earlier.Batch)
	}
	for _, o := range in.unfinished[c.Path] {
		same := o.Recorded != "" && o.Recorded == c.Recorded && o.Samples <= c.Samples
		if o.ExperimentID != c.ExperimentID && (same || o.Status == Failed) {
			batches = append(append(batches, o.Replaces...), o.Batch)
		}
	}
	slices.Sort(batches)
	return slices.Compact(batches)
}

// identity distinguishes recordings by who was recorded where and when; empty if
// that is unknown.
func identity(rec *decode.Recording) string {
	if rec.Started.IsZero() || len(rec.Processes) == 0 {
		return ""
	}
	p := rec.Processes[0]
	id := schema.NewID("recording").Text(rec.Format).Text(rec.Host).Text(p.Command).Number(uint64(p.PID)).Number(uint64(rec.Started.UnixNano()))
	return fmt.Sprintf("%016x", id.Sum())
}

// found counts the load objects whose files were found.
func (e *experiment) found() (n int64) {
	for i := range e.resolver.Program.Objects {
		if s := e.resolver.Program.Objects[i].Symbols; s != "" && s != "none" {
			n++
		}
	}
	return n
}

// seen are the files outside of a recording that were looked for, and what each
// was then.
type seen struct {
	mu    sync.Mutex
	files map[string]string
}

func (s *seen) add(path string) {
	if !filepath.IsAbs(path) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.files[path]; !known {
		s.files[path] = what(path)
	}
}

// debugFiles adds the folders in which debug files of the load objects would appear.
func (s *seen) debugFiles(dirs []string, objects []symbolize.Object) {
	for i := range objects {
		if id := objects[i].BuildID; len(id) > 2 {
			for _, dir := range dirs {
				s.add(filepath.Join(dir, ".build-id", id[:2]))
			}
		}
	}
}

// what distinguishes a file from later ones at its path.
func what(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "missing"
	}
	return fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
}

// lookAt returns what files are now.
func lookAt(paths []string) map[string]string {
	files := map[string]string{}
	for _, p := range paths {
		files[p] = what(p)
	}
	return files
}

// state is a hash of what a result depends on besides the recording: the program,
// the options that say where files are, and these files.
func (in *ingest) state(files map[string]string) string {
	h := xxhash.New()
	fmt.Fprintf(h, "%q %q %q %q %q %q %v", in.Program, in.SymFS, in.DebugDirs, in.Kallsyms, in.Vmlinux, in.PerfMaps, in.Sources)
	for _, p := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(h, "\n%q %s", p, files[p])
	}
	return fmt.Sprintf("%016x", h.Sum64())
}
