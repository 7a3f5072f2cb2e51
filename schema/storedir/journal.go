package storedir

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"

	"github.com/cespare/xxhash/v2"
)

// JournalFile is the file in a store that says which recordings were ingested. It only saves time:
// it may be deleted.
const JournalFile = "journal.json"

// JournalEntry says which experiment the recording at a path is.
type JournalEntry struct {
	State        string `json:"state"` // a hash of its files' attributes, without their content
	ExperimentID string `json:"experiment_id"`
	// Covered is set if the recording was skipped because an experiment makes it redundant: that
	// experiment's id. Generation is that experiment's generation at that time.
	Covered    string `json:"covered,omitempty"`
	Generation int    `json:"generation,omitempty"`
}

// ReadJournal returns the journal's entries, by the absolute paths of the recordings; nil if the
// journal cannot be read or is damaged.
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

// IsCurrent reports whether the store still has the experiment of an entry, or the one that covers
// it.
func (c *Contents) IsCurrent(n JournalEntry) bool {
	if n.Covered == "" {
		return c.Latest(n.ExperimentID).Batch != ""
	}
	by := c.Latest(n.Covered)
	return by.Batch != "" && by.Generation == n.Generation && by.Status != Reingest && !by.Replaced
}

// UpdateJournal adds entries to a store's journal, and drops those that are no longer current.
func UpdateJournal(store string, noted map[string]JournalEntry, holds func(JournalEntry) bool) error {
	all := ReadJournal(store) // others may have written
	if all == nil {
		all = map[string]JournalEntry{}
	}
	maps.Copy(all, noted)
	maps.DeleteFunc(all, func(_ string, n JournalEntry) bool { return !holds(n) })
	return WriteJournal(store, all)
}

// WriteJournal replaces the journal. Of several writers the last wins.
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
	// The journal need not survive a power cut.
	if err := os.WriteFile(temp, append(content, "\n"+Checksum(xxhash.Sum64(content))+"\n"...), 0o666); err != nil {
		return err
	}
	if err := os.Rename(temp, filepath.Join(store, JournalFile)); err != nil {
		return err
	}
	return Push(store, JournalFile)
}
