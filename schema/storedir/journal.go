package storedir

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"

	"github.com/cespare/xxhash/v2"
)

// JournalFile is the name of the file in a store that says what ingests have read. It is
// a hint, of which nothing depends: safe to delete.
const JournalFile = "journal.json"

// Noted is a recording that was identified.
type Noted struct {
	State        string `json:"state"` // a hash of what its files were then, by all but their content
	ExperimentID string `json:"experiment_id"`
	// Covered is the experiment that has all of it, with its generation then, if it was left
	// out for that.
	Covered    string `json:"covered,omitempty"`
	Generation int    `json:"generation,omitempty"`
}

// ReadJournal returns what was noted, by the recordings' absolute paths; nil if that
// cannot be read, or is not as it was written.
func ReadJournal(store string) (noted map[string]Noted) {
	_ = Recall(store, JournalFile) // it is a hint
	data, err := ReadFile(filepath.Join(store, JournalFile), mostJournal)
	if err != nil {
		return nil
	}
	content, sum, ok := bytes.Cut(data, []byte("\n"))
	if !ok || string(bytes.TrimSpace(sum)) != Checksum(xxhash.Sum64(content)) || json.Unmarshal(content, &noted) != nil {
		return nil
	}
	return noted
}

// Holds reports whether the store says of a recording what it did when it was noted: it has
// the experiment, or that which has all of it.
func (c *Contents) Holds(n Noted) bool {
	if n.Covered == "" {
		return c.Latest(n.ExperimentID).Batch != ""
	}
	by := c.Latest(n.Covered)
	return by.Batch != "" && by.Generation == n.Generation && by.Status != Again && !by.Replaced
}

// AddToJournal adds to a store's journal what is new, and leaves out what does not hold.
func AddToJournal(store string, noted map[string]Noted, holds func(Noted) bool) error {
	all := ReadJournal(store) // others may have written
	if all == nil {
		all = map[string]Noted{}
	}
	maps.Copy(all, noted)
	maps.DeleteFunc(all, func(_ string, n Noted) bool { return !holds(n) })
	return WriteJournal(store, all)
}

// WriteJournal replaces the journal. Of several writers the last one's stays.
func WriteJournal(store string, noted map[string]Noted) error {
	content, err := json.Marshal(noted)
	if err != nil {
		return err
	}
	scratch, err := NewScratch(store)
	if err != nil {
		return err
	}
	defer scratch.Remove()
	temp := filepath.Join(scratch.Dir, JournalFile)
	// It need not survive a power cut.
	if err := os.WriteFile(temp, append(content, "\n"+Checksum(xxhash.Sum64(content))+"\n"...), 0o666); err != nil {
		return err
	}
	if err := os.Rename(temp, filepath.Join(store, JournalFile)); err != nil {
		return err
	}
	return Push(store, JournalFile)
}
