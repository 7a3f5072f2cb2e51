package pipeline

import (
	"errors"
	"slices"
	"sync"

	"stackmill/schema/storedir"
)

// storeState is what the store contains, and which inputs of the run are going to be stored.
type storeState struct {
	mu       sync.Mutex
	contents *storedir.Contents    // as it was when the last group began
	claims   map[string]inputClaim // which inputs are stored, by experiment id

	// The following are as of the start of the run. So if one run ingests two forms of a recording,
	// it stores both, whichever it reads first, and the store does not depend on Jobs.
	known  map[string]bool              // paths whose recordings are in the store
	failed map[string][]storedir.Entry  // path of a recording -> its failed experiments
	forms  map[string][]*storedir.Entry // Entry.Recorded -> the entries that have it
}

// open takes the contents of a store, or reads them if there are none. The store need not exist.
func (s *storeState) open(store string, contents *storedir.Contents) (err error) {
	s.claims, s.known = map[string]inputClaim{}, map[string]bool{}
	if s.contents = contents; contents == nil {
		s.contents, err = storedir.ReadContents(store)
	}
	if err == nil {
		err = s.contents.CheckVersions()
	}
	return err
}

// index fills known, failed and forms from the contents.
func (s *storeState) index() {
	s.failed, s.forms = map[string][]storedir.Entry{}, s.contents.ByRecording()
	for i := range s.contents.Batches {
		for e := range s.contents.Batches[i].Visible {
			s.known[e.Path] = e.Status != Failed
			if e.Status == Failed {
				s.failed[e.Path] = append(s.failed[e.Path], *e)
			}
		}
	}
}

// refresh reads the commits that other programs have added to the store.
func (s *storeState) refresh() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.contents.Refresh(); !errors.Is(err, storedir.ErrNoStore) {
		return err
	}
	return nil
}

// committed adds a batch of this run to the contents if they are a snapshot: Refresh skips those.
func (s *storeState) committed(batch string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.contents.IsSnapshot() {
		_ = s.contents.AddByName(batch) // on an error, the recording may be stored twice; readers see one copy
	}
}

// learn reads the commit of a batch.
func (s *storeState) learn(batch string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.contents.AddByName(batch)
}

// newName returns the name of a new batch.
func (s *storeState) newName(entries []storedir.Entry) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.contents.NewBatchName(entries)
}

// latest returns the stored state of an experiment, and the next generation.
func (s *storeState) latest(id string) (storedir.Latest, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.contents.Latest(id), s.contents.NextGeneration(id)
}

// renew reads the store again if the contents are a snapshot that has the experiment, or one that
// it supersedes.
func (s *storeState) renew(c *storedir.Entry) (renewed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.contents.IsSnapshot() || s.contents.Latest(c.ExperimentID).Batch == "" && len(c.Instead) == 0 {
		return false, nil
	}
	return true, s.contents.Unfreeze()
}

// covering returns an experiment, stored before the run, that makes c redundant (see Entry.Covers);
// nil if there is none.
func (s *storeState) covering(c *storedir.Entry) *storedir.Entry {
	for _, o := range s.forms[c.Recorded] {
		if o.Covers(c) {
			return o
		}
	}
	return nil
}

// superseded returns the experiments that c replaces: unfinished or damaged forms of its recording,
// failed ones at the same path, and all that these or c's earlier entries (before) replace.
func (s *storeState) superseded(c *storedir.Entry, before []string) []string {
	ids := slices.Clone(before)
	take := func(o *storedir.Entry) {
		ids = append(append(ids, o.ExperimentID), o.Instead...)
	}
	for _, o := range s.forms[c.Recorded] {
		if c.Covers(o) {
			take(o)
		}
	}
	for _, o := range s.failed[c.Path] {
		if o.ExperimentID != c.ExperimentID {
			take(&o)
		}
	}
	slices.Sort(ids)
	return slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return id == c.ExperimentID })
}

// inputClaim says which of several inputs with the same content is stored: the first one, in
// whatever order they are read.
type inputClaim struct {
	number int  // index of the input to store
	added  bool // the input is in its batch, so the others with its content no longer can be
}

// claim reports whether to read an input. It returns false if an earlier input has the same
// content, or a later one with that content is stored already.
func (s *storeState) claim(id string, number int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, known := s.claims[id]
	if !known || number < t.number && !t.added {
		t = inputClaim{number: number}
		s.claims[id] = t
	}
	return t.number == number
}

// confirm reports whether to store an input that was read: not if an earlier input with the same
// content has claimed it meanwhile.
func (s *storeState) confirm(id string, number int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.claims[id]
	if t.number == number {
		s.claims[id] = inputClaim{number, true}
	}
	return t.number == number
}
