package queries

import (
	"path"
	"slices"
	"strings"
	"time"

	"stackmill/internal/cachekey"
	"stackmill/schema/storedir"
)

// Experiment is one experiment of a store.
type Experiment struct {
	storedir.Entry
	Name     string    // for people, unique in the store
	Ingested time.Time // when its batch was committed

	batch string // whose files have its rows
}

// State is a hash of all that the store says of an experiment besides its rows, which are the
// same as long as its generation is.
func (e *Experiment) State() string {
	return cachekey.Hash(e.Generation, e.Name, e.Path, e.Status, e.Ingested.UnixNano(), e.Labels)
}

// experimentsOf returns the experiments of batches that count, by their ids.
func experimentsOf(batches []storedir.Batch) []Experiment {
	type entry struct {
		*storedir.Entry
		in *storedir.Batch
	}
	var found []entry
	for i := range batches {
		for e := range batches[i].Visible {
			found = append(found, entry{e, &batches[i]})
		}
	}
	slices.SortFunc(found, func(a, b entry) int { return strings.Compare(a.ExperimentID, b.ExperimentID) })
	list := make([]Experiment, len(found))
	for i, e := range found {
		list[i] = Experiment{Entry: *e.Entry, Ingested: e.PutIn(e.in.Ingested), batch: e.in.Batch}
	}
	nameUniquely(list)
	return list
}

// nameUniquely names experiments: each by its base name, after as many parent
// directories as make it unique. Recordings made at the same path, one after the
// other, differ by their ids only.
func nameUniquely(list []Experiment) {
	parents := make([]string, len(list)) // what is left of the path
	at := make(map[string]int, len(list))
	n := naming{list: list, of: make(map[string]int, len(list)), others: map[string][]int{}}
	for i := range list {
		e := &list[i]
		parents[i] = path.Dir(e.Path)
		at[e.Path]++
		n.name(i, e.Experiment)
	}
	for len(n.others) > 0 {
		for _, i := range n.shared() {
			e := &list[i]
			base := path.Base(parents[i])
			if at[e.Path] > 1 || base == "." || base == "/" {
				n.name(i, e.Name+"@"+e.ExperimentID)
			} else {
				n.name(i, base+"/"+e.Name)
				parents[i] = path.Dir(parents[i])
			}
		}
	}
}

// naming knows which experiments have a name: nearly always one.
type naming struct {
	list   []Experiment
	of     map[string]int   // the first with a name
	others map[string][]int // those with the same name
}

// name gives an experiment a name.
func (n *naming) name(i int, name string) {
	n.list[i].Name = name
	if _, taken := n.of[name]; taken {
		n.others[name] = append(n.others[name], i)
	} else {
		n.of[name] = i
	}
}

// shared takes their names from the experiments that share them, and returns these.
func (n *naming) shared() (list []int) {
	for name, others := range n.others {
		list = append(append(list, n.of[name]), others...)
		delete(n.of, name)
	}
	clear(n.others)
	return list
}
