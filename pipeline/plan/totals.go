package plan

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Totals counts the inputs of a plan by their state.
type Totals struct {
	In, Missing, Failed, Forgotten int
	Lost                           int          // inputs in the store that have lost data
	Again                          map[int]bool // numbers of the chunks with missing inputs
}

// partial is the status of an experiment that has lost data.
const partial = "partial"

// Whole reports whether an input is in the store without losses.
func (b *Outcome) Whole() bool { return b.State == In && b.Status != partial }

// Unexplained reports whether an input has lost data and no report of a task says why.
func (b *Outcome) Unexplained() bool {
	return b.Why == "" && (b.Status == "failed" || b.Status == partial)
}

// Add counts an input.
func (t *Totals) Add(b *Outcome) {
	switch b.State {
	case In:
		t.In++
		if !b.Whole() {
			t.Lost++
		}
	case Missing:
		t.Missing++
		if t.Again == nil {
			t.Again = map[int]bool{}
		}
		t.Again[b.Chunk] = true
	case Failed:
		t.Failed++
	case Forgotten:
		t.Forgotten++
	}
}

// ChunksToRun returns the chunks with missing inputs, formatted for Slurm's option --array: 3,7-9.
func (t *Totals) ChunksToRun() string {
	list := slices.Sorted(maps.Keys(t.Again))
	var words []string
	for i := 0; i < len(list); {
		end := i
		for end+1 < len(list) && list[end+1] == list[end]+1 {
			end++
		}
		word := strconv.Itoa(list[i])
		if end > i {
			word += "-" + strconv.Itoa(list[end])
		}
		words, i = append(words, word), end+1
	}
	return strings.Join(words, ",")
}
