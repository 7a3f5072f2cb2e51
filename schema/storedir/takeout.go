package storedir

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"stackmill/schema"
)

// attempts bounds how often experiments are taken out that others put in meanwhile.
const attempts = 20

// takenOut is an entry of the same experiment, without rows.
func (e *Entry) takenOut(status string) Entry {
	return Entry{
		ExperimentID: e.ExperimentID, Generation: e.Generation + 1, Experiment: e.Experiment, Path: e.Path, Status: status, Was: cmp.Or(e.Was, e.Status),
		Recorded: e.Recorded, Unclosed: e.Unclosed, Instead: e.Instead, Ingested: e.Ingested, Labels: e.Labels, Labelled: e.Labelled, Samples: e.Samples, Objects: e.Objects,
	}
}

// TakeOut takes those experiments out of the store that readers see: status is Forgotten
// or Summary. Those that are to be ingested again can be forgotten, too.
func (c *Contents) TakeOut(ids []string, status, program string) error {
	for range attempts {
		out := Commit{Batch: newName(outPrefix), Program: program}
		for _, id := range slices.Sorted(slices.Values(ids)) {
			l := c.counted[id]
			if l == nil || l.entry == nil || l.entry.Status == status || !l.visible() && !(status == Forgotten && l.awaited()) {
				continue
			}
			e := l.entry.takenOut(status)
			e.Generation, e.Ingested = c.Next(id), l.entry.PutIn(l.in.Ingested)
			out.Experiments = append(out.Experiments, e)
		}
		if len(out.Experiments) == 0 {
			return nil
		}
		if err := c.commit(out); err != nil {
			return err
		}
	}
	return fmt.Errorf("the experiments are put in again as often as they are taken out")
}

// Label gives labels to experiments, and takes some away.
func (c *Contents) Label(l Labels, program string) error {
	for _, d := range c.found {
		for _, g := range d.given() {
			l.Number = max(l.Number, g.Number)
		}
	}
	l.Number++
	slices.Sort(l.Experiments)
	slices.Sort(l.Remove)
	return c.commit(Commit{Batch: newName(labelsPrefix), Program: program, Experiments: []Entry{}, Labels: &l})
}

// commit makes a commit without files, and looks what counts then.
func (c *Contents) commit(out Commit) error {
	out.StoreVersion, out.Ingested, out.Files = schema.StoreVersion, time.Now().UTC().Truncate(time.Second), []File{}
	attempt, err := NewAttempt(c.store, out.Batch)
	if err != nil {
		return err
	}
	defer attempt.Remove()
	made, err := WriteCommit(c.store, attempt, out)
	if made {
		err = errors.Join(err, c.Refresh())
	}
	return err
}
