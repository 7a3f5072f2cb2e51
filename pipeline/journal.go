package pipeline

import (
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

// journal maps paths to the experiments that were read from them, so that recordings whose files
// have not changed need not be read.
type journal struct {
	before map[string]storedir.JournalEntry // entries of earlier ingests, by path

	mu  sync.Mutex
	now map[string]storedir.JournalEntry
}

// settleTime is how long a recording's files must be unchanged before the journal notes them. File
// times are coarse: a write right after the last one may leave size and time the same.
const settleTime = 2 * time.Second

// look sets in.state, unless the input's files changed within settleTime.
func (in *input) look() {
	if _, compressed := in.from.(*compressedFile); in.decoder == nil && !compressed {
		return
	}
	state, changed := in.describeFiles()
	if changed.Before(time.Now().Add(-settleTime)) {
		in.state = state
	}
}

// describeFiles sets the sizes of an input. It returns a hash of its files' names, sizes and times,
// and the time of the last change. If a file cannot be read, that time is never, and identify
// reports the error.
func (in *input) describeFiles() (state string, changed time.Time) {
	in.bytes, in.recorded = 0, 0
	files, err := []string{""}, error(nil) // a compressed recording is one file
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
		is := safefile.StampOf(info)
		in.count(name, is.Size)
		fmt.Fprintf(h, "%q %d %d %d\n", name, is.Size, is.Modified, is.Inode)
		if info.ModTime().After(changed) {
			changed = info.ModTime()
		}
	}
	return fmt.Sprintf("%016x", h.Sum64()), changed
}

// count adds the size of the file with this path in the recording.
func (in *input) count(name string, size int64) {
	in.bytes += size
	if !archive.Holds(name) {
		in.recorded += size
	}
}

// never is later than the time of any file.
var never = time.Unix(1<<40, 0)

// known returns the entry of an input; the zero value if its files have changed since.
func (j *journal) known(src *input) storedir.JournalEntry {
	if n, ok := j.before[src.path]; ok && src.state != "" && n.State == src.state {
		return n
	}
	return storedir.JournalEntry{}
}

// note records the experiment of an input, with the files' state from before they were read.
func (j *journal) note(src *input, id string) {
	if src.state == "" {
		return
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.now == nil {
		j.now = map[string]storedir.JournalEntry{}
	}
	j.now[src.path] = storedir.JournalEntry{State: src.state, ExperimentID: id}
}

// cover notes that an input was not stored because the experiment `by` has all of its data.
func (j *journal) cover(src *input, by *storedir.Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if n, ok := j.now[src.path]; ok {
		n.Covered, n.Generation = by.ExperimentID, by.Generation
		j.now[src.path] = n
	}
}

// settle removes entries whose experiments are not in the store.
func (j *journal) settle(c *storedir.Contents) {
	j.mu.Lock()
	defer j.mu.Unlock()
	maps.DeleteFunc(j.now, func(_ string, n storedir.JournalEntry) bool { return !c.IsCurrent(n) })
}

// write adds the new entries to the store's journal, except those whose experiments are not in the
// store.
func (j *journal) write(store string, c *storedir.Contents) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.now) > 0 {
		_ = storedir.UpdateJournal(store, j.now, c.IsCurrent) // a hint only: an error costs the next ingest time
	}
}

// remember sets Noted in the results to their journal entries, without those whose experiments are
// not in the store. It then writes the journal, unless Options.NoJournal is set.
func (in *ingest) remember(results []Result) {
	if in.store.refresh() != nil {
		return
	}
	in.journal.settle(in.store.contents)
	for i := range results {
		if n, ok := in.journal.now[results[i].Path]; ok {
			results[i].Noted = n
		}
	}
	if !in.options.NoJournal {
		in.journal.write(in.options.Store, in.store.contents)
	}
}
