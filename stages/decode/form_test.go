package decode

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A form and words make up a whole stack; stacks that were recorded in the same way share a form.
func TestForms(t *testing.T) {
	list := []RawStack{
		{Words: []uint64{3, 2, 1}, OMPState: -1},
		{Words: []uint64{9, 2, 1}, OMPState: -1},
		{Words: []uint64{3, 2, 1}, OMPState: -1, Kernel: 2, Returns: true, Callers: CallersUnwound, Reason: ReasonRegisters, Exact: []int32{1}, ByFrame: []int32{0, 2}},
		{Words: []uint64{4, 2, 1}, OMPState: -1, Kernel: 2, Returns: true, Callers: CallersUnwound, Reason: ReasonRegisters, Exact: []int32{1}, ByFrame: []int32{0, 2}},
		{Words: []uint64{4, 2, 1}, OMPState: -1, Kernel: 2, Returns: true, Callers: CallersUnwound, Reason: ReasonRegisters, ByFrame: []int32{0, 1, 2}},
		{OMPState: 5, Java: []JavaFrame{}},
		{OMPState: 5, OMP: []uint64{}},
		{OMPState: -1, Java: []JavaFrame{{Method: 7, BCI: -3}}, OMP: []uint64{4}},
	}
	s := StacksOf(list...)
	var forms FormTable
	of := forms.IndexOf(s)
	var numbers []int32
	for n := range list {
		numbers = append(numbers, of.Intern(int32(n)))
		raw := forms.List[numbers[n]].Stack(list[n].Words, list[n].Java, list[n].OMP)
		if d := cmp.Diff(list[n], raw); d != "" {
			t.Errorf("stack %d: %s", n, d)
		}
	}
	if d := cmp.Diff([]int32{0, 0, 1, 1, 2, 3, 4, 5}, numbers); d != "" {
		t.Error(d)
	}
}

// Stacks of several processes share forms, even if other stacks are interned between them.
func TestFormsOfProcesses(t *testing.T) {
	var list []RawStack
	for _, state := range []int{-1, 3} {
		for _, callers := range []Callers{CallersNone, CallersChained} {
			for kernel := range 2 * recentForms {
				list = append(list, RawStack{Words: make([]uint64, kernel), Kernel: kernel, Callers: callers, OMPState: state})
			}
		}
	}
	var forms FormTable
	for range 2 {
		of := forms.IndexOf(StacksOf(list...))
		for range 2 {
			for n := range list {
				if got := of.Intern(int32(n)); got != int32(n) {
					t.Fatalf("stack %d has form %d", n, got)
				}
			}
		}
	}
	for n, f := range forms.List {
		if d := cmp.Diff(list[n], f.Stack(list[n].Words, nil, nil)); d != "" {
			t.Errorf("form %d: %s", n, d)
		}
	}
}
