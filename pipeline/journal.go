package pipeline

import (
	"fmt"
	"maps"
	"path/filepath"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"stackmill/stages/infile"
	"stackmill/storedir"
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
	if in.decoder == nil {
		return
	}
	state, bytes, changed := in.describeFiles()
	in.bytes = bytes
	if changed.Before(time.Now().Add(-settledAfter)) {
		in.state = state
	}
}

// describeFiles returns a hash of what the files of an input are, by all but their content,
// their size, and when the last of them changed: in the far future if one is unreadable,
// which identify reports.
func (in *input) describeFiles() (state string, bytes int64, changed time.Time) {
	files, err := in.decoder.Files(in.path)
	if err != nil {
		return err.Error(), 0, never
	}
	h := xxhash.New()
	for _, name := range files {
		info, err := infile.Stat(filepath.Join(in.path, name))
		if err != nil {
			fmt.Fprintf(h, "%q %v\n", name, err)
			changed = never
			continue
		}
		is := stampOf(info)
		bytes += is.size
		fmt.Fprintf(h, "%q %d %d %d\n", name, is.size, is.modified, is.inode)
		changed = later(changed, info.ModTime())
	}
	return fmt.Sprintf("%016x", h.Sum64()), bytes, changed
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

// holds reports whether the store says of an input what it did when it was noted: it has
// the experiment, or that which has all of it.
func holds(store *storedir.Contents, n storedir.Noted) bool {
	if n.Covered == "" {
		return store.Latest(n.ExperimentID).Batch != ""
	}
	by := store.Latest(n.Covered)
	return by.Batch != "" && by.Generation == n.Generation && by.Status != storedir.Again && !by.Replaced
}

// write adds to the store's journal what is new, and leaves out what does not hold. It is a hint only: an error costs the next ingest time.
func (j *journal) write(store string, c *storedir.Contents) {
	j.mu.Lock()
	defer j.mu.Unlock()
	gone := func(_ string, n storedir.Noted) bool { return !holds(c, n) }
	maps.DeleteFunc(j.now, gone)
	if len(j.now) == 0 {
		return
	}
	all := storedir.ReadJournal(store) // others may have written
	if all == nil {
		all = map[string]storedir.Noted{}
	}
	maps.DeleteFunc(all, gone)
	maps.Copy(all, j.now)
	_ = storedir.WriteJournal(store, all)
}
