package pipeline

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"stackmill/internal/safefile"
	"stackmill/schema/storedir"
	"stackmill/stages/decode/gprofng/archive"
)

// journal says which recordings were identified as what, so that those whose files have
// not changed since need not be read.
type journal struct {
	before map[string]storedir.Noted // by earlier ingests, by path

	mu  sync.Mutex
	now map[string]storedir.Noted
}

// settledAfter is for how long files must not have changed to be noted: what is written at
// once after that may leave them the same size and time.
const settledAfter = 2 * time.Second

// look finds out what an input's files are, by all but their content. The state is empty
// if that says nothing of their content.
func (in *input) look() {
	if _, compressed := in.from.(*compressedFile); in.decoder == nil && !compressed {
		return
	}
	state, changed := in.describeFiles()
	if changed.Before(time.Now().Add(-settledAfter)) {
		in.state = state
	}
}

// describeFiles adds up the sizes of an input's files. It returns a hash of what they are, by
// all but their content, and when the last of them changed: in the far future if one is
// unreadable, which identify reports.
func (in *input) describeFiles() (state string, changed time.Time) {
	in.bytes, in.recorded = 0, 0
	files, err := []string{""}, error(nil) // of a compressed file
	if in.decoder != nil {
		files, err = in.decoder.Files(in.at)
	}
	if err != nil {
		return err.Error(), never
	}
	h := xxhash.New()
	for _, name := range files {
		info, err := safefile.Stat(filepath.Join(in.at, name))
		if err != nil {
			fmt.Fprintf(h, "%q %v\n", name, err)
			changed = never
			continue
		}
		is := stampOf(info)
		in.count(name, is.size)
		fmt.Fprintf(h, "%q %d %d %d\n", name, is.size, is.modified, is.inode)
		changed = later(changed, info.ModTime())
	}
	return fmt.Sprintf("%016x", h.Sum64()), changed
}

// count adds the size of a file to the input's, given its path in the recording.
func (in *input) count(name string, size int64) {
	in.bytes += size
	if !archive.Holds(name) {
		in.recorded += size
	}
}

// never is after everything.
var never = time.Unix(1<<40, 0)

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// known returns what was noted of an input whose files have not changed since; nothing if
// they have.
func (j *journal) known(src *input) storedir.Noted {
	if n, ok := j.before[src.path]; ok && src.state != "" && n.State == src.state {
		return n
	}
	return storedir.Noted{}
}

// note notes what an input is, by its state before it was read.
func (j *journal) note(src *input, id string) {
	if src.state == "" {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.now == nil {
		j.now = map[string]storedir.Noted{}
	}
	j.now[src.path] = storedir.Noted{State: src.state, ExperimentID: id}
}

// cover notes that an input was left out, since an experiment has all of it.
func (j *journal) cover(src *input, by *storedir.Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if n, ok := j.now[src.path]; ok {
		n.Covered, n.Generation = by.ExperimentID, by.Generation
		j.now[src.path] = n
	}
}

// settle leaves out what was noted and does not hold.
func (j *journal) settle(c *storedir.Contents) {
	j.mu.Lock()
	defer j.mu.Unlock()
	maps.DeleteFunc(j.now, func(_ string, n storedir.Noted) bool { return !c.Holds(n) })
}

// write adds to the store's journal what is new, and leaves out what does not hold.
func (j *journal) write(store string, c *storedir.Contents) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.now) > 0 {
		_ = storedir.AddToJournal(store, j.now, c.Holds) // a hint only: an error costs the next ingest time
	}
}

// remember leaves out of the journal what does not hold, says in each result what was noted,
// and writes the journal unless others do.
func (in *ingest) remember(results []Result) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if err := in.store.Refresh(); err != nil && !errors.Is(err, storedir.ErrNoStore) {
		return
	}
	in.journal.settle(in.store)
	for i := range results {
		if n, ok := in.journal.now[results[i].Path]; ok {
			results[i].Noted = n
		}
	}
	if !in.NoJournal {
		in.journal.write(in.Store, in.store)
	}
}
