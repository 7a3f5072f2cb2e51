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

// JournalEntry is a recording that was identified.
type JournalEntry struct {
	State        string `json:"state"` // a hash of what its files were then, by all but their content
	ExperimentID string `json:"experiment_id"`
	// Covered is the experiment that has all of it, with its generation then, if it was left
	// out for that.
	Covered    string `json:"covered,omitempty"`
	Generation int    `json:"generation,omitempty"`
}

// ReadJournal returns what was noted, by the recordings' absolute paths; nil if that
// cannot be read, or is not as it was written.
func ReadJournal(store string) (noted map[string]JournalEntry) {
	_ = Sync(store, JournalFile) // it is a hint
	data, err := ReadFile(filepath.Join(store, JournalFile), maxJournal)
	if err != nil {
		return nil
	}
	content, sum, ok := bytes.Cut(data, []byte("\n"))
	if !ok || string(bytes.TrimSpace(sum)) != Checksum(xxhash.Sum64(content)) || json.Unmarshal(content, &noted) != nil {
		return nil
	}
	return noted
}

// IsCurrent reports whether the store says of a recording what it did when it was noted: it has
// the experiment, or that which has all of it.
func (c *Contents) IsCurrent(n JournalEntry) bool {
	if n.Covered == "" {
		return c.Latest(n.ExperimentID).Batch != ""
	}
	by := c.Latest(n.Covered)
	return by.Batch != "" && by.Generation == n.Generation && by.Status != Reingest && !by.Replaced
}

// UpdateJournal adds to a store's journal what is new, and leaves out what does not hold.
func UpdateJournal(store string, noted map[string]JournalEntry, holds func(JournalEntry) bool) error {
	all := ReadJournal(store) // others may have written
	if all == nil {
		all = map[string]JournalEntry{}
	}
	maps.Copy(all, noted)
	maps.DeleteFunc(all, func(_ string, n JournalEntry) bool { return !holds(n) })
	return WriteJournal(store, all)
}

// WriteJournal replaces the journal. Of several writers the last one's stays.
func WriteJournal(store string, noted map[string]JournalEntry) error {
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
