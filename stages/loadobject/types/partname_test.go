package types

import "testing"

func TestPartName(t *testing.T) {
	const (
		integer = iota + 1
		mutex   // a union, as in the C library
		queue
		queues
		wrapper // has a member with a reserved name
		derived // has a base class
		self    // contains itself, in a damaged table
	)
	table := &Table{
		Types: []Type{
			{}, {Kind: Base, Size: 8}, {Kind: Union, Size: 40, Members: 1, First: 0},
			{Kind: Structure, Size: 48, First: 1, Members: 2}, {Kind: Array, Elem: queue, Count: 3, Size: 144},
			{Kind: Class, Size: 40, First: 3, Members: 1}, {Kind: Class, Size: 56, First: 4, Members: 2},
			{Kind: Structure, Size: 8, First: 6, Members: 1},
		},
		Members: []Member{
			{Name: "align", Type: integer},
			{Name: "n", Type: integer}, {Name: "lock", Type: mutex, Offset: 8},
			{Name: "_M_mutex", Type: mutex},
			{Base: true, Type: queue}, {Name: "more", Type: integer, Offset: 48},
			{Name: "x", Type: self},
		},
	}
	for _, test := range []struct {
		typ    TypeNo
		offset int64
		want   string
	}{
		{mutex, 0, ""}, {mutex, 8, "+0x8"}, {integer, 0, ""},
		{queue, 0, ".n"}, {queue, 8, ".lock"}, {queue, 16, ".lock+0x8"},
		{queues, 104, "[2].lock"}, {queues, 48, "[1].n"}, {queues, 200, "[4].lock"},
		{wrapper, 0, ""}, {derived, 8, ".lock"}, {derived, 48, ".more"}, {derived, 100, "+0x64"},
		{0, 4, "+0x4"},
	} {
		if got := table.PartName(test.typ, test.offset); got != test.want {
			t.Errorf("type %d, offset %d: %q, want %q", test.typ, test.offset, got, test.want)
		}
	}
	if got := table.PartName(self, 0); len(got) != 2*maxSteps {
		t.Errorf("a type that contains itself: %q", got)
	}
}
