package decode

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// At returns stacks as they were added, even after the list was reset.
func TestRawStacks(t *testing.T) {
	stacks := []RawStack{
		{Words: []uint64{1, 2, 3}, Kernel: 1, Returns: true, Callers: CallersUnwound, Exact: []int32{1}, ByFrame: []int32{0, 2}, OMPState: -1},
		{OMPState: -1, Reason: ReasonMachine},
		{Words: []uint64{4}, OMPState: 2, ByFrame: []int32{0}},
		{Words: []uint64{5, MarkTruncated}, OMPState: -1, Exact: []int32{0}, Reason: ReasonMachine},
	}
	var l RawStacks
	for range 2 {
		l.Reset(1)
		for i := range stacks {
			l.Add(&stacks[i])
		}
		if l.Len() != len(stacks) {
			t.Fatal(l.Len())
		}
		for i := range stacks {
			if d := cmp.Diff(&stacks[i], l.At(i), cmpopts.EquateEmpty()); d != "" {
				t.Error(d)
			}
		}
	}
}
