package attribute

import (
	"slices"
	"testing"

	"stackmill/stages/arena"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// Functions come by their largest share of any metric, exclusive before inclusive:
// of a caller and callees the leaf with the most comes first.
func TestRanked(t *testing.T) {
	p, c := valuesOf("ab", "ac", "c") // a: inclusive 3; b: exclusive 1; c: exclusive 6
	shares := make(shares, len(p.Functions))
	shares.add(c.values)
	got := shares.ranked()
	want := []program.FunctionNo{2, 1, 0}
	if !slices.Equal(got[:3], want) {
		t.Errorf("ranked %v, want %v first", got, want)
	}
}

// A function on a stack is shown with its first instruction, unless it is a static
// region, and with those on stacks that lie in it, each once.
func TestPCs(t *testing.T) {
	p := &program.Program{
		Functions: []program.Function{{Offset: 0x100, Size: 0x40}, {Offset: 0x200, Size: 0x40, Kind: funcinfo.Static}, {Offset: 0x300, Size: 0x40},
			{Offset: 0x20, Size: 0x20, Kind: funcinfo.PLT}},
		Locations: arena.ListOf([]program.Location{
			{Function: 0, Offset: 0x120}, {Function: 0, Offset: 0x110}, {Function: 0, Offset: 0x220}, // the last in the body that was taken out of it
			{Function: 1, Offset: 0x210}, {Function: 2, Offset: 0x300}, {Function: 3, Offset: 0x48}, // in .plt.got
		}...),
	}
	stacks := NewStacks()
	for _, location := range []program.LocationNo{0, 1, 2, 3, 5} {
		addStack(stacks, map[stacktree.Mode][]program.LocationNo{stacktree.User: {location}})
	}
	stacks.Renumber(stacks.OrderNodes(), stacks.OrderFrames(asTheyAre(p)))
	data := &Data{Sums: []DataSum{{dataKey: dataKey{location: 4}}, {dataKey: dataKey{location: program.None}}, {dataKey: dataKey{location: 4}}}}
	r := &Result{Program: p, Stacks: stacks, Data: data}
	want := [][]uint64{{0x100, 0x110, 0x120}, {0x210}, {0x300}, {0x20, 0x48}}
	if got := r.pcs(); !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("%x, want %x", got, want)
	}
}
