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
	In        = "in"        // in the store, whole or what is left of it
	Missing   = "missing"   // not in it, and a task may put it in
	Failed    = "failed"    // it cannot be read
	Forgotten = "forgotten" // it was in the store, and was taken out on purpose
)

// Became is what became of an input.
type Became struct {
	Input
	Chunk        int
	State        string
	Status       string // of the experiment in the store, empty if there is none
	ExperimentID string // empty if it is not known
	Why          string // why it is not in, if a report says so
}

// held is what a store says of recordings.
type held struct {
	*storedir.Contents
	paths   map[string]*storedir.Entry
	journal map[string]storedir.JournalEntry
	again   bool // what was forgotten, or kept as sums, is to be put in again
}

// hold looks at a store, which need not exist.
func hold(store string, again bool) (*held, error) {
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
	return &held{c, AtPaths(c), storedir.ReadJournal(store), again}, nil
}

// AtPaths returns the experiments that readers of a store see, by the paths of their
// recordings.
func AtPaths(c *storedir.Contents) map[string]*storedir.Entry {
	paths := map[string]*storedir.Entry{}
	for i := range c.Batches {
		for e := range c.Batches[i].Visible {
			paths[e.Path] = e
		}
	}
	return paths
}

// Status calls yield for each input of a plan, in their order, with what became of it, by
// nothing but the store: no recording is looked at.
func (p *Plan) Status(store string, yield func(Became)) error {
	if err := storedir.Sync(store, Dir+"/"+p.ID); err != nil {
		return err
	}
	h, err := hold(store, slices.Contains(p.Task.Ingest, ForgottenToo))
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
			b := h.became(&inputs[i], says[inputs[i].Path])
			if b.Chunk = chunk; b.State == Missing && b.Why == "" {
				b.Why = noReport(report)
			}
			yield(b)
		}
	}
	return nil
}

// noReport is why an input is missing of which no report says anything.
func noReport(chunk *Report) string {
	if chunk == nil {
		return "no task of its chunk has come to its end"
	}
	return cmp.Or(chunk.Error, "the report of its chunk does not name it")
}

// became returns what became of an input, of which a report may say something. A report is
// believed in what it says of the input only; what is in the store is what the store says.
func (h *held) became(in *Input, r *ReportInput) Became {
	b := Became{Input: *in, State: Missing}
	if e := h.paths[in.Path]; e != nil && e.ExperimentID != in.Had {
		h.of(&b, e)
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

// noted says what the store has of a recording that was noted; false if nothing.
func (h *held) noted(b *Became, n storedir.JournalEntry) bool {
	if n.ExperimentID == "" || !h.IsCurrent(n) {
		return false
	}
	return h.experiment(b, cmp.Or(n.Covered, n.ExperimentID))
}

// experiment says what the store has of an experiment; false if nothing.
func (h *held) experiment(b *Became, id string) bool {
	l := h.Latest(id)
	switch {
	case id == "", l.Batch == "" && !l.Replaced:
		return false
	case l.Replaced:
		b.State, b.ExperimentID = In, id
	default:
		h.of(b, &l.Entry)
	}
	return true
}

// of says what became of an input of which the store has an experiment.
func (h *held) of(b *Became, e *storedir.Entry) {
	b.ExperimentID, b.Status, b.State = e.ExperimentID, e.Status, In
	switch e.Status {
	case "failed":
		b.State = Failed
	case storedir.Forgotten:
		b.State = Forgotten
		if h.again {
			b.State, b.Why = Missing, "it was forgotten, and has not been put in again"
		}
	case storedir.Summary:
		if h.again {
			b.State, b.Why = Missing, "it is kept as sums, and has not been put in again"
		}
	case storedir.Reingest:
		b.State, b.Why = Missing, fmt.Sprintf("the store's files of experiment %s were damaged", e.ExperimentID)
	}
}
