package plan

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"stackmill/schema/storedir"
)

// The states of an input.
const (
	In        = "in"        // the store has it, or a summary of it
	Missing   = "missing"   // not in the store; a task may store it
	Failed    = "failed"    // it cannot be read
	Forgotten = "forgotten" // it was deleted from the store on purpose
)

// Outcome is the outcome of an input.
type Outcome struct {
	Input
	Chunk        int
	State        string
	Status       string // the experiment's status in the store, empty if it is not there
	ExperimentID string // empty if it is not known
	Why          string // why it is not in, if a report says so
}

// storeState is what a store says about recordings.
type storeState struct {
	*storedir.Contents
	paths   map[string]*storedir.Entry
	journal map[string]storedir.JournalEntry
	again   bool // deleted and summarized experiments are to be stored again
}

// readState reads the state of a store, which need not exist.
func readState(store string, again bool) (*storeState, error) {
	c, err := storedir.ReadContents(store)
	if err != nil && !errors.Is(err, storedir.ErrNoStore) {
		return nil, err
	}
	if err == nil {
		err = c.CheckVersions()
	}
	if err != nil && !errors.Is(err, storedir.ErrNoStore) {
		return nil, err
	}
	return &storeState{c, AtPaths(c), storedir.ReadJournal(store), again}, nil
}

// AtPaths returns the visible experiments of a store by the paths of their recordings.
func AtPaths(c *storedir.Contents) map[string]*storedir.Entry {
	paths := map[string]*storedir.Entry{}
	for i := range c.Batches {
		for e := range c.Batches[i].Visible {
			paths[e.Path] = e
		}
	}
	return paths
}

// Status calls yield with the outcome of each input of a plan, in their order, from the store
// alone: it does not read recordings.
func (p *Plan) Status(store string, yield func(Outcome)) error {
	if err := storedir.Sync(store, Dir+"/"+p.ID); err != nil {
		return err
	}
	h, err := readState(store, slices.Contains(p.Task.Ingest, ForgottenToo))
	if err != nil {
		return err
	}
	for chunk := range p.Chunks {
		inputs, err := p.Inputs(chunk)
		if err != nil {
			return err
		}
		report, err := ReadReport(ReportPath(store, p.ID, chunk))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		says := map[string]*ReportInput{}
		if report != nil {
			for i := range report.Inputs {
				says[report.Inputs[i].Path] = &report.Inputs[i]
			}
		}
		for i := range inputs {
			b := h.outcome(&inputs[i], says[inputs[i].Path])
			if b.Chunk = chunk; b.State == Missing && b.Why == "" {
				b.Why = noReport(report)
			}
			yield(b)
		}
	}
	return nil
}

// noReport returns why an input is missing if no report mentions it.
func noReport(chunk *Report) string {
	if chunk == nil {
		return "no task of its chunk has come to its end"
	}
	return cmp.Or(chunk.Error, "the report of its chunk does not name it")
}

// outcome returns the outcome of an input, from the store and the report r about it, which may be
// nil. If they disagree on whether the input is stored, the store is right.
func (h *storeState) outcome(in *Input, r *ReportInput) Outcome {
	b := Outcome{Input: *in, State: Missing}
	if e := h.paths[in.Path]; e != nil && e.ExperimentID != in.Had {
		h.setEntry(&b, e)
		return b
	}
	var why string
	if r != nil {
		if why = r.Error; h.noted(&b, r.Noted) || h.experiment(&b, r.ExperimentID) {
			return b
		}
	}
	if n := h.journal[in.Path]; n.State == in.State && in.State != "" && h.noted(&b, n) {
		return b
	}
	switch {
	case r == nil:
	case r.Status == Failed:
		b.State, b.ExperimentID, b.Why = Failed, r.ExperimentID, why
	case r.InStore:
		b.Why = "its report says that the store has it, which it does not"
	default:
		b.Why = why
	}
	return b
}

// noted sets the outcome from a journal entry; false if the store does not have the recording.
func (h *storeState) noted(b *Outcome, n storedir.JournalEntry) bool {
	if n.ExperimentID == "" || !h.IsCurrent(n) {
		return false
	}
	return h.experiment(b, cmp.Or(n.Covered, n.ExperimentID))
}

// experiment sets the outcome from an experiment id; false if the store does not have it.
func (h *storeState) experiment(b *Outcome, id string) bool {
	l := h.Latest(id)
	switch {
	case id == "", l.Batch == "" && !l.Replaced:
		return false
	case l.Replaced:
		b.State, b.ExperimentID = In, id
	default:
		h.setEntry(b, &l.Entry)
	}
	return true
}

// setEntry sets the outcome of an input with an experiment in the store.
func (h *storeState) setEntry(b *Outcome, e *storedir.Entry) {
	b.ExperimentID, b.Status, b.State = e.ExperimentID, e.Status, In
	switch e.Status {
	case "failed":
		b.State = Failed
	case storedir.Forgotten:
		b.State = Forgotten
		if h.again {
			b.State, b.Why = Missing, "it was forgotten, and has not been ingested again"
		}
	case storedir.Summary:
		if h.again {
			b.State, b.Why = Missing, "it is kept as sums, and has not been ingested again"
		}
	case storedir.Reingest:
		b.State, b.Why = Missing, fmt.Sprintf("the store's files of experiment %s were damaged", e.ExperimentID)
	}
}
