package pipeline

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"stackmill/internal/cachekey"
	"stackmill/internal/safefile"
	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/schema/storedir"
	"stackmill/stages/decode"
	"stackmill/stages/program"
)

// needsIngest returns the generation under which to store an experiment, or why not to ingest its
// recording. A recording is ingested if it is not stored, or failed. One that lost data is ingested
// again once the files, options or program have changed that its result depends on; a deleted or
// summarized one, only on request.
func (in *ingest) needsIngest(id string) (generation int, reason string) {
	known, next := in.store.latest(id)
	needed := false
	switch {
	case known.Replaced:
	case known.Batch == "", known.Status == storedir.Reingest, known.Status == Failed:
		needed = true
	case known.Status == Partial:
		needed = in.dependencies(statesOf(known.Looked)) != known.State
	case known.Status == storedir.Forgotten, known.Status == storedir.Summary:
		needed = in.options.Forgotten
	}
	switch {
	case needed:
		return next, ""
	case known.Status == storedir.Forgotten:
		return next, Forgotten
	}
	return next, Skipped
}

// skipReason returns why not to read a recording whose files have not changed since the journal
// entry n was written; empty if it must be read.
func (in *ingest) skipReason(n storedir.JournalEntry) (reason string) {
	if n.Covered == "" {
		_, reason = in.needsIngest(n.ExperimentID)
		return reason
	}
	if own, _ := in.store.latest(n.ExperimentID); own.Batch != "" || !in.store.contents.IsCurrent(n) {
		return ""
	}
	if by, _ := in.store.latest(n.Covered); by.Status == storedir.Forgotten {
		return Forgotten
	}
	return Skipped
}

// candidate is an experiment that was read and may be stored.
type candidate struct {
	in         *ingest
	src        *input
	number     int              // the input's number
	stored     *resymbolization // nil for a recording
	generation int
	result     *Result
	rec        *decode.Recording
	files      *fileLocator
	program    *program.Program
}

// entry returns the experiment's entry for its commit. news is false if it must not be stored: the
// store has as much of it or more, or a user has deleted it.
func (x *candidate) entry() (entry storedir.Entry, news bool) {
	r := x.result
	c := storedir.Entry{
		ExperimentID: r.ID, Generation: x.generation, Experiment: filepath.Base(x.src.path), Path: x.src.path,
		Status: r.Status, Recorded: recordingIdentity(x.rec), Samples: r.Samples, Objects: x.objectsFound(),
		Unclosed: isUnclosed(x.rec),
	}
	x.lookedAt(&c)
	if !x.in.store.confirm(r.ID, x.number) {
		r.skip()
		return c, false
	}
	known, next := x.in.store.latest(r.ID)
	if c.FileTime, c.FileOriginal = known.FileTime, known.FileOriginal; c.FileTime.IsZero() {
		c.FileTime = fileTime(x.rec)
		c.FileOriginal = isOriginal(x.src.at, x.rec)
	}
	more := x.in.store.covering(&c)
	if more != nil && more.Recording() == Complete && known.Batch == "" {
		x.in.journal.cover(x.src, more)
	}
	switch {
	case more != nil && more.Status == storedir.Forgotten, known.Status == storedir.Forgotten && next > x.generation: // meanwhile
		r.forget()
		return c, false
	case known.Replaced, more != nil:
		r.skip()
		return c, false
	}
	c.Instead = x.in.store.superseded(&c, known.Instead)
	r.Remark = x.in.label(&c, &known)
	switch known.Status {
	case "", storedir.Reingest, storedir.Forgotten, storedir.Summary:
		return c, true
	}
	// Another program has stored it meanwhile, or load objects have disappeared.
	if next > x.generation || c.Samples < known.Samples || c.Objects < known.Objects {
		r.skip()
		return c, false
	}
	return c, c.Status != known.Status || c.State != known.State || c.Outcome != known.Outcome || c.Path != known.Path
}

// fileTime returns the time of a recording's file; zero if unknown. A time before 2000 is not the
// original one: reproducible archives set the times of their files to 1970 or 1980.
func fileTime(rec *decode.Recording) time.Time {
	if rec.FileTime.UTC().Year() < 2000 {
		return time.Time{}
	}
	return rec.FileTime.UTC()
}

// isOriginal reports whether a recording's file was being written for at least half as long as the
// recording took. A copy is written faster, or was created after its modification time. isOriginal
// returns false if it cannot decide, as for very short recordings.
func isOriginal(path string, rec *decode.Recording) bool {
	const shortest = 50 * time.Millisecond
	born := safefile.Born(path)
	return !born.IsZero() && rec.FileTime.Sub(born) >= max(rec.Length()/2, shortest)
}

// describeEntry is entry, but also works for an experiment that is symbolized again.
func (x *candidate) describeEntry() (entry storedir.Entry, more bool) {
	if x.stored == nil {
		return x.entry()
	}
	c := x.stored.of.entry
	known, next := x.in.store.latest(c.ExperimentID)
	if next > x.generation || known.Replaced { // another program was faster
		x.result.skip()
		return c, false
	}
	c.Generation, c.Status, c.Samples, c.Objects = x.generation, x.result.Status, x.result.Samples, x.objectsFound()
	c.Instead, c.Labels, c.LabelCommits = known.Instead, known.Labels, known.LabelCommits
	c.Ingested = c.IngestedAt(x.stored.of.batch.Ingested)
	c.Looked, c.State, c.Outcome = nil, "", ""
	x.lookedAt(&c)
	return c, true
}

