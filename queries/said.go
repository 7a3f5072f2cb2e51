package queries

import (
	"sync"

	"stackmill/schema/storedir"
)

// said is what the commits of an open store say. It is understood when somebody asks.
type said struct {
	store  string
	glance *storedir.Glance // nil if they could not be read
	only   map[string]bool  // ids of the experiments that are open; nil for all

	reading  sync.Once
	read     *storedir.Contents
	err      error
	counting sync.Once
	counts   visible
}

// newSaid reads what the commits of a store say.
func newSaid(store string) *said {
	s := &said{store: store}
	if s.err = storedir.Pull(store); s.err == nil {
		s.glance, s.err = storedir.GlanceAt(store)
	}
	if s.err != nil {
		s.glance = nil
		s.reading.Do(func() {})
	}
	return s
}

// visible are batches, and their experiments that count, by id.
type visible struct {
	batches     []storedir.Batch
	experiments []Experiment
}

// contents returns what the commits say, after checking their versions.
func (s *said) contents() (*storedir.Contents, error) {
	s.reading.Do(func() {
		s.read = s.glance.Look()
		s.err = s.read.Usable()
	})
	return s.read, s.err
}

// list returns what is open. Commits that could not be read say nothing.
func (s *said) list() visible {
	s.counting.Do(func() {
		c, err := s.contents()
		if err != nil {
			return
		}
		s.counts = visible{c.Batches, experimentsOf(c.Batches)}
		if s.only != nil {
			s.counts.keep(s.only)
		}
	})
	return s.counts
}

// defined returns what the views hold.
func (db *DB) defined() *definitions {
	if db.sees != nil {
		return db.sees
	}
	return db.said.defined()
}

// defined returns what the views of what is open hold.
func (s *said) defined() *definitions {
	list := s.list()
	return define(s.store, list.batches, list.experiments)
}

// Batches are those of the experiments that are open. The others in them are hidden.
func (db *DB) Batches() []storedir.Batch { return db.said.list().batches }

// Experiments are those that are open, by id.
func (db *DB) Experiments() []Experiment { return db.said.list().experiments }
