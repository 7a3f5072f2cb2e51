package queries

import (
	"path"
	"slices"
	"strings"
	"time"

	"stackmill/storedir"
)

// Experiment is one experiment of a store.
type Experiment struct {
	storedir.Entry
	Name     string    // for people, unique in the store
	Ingested time.Time // when its batch was committed
}

// experimentsOf returns the experiments of batches that count, by their ids.
func experimentsOf(batches []storedir.Batch) (list []Experiment) {
	for i := range batches {
		for e := range batches[i].Visible {
			list = append(list, Experiment{Entry: *e, Ingested: e.PutIn(batches[i].Ingested)})
		}
	}
	slices.SortFunc(list, func(a, b Experiment) int { return strings.Compare(a.ExperimentID, b.ExperimentID) })
	nameUniquely(list)
	return list
}

// nameUniquely names experiments: each by its base name, after as many parent
// directories as make it unique. Recordings made at the same path, one after the
// other, differ by their ids only.
func nameUniquely(list []Experiment) {
	parents := make([]string, len(list)) // what is left of the path
	at := map[string]int{}
	same := map[string][]int{} // those of a name
	for i := range list {
		e := &list[i]
		e.Name, parents[i] = e.Experiment, path.Dir(e.Path)
		at[e.Path]++
		same[e.Name] = append(same[e.Name], i)
	}
	for again := true; again; {
		again = false
		next := map[string][]int{}
		for name, users := range same {
			if len(users) == 1 {
				next[name] = append(next[name], users[0])
				continue
			}
			again = true
			for _, i := range users {
				e := &list[i]
				base := path.Base(parents[i])
				if at[e.Path] > 1 || base == "." || base == "/" {
					e.Name += "@" + e.ExperimentID
				} else {
					e.Name, parents[i] = base+"/"+e.Name, path.Dir(parents[i])
				}
				next[e.Name] = append(next[e.Name], i)
			}
		}
		same = next
	}
}
