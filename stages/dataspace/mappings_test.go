package dataspace

import (
	"testing"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
	"stackmill/stages/symbolize"
	"stackmill/stages/symbolize/image"
)

func anonymousAt(time int64, address, size uint64) decode.MapEvent {
	return decode.MapEvent{Time: time, Address: address, Size: size, FileOffset: address, Path: "//anon", Modes: 3}
}

// A heap that grows in many steps is one extent. Its mappings do not overlap, so that lookups do not
// get slower with the number of steps.
func TestGrowingMapping(t *testing.T) {
	const start, step, steps = 0x10000, 0x1000, 3000
	p := &decode.Process{}
	for i := range int64(steps) {
		p.DataMappings = append(p.DataMappings, decode.MapEvent{Time: i, Address: start, Size: uint64(i+1) * step, Path: heapPath, Modes: 3})
	}
	im, sizes := newAddressSpace(p)
	m := &memory{sizes: sizes}
	for _, at := range []uint64{start, start + step*steps/2, start + step*steps - 1} {
		spans := im.Ownerships(at)
		if len(spans) != 1 {
			t.Fatalf("%#x: %d spans", at, len(spans))
		}
		if start, size := m.extent(spans[0].Mapping); start != 0x10000 || size != steps*step {
			t.Errorf("%#x: in %#x with %d bytes", at, start, size)
		}
	}
}

// A mapping that covers a part of another one stays if the other is extended, not if mapped again.
func TestMappingAgain(t *testing.T) {
	between := decode.MapEvent{Time: 2, Address: 0x2000, Size: 0x1000, Path: "/lib", Modes: 1}
	p := &decode.Process{DataMappings: []decode.MapEvent{anonymousAt(1, 0x2000, 0x1000), between, anonymousAt(3, 0x2000, 0x3000), anonymousAt(4, 0x2000, 0x4000),
		{Time: 5, Address: 0x2000, Unmap: true}, {Time: 6, Address: 0x2000, Size: 0x8000, Path: "/other", Modes: 1}}}
	im, sizes := newAddressSpace(p)
	m, finder := &memory{sizes: sizes}, im.Finder()
	for at, want := range map[int64]string{1: "//anon", 2: "/lib", 3: "//anon", 6: "/other"} {
		if got := finder.At(0x2010, at).Mapping; got.Path != want {
			t.Errorf("at %d: %s", at, got.Path)
		}
	}
	got := finder.At(0x5010, 4).Mapping
	if start, size := m.extent(got); start != 0x2000 || size != 0x4000 {
		t.Errorf("what was added belongs to %#x with %#x bytes", start, size)
	}
	if got.Unloaded != 5 {
		t.Errorf("what was added ends at %d", got.Unloaded)
	}
}

// Recordings do not report that libraries were closed: what was mapped over one later owns the
// address, unless it is a part of the library itself.
func TestReplacedObject(t *testing.T) {
	s := New(symbolize.New(&decode.Recording{}, nil, nil), nil, &diagnostic.Log{})
	s.resolver.Program.Objects = append(s.resolver.Program.Objects[:0:0], make([]program.Object, 2)...)
	for n := range program.ObjectNo(2) { // 0x1800 bytes of a file, then zeros
		segments := []symtab.Segment{{Address: 0x1000, FileSize: 0x1800, MemSize: 0x9000, Flags: 6}}
		s.objects[n] = &loadObject{space: s, number: n, variables: &symtab.Variables{}, symbols: &symtab.Table{Segments: segments}}
	}
	placed := func(n program.ObjectNo, bias uint64, loaded int64, path string) symbolize.PlacedObject {
		return symbolize.PlacedObject{Object: n, Path: path, Low: bias + 0x1000, High: bias + 0xa000, Bias: bias, Loaded: loaded, Unloaded: decode.Never}
	}
	const one, two = 0x100000, 0x102000
	library := func(time int64, bias uint64, path string) decode.MapEvent {
		return decode.MapEvent{Time: time, Address: bias + 0x1000, Size: 0x9000, Path: path, Modes: 1}
	}
	p := &decode.Process{DataMappings: []decode.MapEvent{
		library(1, one, "/one"),
		anonymousAt(2, one+0x3000, 0x20000),                                    // its zeros, merged with the memory after them
		{Time: 3, Address: one + 0x5000, Size: 0x1000, Path: "//anon"},         // a guard page in them
		{Time: 4, Address: one + 0x1000, Size: 0x1000, Path: "/one", Modes: 1}, // a part that is read only now
		anonymousAt(10, one+0x4000, 0x6000),
		library(20, two, "/two"), anonymousAt(20, two+0x3000, 0x7000),
		{Time: 30, Address: two, Size: 0x3000, Path: "/file", Modes: 3},
	}}
	im, sizes := newAddressSpace(p)
	m := &memory{
		space: s, kernel: func(uint64) bool { return false }, finder: im.Finder(), sizes: sizes,
		objects: []symbolize.PlacedObject{placed(0, one, 1, "/one"), placed(1, two, 20, "/two")}, maxHigh: []uint64{one + 0xa000, two + 0xa000},
		regions: map[regionKey]RegionNo{}, segments: map[segmentKey]addressInfo{}, mappings: map[*image.Mapping]addressInfo{},
	}
	for _, tt := range []struct {
		address uint64
		time    int64
		object  program.ObjectNo
	}{
		{one + 0x1010, 5, 0}, {one + 0x3010, 5, 0}, {one + 0x5010, 5, 0}, {one + 0x9010, 5, 0},
		{one + 0x3010, 15, 0}, {one + 0x5010, 15, program.None}, {one + 0x9010, 15, program.None},
		{two + 0x1010, 25, 1}, {two + 0x3010, 25, 1}, {two + 0x9010, 25, 1}, {one + 0x1010, 25, 0},
		{two + 0x1010, 35, program.None}, {two + 0x3010, 35, 1},
	} {
		got := program.ObjectNo(program.None)
		if w := m.lookUp(tt.address, tt.time); w.object != nil {
			got = w.object.number
		}
		if got != tt.object {
			t.Errorf("%#x at %d: object %d, want %d", tt.address, tt.time, got, tt.object)
		}
	}
}

// Two load objects with the same name and address, one after the other, are two regions.
func TestRegionsOfOneName(t *testing.T) {
	s := New(symbolize.New(&decode.Recording{}, nil, nil), nil, &diagnostic.Log{})
	s.resolver.Program.Objects = []program.Object{{ID: 1}, {ID: 2}}
	m := &memory{space: s, regions: map[regionKey]RegionNo{}}
	one, two := m.internRegion(RegionSegment, "lib.so r--", 0x1000, 0x1000, 0), m.internRegion(RegionSegment, "lib.so r--", 0x1000, 0x1000, 1)
	if a, b := s.Regions[one.region], s.Regions[two.region]; a.ID == b.ID || a.LoadObject != 0 || b.LoadObject != 1 {
		t.Errorf("%+v, %+v", a, b)
	}
}
