package symbolize

import (
	"testing"

	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/program"
)

// Each mapping of a file without symbols is a function (S6): an offset has one location for each
// mapping that contains it. The others do not change the first one.
func TestOverlappingMappings(t *testing.T) {
	r, _ := recording(tableMap{})
	mapped := func(address, offset, size uint64) decode.MapEvent {
		return decode.MapEvent{Path: "/bin/p", Address: address, FileOffset: offset, Size: size, Modes: 5}
	}
	pr := process(r, mapped(0x400000, 0, 0x5000), mapped(0x501000, 0x1000, 0x4000), mapped(0x603000, 0x3000, 0x1000))
	p := r.Program
	pcs := []uint64{0x403010, 0x503010, 0x603010}
	for range 2 { // interning again changes nothing
		for i, pc := range pcs {
			l := *p.Location(pr.Resolve(pc, 0).Location)
			if l.Offset != 0x3010 || p.Functions[l.Function].Address != []uint64{0, 0x1000, 0x3000}[i] {
				t.Errorf("%#x: %+v in %+v", pc, l, p.Functions[l.Function])
			}
		}
	}
	ids := map[int64]bool{}
	for n := program.LocationNo(p.Locations.Len()) - 1; n >= 0; n-- { // the order of calls does not matter
		ids[p.LocationID(n)] = true
	}
	alone := schema.PathPart(p.Objects[p.Location(0).Object].ID, 0x3010)
	if len(ids) != len(pcs) || p.Locations.Len() != len(pcs) || p.LocationID(0) != alone {
		t.Errorf("identifiers %v of %d locations; the first should be %d", ids, p.Locations.Len(), alone)
	}
}

// Functions that differ only in their demangled names are two functions with separate instructions.
func TestFunctionsOfOneSymbol(t *testing.T) {
	r, _ := recording(tableMap{})
	p := r.Program
	one := r.javaMethod(decode.JavaMethod{Class: "A", Name: "f", Signature: "(I)V"}, 1)
	two := r.javaMethod(decode.JavaMethod{Class: "A", Name: "f(I)V"}, 1)
	a, b := p.Location(one), p.Location(two)
	f, g := p.Functions[a.Function], p.Functions[b.Function]
	if f.Linkage != g.Linkage || f.Name == g.Name || f.ID == g.ID || p.LocationID(one) == p.LocationID(two) {
		t.Errorf("%+v in %+v, %+v in %+v", a, f, b, g)
	}
}
