package pipeline

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/cespare/xxhash/v2"

	"stackmill/internal/cachekey"
	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/schema/storedir"
	"stackmill/stages/decode"
	"stackmill/stages/program"
)

// due returns the generation with which the recording of an experiment is to be put in. One
// that is not in the store, or failed, is read always; one that lost data when the files,
// options or program on which the result depends have changed; one that was forgotten, or
// of which a summary is left, when that was asked for. Of others it returns what to say.
func (in *ingest) due(id string) (generation int, instead string) {
	known, next := in.latest(id)
	due := false
	switch {
	case known.Replaced:
	case known.Batch == "", known.Status == storedir.Again, known.Status == Failed:
		due = true
	case known.Status == Partial:
		due = in.state(lookAt(known.Looked)) != known.State
	case known.Status == storedir.Forgotten, known.Status == storedir.Summary:
		due = in.Options.Forgotten
	}
	switch {
	case due:
		return next, ""
	case known.Status == storedir.Forgotten:
		return next, Forgotten
	}
	return next, Skipped
}

// leftOut returns what to say of a recording that has not changed since it was noted; empty
// if it is to be read.
func (in *ingest) leftOut(n storedir.Noted) (instead string) {
	if n.Covered == "" {
		_, instead = in.due(n.ExperimentID)
		return instead
	}
	if own, _ := in.latest(n.ExperimentID); own.Batch != "" || !in.store.Holds(n) {
		return ""
	}
	if by, _ := in.latest(n.Covered); by.Status == storedir.Forgotten {
		return Forgotten
	}
	return Skipped
}

// latest returns what the store has of an experiment, and the next generation.
func (in *ingest) latest(id string) (storedir.Latest, int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.store.Latest(id), in.store.Next(id)
}

// entry describes the experiment for its commit; false if the store has the same or more.
func (e *experiment) entry() (entry storedir.Entry, news bool) {
	r := e.result
	c := storedir.Entry{
		ExperimentID: r.ID, Generation: e.generation, Experiment: filepath.Base(e.src.path), Path: e.src.path,
		Status: r.Status, Recorded: identity(e.rec), Samples: e.samples, Objects: e.found(),
		Unclosed: len(e.rec.Processes) > 0 && !e.rec.Processes[0].Closed,
	}
	e.lookedAt(&c)
	if !e.settle(r.ID, e.to.number) {
		r.skip()
		return c, false
	}
	known, next := e.latest(r.ID)
	more := e.more(&c)
	if more != nil && more.Recording() == Complete && known.Batch == "" {
		e.journal.cover(&e.src, more)
	}
	switch {
	case more != nil && more.Status == storedir.Forgotten, known.Status == storedir.Forgotten && next > e.generation: // meanwhile
		r.forget()
		return c, false
	case known.Replaced, more != nil:
		r.skip()
		return c, false
	}
	c.Instead = e.instead(&c, known.Instead)
	e.label(&c, &known)
	switch known.Status {
	case "", storedir.Again, storedir.Forgotten, storedir.Summary:
		return c, true
	}
	// Another program was faster, or files that were there are gone.
	if next > e.generation || c.Samples < known.Samples || c.Objects < known.Objects {
		r.skip()
		return c, false
	}
	return c, c.Status != known.Status || c.State != known.State || c.Outcome != known.Outcome || c.Path != known.Path
}

// renewedEntry is describeEntry by what is in the store now, if a snapshot has something of
// the recording: what takes its place has the labels that were given since.
func (e *experiment) renewedEntry() (entry storedir.Entry, more bool, err error) {
	entry, more = e.describeEntry()
	if !more {
		return entry, more, nil
	}
	if renewed, err := e.renew(&entry); err != nil || !renewed {
		return entry, more, storeFault(err)
	}
	generation, instead := e.due(entry.ExperimentID)
	switch instead {
	case "":
		e.generation = generation
		entry, more = e.describeEntry()
		return entry, more, nil
	case Forgotten:
		e.result.forget()
	default:
		e.result.skip()
	}
	return entry, false, nil
}

// renew looks at the store, if there is a snapshot that has an experiment or what it takes
// the place of.
func (in *ingest) renew(c *storedir.Entry) (renewed bool, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if !in.store.IsSnapshot() || in.store.Latest(c.ExperimentID).Batch == "" && len(c.Instead) == 0 {
		return false, nil
	}
	return true, in.store.Renew()
}