// renewedEntry is describeEntry, but reads the store again if Options.Contents is a snapshot that
// has the recording: a new entry must keep labels that were set since the snapshot.
func (x *candidate) renewedEntry() (entry storedir.Entry, more bool, err error) {
	entry, more = x.describeEntry()
	if !more {
		return entry, more, nil
	}
	if renewed, err := x.in.store.renew(&entry); err != nil || !renewed {
		return entry, more, storeFault(err)
	}
	generation, instead := x.in.needsIngest(entry.ExperimentID)
	switch instead {
	case "":
		x.generation = generation
		entry, more = x.describeEntry()
		return entry, more, nil
	case Forgotten:
		x.result.forget()
	default:
		x.result.skip()
	}
	return entry, false, nil
}

// lookedAt records, for a recording that lost data, the files and options that the result depends
// on.
func (x *candidate) lookedAt(c *storedir.Entry) {
	if !x.result.Lost() {
		return
	}
	seen := x.files.states
	seen.debugFiles(x.in.lookup.debugDirs, x.program.Objects)
	c.Looked, c.State = slices.Sorted(maps.Keys(seen.files)), x.in.dependencies(seen.files)
	c.Outcome = outcome(x.rec.Problems.Problems)
}

// label sets the labels of an experiment to those that it has in the store. If it is new, or was
// deleted, it also gets the labels of the experiments that it supersedes, and the requested ones.
// The remark describes labels that it cannot get.
func (in *ingest) label(c *storedir.Entry, known *storedir.Latest) (remark string) {
	c.Labels, c.LabelCommits = maps.Clone(known.Labels), slices.Clone(known.LabelCommits)
	if known.Batch != "" && known.Status != storedir.Forgotten {
		return ""
	}
	if c.Labels == nil {
		c.Labels = map[string]string{}
	}
	for _, id := range c.Instead {
		o, _ := in.store.latest(id)
		maps.Copy(c.Labels, o.Labels)
		c.LabelCommits = append(c.LabelCommits, o.LabelCommits...)
	}
	if in.options.Labels != nil {
		requested := maps.Clone(in.options.Labels(c.Path))
		remark = checkStart(requested)
		maps.Copy(c.Labels, requested)
	}
	slices.Sort(c.LabelCommits)
	c.LabelCommits = slices.Compact(c.LabelCommits)
	return remark
}

// checkStart normalizes the label of the start, which may be a part of a path. If the label is not a
// time, it removes the label and returns a remark.
func checkStart(labels map[string]string) (remark string) {
	value, ok := labels[storedir.StartedLabel]
	if !ok {
		return ""
	}
	at, err := storedir.ParseStart(value)
	if err != nil {
		delete(labels, storedir.StartedLabel)
		return fmt.Sprintf("label %s is not set: %v", storedir.StartedLabel, err)
	}
	labels[storedir.StartedLabel] = storedir.FormatStart(at)
	return ""
}

// noteFileTime sets the result's FileTime, unless the file's time is known to be right.
func (x *candidate) noteFileTime(c *storedir.Entry) {
	if x.stored == nil && x.rec.Started.IsZero() && c.LabeledStart().IsZero() && !c.FileTime.IsZero() && !c.FileOriginal {
		x.result.FileTime = storedir.FileTime{Time: c.FileTime, Length: x.rec.Length()}
	}
}

// outcome returns a hash of the problems of a recording that lost data.
func outcome(problems []diagnostic.Problem) string {
	h := xxhash.New()
	for _, p := range problems {
		fmt.Fprintf(h, "%d %d %q %d %q %q %d\n", p.Severity, p.Process, p.File, p.Offset, p.Reason, p.Message, p.Count)
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// skip sets the status of a recording that is stored already.
func (r *Result) skip() { r.discard(Skipped, r.Err) }

// discard sets the status of a recording that was not stored.
func (r *Result) discard(status string, err error) {
	r.Status, r.Err, r.Samples, r.Problems, r.Batch, r.Rows, r.Remark, r.FileTime = status, err, 0, nil, "", 0, "", storedir.FileTime{}
}

// forget sets the status of a recording that was deleted.
func (r *Result) forget() { r.Status, r.Samples, r.Problems = Forgotten, 0, nil }

// recordingIdentity identifies a recording by host, process and start, whatever its content; empty
// if that is unknown.
func recordingIdentity(rec *decode.Recording) string {
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

// objectsFound counts the load objects whose files were found.
func (x *candidate) objectsFound() (n int64) {
	for i := range x.program.Objects {
		if s := x.program.Objects[i].Symbols; s != "" && s != "none" {
			n++
		}
	}
	return n
}

// fileStates records the files outside of a recording that were looked for, with their states.
type fileStates struct {
	mu    sync.Mutex
	files map[string]string
}

func (s *fileStates) add(path string) {
	if !filepath.IsAbs(path) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, known := s.files[path]; !known {
		s.files[path] = fileState(path)
	}
}

// debugFiles adds the folders in which debug files of the load objects would appear.
func (s *fileStates) debugFiles(dirs []string, objects []program.Object) {
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

// fileState returns a text that differs between versions of a file; "missing" if there is none.
func fileState(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return "missing"
	}
	return fmt.Sprintf("%d %d", info.Size(), info.ModTime().UnixNano())
}

// statesOf returns the current states of files.
func statesOf(paths []string) map[string]string {
	files := map[string]string{}
	for _, p := range paths {
		files[p] = fileState(p)
	}
	return files
}

// dependencies returns a hash of what a result depends on besides the recording: the program, the
// options that say where files are, and these files.
func (in *ingest) dependencies(files map[string]string) string {
	o := in.options
	return cachekey.Hash(o.Program, o.SymFS, o.DebugDirs, o.Kallsyms, o.Vmlinux, o.PerfMaps, o.Sources, files)
}
