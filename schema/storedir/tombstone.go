package storedir

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"stackmill/schema"
)

// maxDeletes is how often Delete tries again because others have ingested the experiments
// meanwhile.
const maxDeletes = 20

// tombstone returns an entry of the next generation, which deletes or summarizes the experiment.
func (e *Entry) tombstone(status string) Entry {
	return Entry{
		ExperimentID: e.ExperimentID, Generation: e.Generation + 1, Experiment: e.Experiment, Path: e.Path, Status: status, Was: cmp.Or(e.Was, e.Status),
		Recorded: e.Recorded, Unclosed: e.Unclosed, Instead: e.Instead, Ingested: e.Ingested, FileTime: e.FileTime, FileOriginal: e.FileOriginal, Labels: e.Labels, LabelCommits: e.LabelCommits, Samples: e.Samples, Objects: e.Objects,
	}
}

// Delete deletes visible experiments (status Forgotten), or reduces them to summaries (status
// Summary). Experiments that must be ingested again can be deleted, but not summarized.
func (c *Contents) Delete(ids []string, status, program string) error {
	for range maxDeletes {
		out := Commit{Batch: newName(tombstonePrefix), Program: program}
		for _, id := range slices.Sorted(slices.Values(ids)) {
			l := c.states[id]
			if l == nil || l.entry == nil || l.entry.Status == status || !l.visible() && !(status == Forgotten && l.needsIngest()) {
				continue
			}
			e := l.entry.tombstone(status)
			e.Generation, e.Ingested = c.NextGeneration(id), l.entry.IngestedAt(l.commit.Ingested)
			out.Experiments = append(out.Experiments, e)
		}
		if len(out.Experiments) == 0 {
			return nil
		}
		if err := c.commit(out); err != nil {
			return err
		}
	}
	return fmt.Errorf("other processes ingest the experiments again each time that they are deleted (stop those first)")
}

// Label sets and removes labels of experiments.
func (c *Contents) Label(l Labels, program string) error {
	for _, d := range c.commits {
		for _, g := range d.labelChanges() {
			l.Number = max(l.Number, g.Number)
		}
	}
	l.Number++
	slices.Sort(l.Experiments)
	slices.Sort(l.Remove)
	return c.commit(Commit{Batch: newName(labelsPrefix), Program: program, Experiments: []Entry{}, Labels: &l})
}

// commit writes a metadata commit, and updates the contents.
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
