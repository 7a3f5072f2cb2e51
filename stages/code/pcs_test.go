package code

import (
	"slices"
	"testing"

	"stackmill/internal/chunked"
	"stackmill/stages/attribute"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// A function on a stack has in its list, each once, its instructions on stacks and, unless it is a
// static region, its first instruction.
func TestPCs(t *testing.T) {
	p := &program.Program{
		Functions: []program.Function{{Offset: 0x100, Size: 0x40}, {Offset: 0x200, Size: 0x40, Kind: funcinfo.Static}, {Offset: 0x300, Size: 0x40},
			{Offset: 0x20, Size: 0x20, Kind: funcinfo.PLT}},
		Locations: chunked.ListOf([]program.Location{
			{Function: 0, Offset: 0x120}, {Function: 0, Offset: 0x110}, {Function: 0, Offset: 0x220}, // the last in the body that was taken out of it
			{Function: 1, Offset: 0x210}, {Function: 2, Offset: 0x300}, {Function: 3, Offset: 0x48}, // in .plt.got
		}...),
	}
	stacks := &attribute.Stacks{}
	for _, location := range []program.LocationNo{0, 1, 2, 3, 5} {
		stacks.Frames = append(stacks.Frames, stacktree.Frame{Shown: [stacktree.Modes]program.LocationNo{location, program.None, program.None}})
	}
	r := &Result{Result: &attribute.Result{Program: p, Stacks: stacks}, Accessed: []program.LocationNo{4, 4}}
	want := [][]uint64{{0x100, 0x110, 0x120}, {0x210}, {0x300}, {0x20, 0x48}}
	if got := r.pcsByFunction(); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%x, want %x", got, want)
	}
}
