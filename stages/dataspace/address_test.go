package dataspace

import (
	"testing"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/symbolize"
	"stackmill/stages/symbolize/image"
)

// The memory of brk follows the program, the main thread's stack may have grown
// below its first mapping.
func TestRegions(t *testing.T) {
	const program, library = 0x400000, 0x7f0000000000
	stack := decode.MapEvent{Address: 0x7ffe00000000, Size: 0x21000, Path: stackPath, Modes: 3}
	p := &decode.Process{DataMappings: []decode.MapEvent{
		anonymousAt(0, program+0x20000, 0x1000), anonymousAt(0, library-0x100000, 0x1000), stack,
		{Address: 0x500000000, Size: 0x1000, Path: "/data/file", Modes: 1},
	}}
	s, o := testObject()
	s.resolver.Program.Objects[0].Name = "prog"
	o.symbols.Segments = []symtab.Segment{{Address: program, MemSize: 0x1000, Flags: 5}, {Address: program + 0x1000, MemSize: 0x1000, Flags: 6}}
	im, sizes := newAddressSpace(p)
	m := &memory{
		space: s, kernel: func(a uint64) bool { return a>>63 == 1 }, finder: im.Finder(), sizes: sizes,
		objects: []symbolize.PlacedObject{{Low: program, High: program + 0x2000, Unloaded: decode.Never}}, maxHigh: []uint64{program + 0x2000},
		regions: map[regionKey]RegionNo{}, segments: map[segmentKey]addressInfo{}, mappings: map[*image.Mapping]addressInfo{}, blocks: &Blocks{},
	}
	for _, mapping := range im.Mappings {
		if mapping.Path == stackPath {
			m.stack = mapping
		}
	}
	m.blocks.Allocate(program+0x20100, 0x40, 1)
	for at, want := range map[uint64]string{
		program + 0x10: "segment prog r-x", program + 0x1010: "segment prog rw-",
		program + 0x20010: "heap [heap]", program + 0x20110: "heap block ", library - 0x100000 + 0x10: "anonymous ",
		stack.Address + 0x100: "stack [stack]", stack.Address - 0x100000: "stack [stack]",
		0x500000010: "segment /data/file", 0xffff888000000000: "kernel ", 0x10: "unknown ",
	} {
		r := s.Regions[m.lookUp(at, 2).region]
		if got := r.Kind + " " + r.Name; got != want {
			t.Errorf("%#x: %s, want %s", at, got, want)
		}
	}
}