// lookedAt fills in on what the result of a recording that lost data depends.
func (e *experiment) lookedAt(c *storedir.Entry) {
	if !e.result.Lost() {
		return
	}
	seen := e.files.seen
	seen.debugFiles(e.debugDirs(), e.resolver.Program.Objects)
	c.Looked, c.State = slices.Sorted(maps.Keys(seen.files)), e.ingest.state(seen.files)
	c.Outcome = outcome(e.rec.Problems.Problems)
}

// more returns another experiment with all that one has, in a form that was finished or has
// more of it, and was in the store before; nil if there is none.
func (in *ingest) more(c *storedir.Entry) *storedir.Entry {
	for _, o := range in.forms[c.Recorded] {
		if o.Covers(c) {
			return o
		}
	}
	return nil
}

// label gives an experiment the labels that it has already, or those of the ones in whose
// place it is and, as it is new, the ones asked for.
func (in *ingest) label(c *storedir.Entry, known *storedir.Latest) {
	c.Labels, c.Labelled = maps.Clone(known.Labels), slices.Clone(known.Labelled)
	if known.Batch != "" && known.Status != storedir.Forgotten {
		return
	}
	if c.Labels == nil {
		c.Labels = map[string]string{}
	}
	for _, id := range c.Instead {
		o, _ := in.latest(id)
		maps.Copy(c.Labels, o.Labels)
		c.Labelled = append(c.Labelled, o.Labelled...)
	}
	if in.Labels != nil {
		maps.Copy(c.Labels, in.Labels(c.Path))
	}
	slices.Sort(c.Labelled)
	c.Labelled = slices.Compact(c.Labelled)
}

// outcome is a hash of the problems of a recording that lost data.
func outcome(problems []diagnostic.Problem) string {
	h := xxhash.New()
	for _, p := range problems {
		fmt.Fprintf(h, "%d %d %q %d %q %q %d\n", p.Severity, p.Process, p.File, p.Offset, p.Reason, p.Message, p.Count)
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// skip makes the result say that the recording is in the store already.
func (r *Result) skip() { r.gone(Skipped, r.Err) }

// gone makes the result say that nothing of the recording was put in.
func (r *Result) gone(status string, err error) {
	r.Status, r.Err, r.Samples, r.Problems, r.Batch, r.Rows = status, err, 0, nil, "", 0
}

// forget makes the result say that the recording was forgotten.
func (r *Result) forget() { r.Status, r.Samples, r.Problems = Forgotten, 0, nil }

// instead returns the experiments whose place one takes: forms of the same recording before
// it was finished or repaired, wherever it was then, what failed at the same path, and
// those whose place these and it have taken before.
func (in *ingest) instead(c *storedir.Entry, before []string) []string {
	ids := slices.Clone(before)
	take := func(o *storedir.Entry) {
		ids = append(append(ids, o.ExperimentID), o.Instead...)
	}
	for _, o := range in.forms[c.Recorded] {
		if c.Covers(o) {
			take(o)
		}
	}
	for _, o := range in.failed[c.Path] {
		if o.ExperimentID != c.ExperimentID {
			take(&o)
		}
	}
	slices.Sort(ids)
	return slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return id == c.ExperimentID })
}

// identity distinguishes recordings by who was recorded where and when, from the first
// sample on; empty if that is unknown.
func identity(rec *decode.Recording) string {
	if rec.Origin != "" {
		return fmt.Sprintf("%016x", schema.NewID("recording").Text(rec.Format).Text(rec.Origin).Sum())
	}
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
func (s *seen) debugFiles(dirs []string, objects []program.Object) {
	for _, dir := range dirs {
		s.add(dir)
	}
	for i := range objects {
		if id := objects[i].BuildID; len(id) > 2 {
			for _, dir := range dirs {
				s.add(filepath.Join(dir, ".build-id", id[:2]))
				s.add(filepath.Join(dir, id))
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
	return cachekey.Hash(in.Program, in.SymFS, in.DebugDirs, in.Kallsyms, in.Vmlinux, in.PerfMaps, in.Sources, files)
}
