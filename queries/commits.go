package queries

import (
	"path/filepath"
	"slices"

	"stackmill/schema/storedir"
)

// readCommits returns the absolute path of a store, its commits, after checking their versions,
// and a hash of all of them.
func readCommits(store string) (path string, c *storedir.Contents, state string, err error) {
	if path, err = filepath.Abs(store); err != nil {
		return "", nil, "", err
	}
	if err := storedir.Pull(path); err != nil {
		return "", nil, "", err
	}
	raw, err := storedir.ReadRawCommits(path)
	if err != nil {
		return "", nil, "", err
	}
	c = raw.Parse()
	return path, c, raw.State, c.CheckVersions()
}

// openBatches are the batches of the open experiments, in which all others are hidden, and these
// experiments by id.
type openBatches struct {
	batches     []storedir.Batch
	experiments []Experiment
}

// Batches returns the batches of the open experiments; all others in them are hidden.
func (db *DB) Batches() []storedir.Batch { return db.open.batches }

// Experiments returns the open experiments by id.
func (db *DB) Experiments() []Experiment { return db.open.experiments }

// define returns the definitions of a catalog of the open experiments.
func (o openBatches) define(store string) *definitions {
	return define(store, o.batches, o.experiments, columnForm{})
}

// restricted returns only the experiments with these ids.
func (o openBatches) restricted(only map[string]bool) (r openBatches) {
	for _, e := range o.experiments {
		if only[e.ExperimentID] {
			r.experiments = append(r.experiments, e)
		}
	}
	for _, b := range o.batches {
		if b, ok := showOnly(b, only); ok {
			r.batches = append(r.batches, b)
		}
	}
	return r
}

// showOnly returns the batch with all other experiments hidden, and whether one is left.
func showOnly(b storedir.Batch, only map[string]bool) (storedir.Batch, bool) {
	hidden, left := slices.Clone(b.Hidden), false
	for e := range b.Visible {
		if only[e.ExperimentID] {
			left = true
		} else {
			hidden = append(hidden, e.ExperimentID)
		}
	}
	slices.Sort(hidden)
	b.Hidden = hidden
	return b, left
}
