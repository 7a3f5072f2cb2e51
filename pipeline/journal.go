package pipeline

import (
	"fmt"
	"maps"
	"path/filepath"
	"sync"
	"syscall"
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
	files, err := in.decoder.Files(in.path)
	if err != nil {
		return // identify reports it
	}
	h, settled := xxhash.New(), time.Now().Add(-settledAfter)
	for _, name := range files {
		info, err := infile.Stat(filepath.Join(in.path, name))
		if err != nil {
			settled = time.Time{} // identify reports it
			continue
		}
		in.bytes += info.Size()
		var inode uint64
		if s, ok := info.Sys().(*syscall.Stat_t); ok {
			inode = s.Ino
		}
		fmt.Fprintf(h, "%q %d %d %d\n", name, info.Size(), info.ModTime().UnixNano(), inode)
		if info.ModTime().After(settled) {
			settled = time.Time{}
		}
	}
	if !settled.IsZero() {
		in.state = fmt.Sprintf("%016x", h.Sum64())
	}
}

// known returns the identifier of an input whose files have not changed since it was
// identified, empty if they have.
func (j *journal) known(src *input) string {
	if n, ok := j.before[src.path]; ok && src.state != "" && n.State == src.state {
		return n.ExperimentID
	}
	return ""
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

// write adds to the store's journal what is new, and leaves out what the store does not
// have. It is a hint only: an error costs the next ingest time.
func (j *journal) write(store string, has func(id string) bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	maps.DeleteFunc(j.now, func(_ string, n storedir.Noted) bool { return !has(n.ExperimentID) })
	if len(j.now) == 0 {
		return
	}
	all := storedir.ReadJournal(store) // others may have written
	if all == nil {
		all = map[string]storedir.Noted{}
	}
	maps.DeleteFunc(all, func(_ string, n storedir.Noted) bool { return !has(n.ExperimentID) })
	maps.Copy(all, j.now)
	_ = storedir.WriteJournal(store, all)
}
