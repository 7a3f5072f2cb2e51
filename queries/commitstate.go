package queries

import (
	"slices"
	"sync"

	"stackmill/schema/storedir"
)

// commitState holds the commits of an open store. They are parsed when they are first needed:
// most readers of a large store can do without.
type commitState struct {
	store  string
	glance *storedir.RawCommits // nil if the commits could not be read
	only   map[string]bool      // ids of the experiments that are open; nil for all

	parse  sync.Once
	parsed *storedir.Contents
	err    error
	filter sync.Once
	open   openBatches
}

// readCommitState reads the commits of a store, but does not parse them.
func readCommitState(store string) *commitState {
	s := &commitState{store: store}
	if s.err = storedir.Pull(store); s.err == nil {
		s.glance, s.err = storedir.ReadRawCommits(store)
	}
	if s.err != nil {
		s.glance = nil
		s.parse.Do(func() {})
	}
	return s
}

// contents returns the parsed commits, after checking their versions.
func (s *commitState) contents() (*storedir.Contents, error) {
	s.parse.Do(func() {
		s.parsed = s.glance.Parse()
		s.err = s.parsed.CheckVersions()
	})
	return s.parsed, s.err
}

// list returns the open experiments and their batches: none if the commits could not be read.
func (s *commitState) list() openBatches {
	s.filter.Do(func() {
		c, err := s.contents()
		if err != nil {
			return
		}
		s.open = openBatches{c.Batches, experimentsOf(c.Batches)}
		if s.only != nil {
			s.open = s.open.restricted(s.only)
		}
	})
	return s.open
}

// definitions returns the definitions of a catalog of the open experiments.
func (s *commitState) definitions() *definitions {
	list := s.list()
	return define(s.store, list.batches, list.experiments)
}

// definitions returns the definitions of the views that the session sees.
func (db *DB) definitions() *definitions {
	if db.sees != nil {
		return db.sees
	}
	return db.commits.definitions()
}

// Batches returns the batches of the open experiments; all others in them are hidden.
func (db *DB) Batches() []storedir.Batch { return db.commits.list().batches }

// Experiments returns the open experiments by id.
func (db *DB) Experiments() []Experiment { return db.commits.list().experiments }

// openBatches are batches, and their visible experiments by id.
type openBatches struct {
	batches     []storedir.Batch
	experiments []Experiment
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
