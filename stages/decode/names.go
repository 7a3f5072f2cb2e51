package decode

import (
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"

	"stackmill/schema"
)

// Names assigns words to frames that were recorded as names, so that they fit into RawStack.Words.
// Each load object becomes a mapping of code; the offset of a word in the mapping is the index of a
// location. Callers' words are calls, not return addresses (RawStack.Returns), and stacks count as
// complete (CallersUnwound).
type Names struct {
	objects map[NamedObject]*ObjectLocations
	list    []*ObjectLocations
	loaded  []MapEvent
}

// NamedObject is a load object as a profile names it; unknown fields are empty.
type NamedObject struct{ Path, BuildID string }

// NoName names a function about which nothing is known.
const NoName = "<Unknown>"

// ObjectLocations holds the locations of a load object, and their functions.
type ObjectLocations struct {
	NamedObject
	ProfileSymbols
	number    int
	functions map[NamedFunction]int32
	known     map[locationKey]int // index in Locations
}

// locationKey identifies a location of a load object.
type locationKey struct {
	function int32
	offset   uint64
}

// The words that Names assigns lie above the addresses of programs and below those of kernels. Each
// load object gets maxLocations words, since a profile may have so many locations.
const (
	firstNameWord = 1 << 57
	maxLocations  = 1 << 32
)

// NewNames returns an empty table.
func NewNames() *Names { return &Names{objects: map[NamedObject]*ObjectLocations{}} }

// Of returns the locations of a load object.
func (n *Names) Of(o NamedObject) *ObjectLocations {
	p, known := n.objects[o]
	if !known {
		p = &ObjectLocations{NamedObject: o, number: len(n.list), functions: map[NamedFunction]int32{}, known: map[locationKey]int{}}
		n.objects[o] = p
		n.list = append(n.list, p)
	}
	return p
}

// Loaded notes where a load object was in memory.
func (n *Names) Loaded(o NamedObject, address, size, offset uint64) {
	overlaps := address < 1<<63 && address+size > firstNameWord
	if size > 0 && address+size > address && !overlaps {
		n.loaded = append(n.loaded, MapEvent{Address: address, Size: size, FileOffset: offset, Modes: 5, Path: o.Path, BuildID: o.BuildID})
	}
}

// InternFunction returns a function's number.
func (p *ObjectLocations) InternFunction(f NamedFunction) int32 {
	n, known := p.functions[f]
	if !known {
		n = int32(len(p.Functions))
		p.functions[f] = n
		p.Functions = append(p.Functions, f)
	}
	return n
}

// InternLocation returns the word of a location. If its offset is unknown, or another location in
// the function has the same offset, the location gets an offset that no file has.
func (p *ObjectLocations) InternLocation(at NamedLocation) (uint64, error) {
	if at.Offset >= NoFileOffset {
		at.Offset = p.offset(at.Lines)
	}
	key := locationKey{at.Lines[0].Function, at.Offset}
	n, known := p.known[key]
	for known && !slices.Equal(p.Locations[n].Lines, at.Lines) {
		if key.offset++; key.offset <= NoFileOffset {
			key.offset = p.hash(at.Lines)
		}
		n, known = p.known[key]
	}
	if !known {
		if n = len(p.Locations); n == maxLocations {
			return 0, fmt.Errorf("more than %d locations in %s", maxLocations, p.Path)
		}
		at.Offset = key.offset
		p.known[key] = n
		p.Locations = append(p.Locations, at)
	}
	return firstNameWord + uint64(p.number)*maxLocations + uint64(n), nil
}

// NoFileOffset is the first offset of locations whose offset is unknown.
const NoFileOffset = schema.NoFileOffset

// offset returns an offset for a location whose offset in a file is unknown: the line if no
// functions are inlined there, otherwise a hash of names and lines.
func (p *ObjectLocations) offset(levels []NamedLine) uint64 {
	if len(levels) == 1 {
		return NoFileOffset + uint64(levels[0].Line)
	}
	return p.hash(levels)
}

// hash returns an offset that depends only on names and lines.
func (p *ObjectLocations) hash(levels []NamedLine) uint64 {
	h := xxhash.New()
	for _, l := range levels {
		f := p.Functions[l.Function]
		fmt.Fprintf(h, "%q %q %q %d\n", f.Name, f.Linkage, f.File, l.Line)
	}
	return NoFileOffset + h.Sum64()%NoFileOffset
}

// Image returns Process.Mappings. Call it after the last InternLocation.
func (n *Names) Image() []MapEvent {
	image := slices.Clone(n.loaded)
	none := &Code{Symbols: &ProfileSymbols{}}
	for i := range image {
		image[i].Code = none
	}
	for _, p := range n.list {
		if len(p.Locations) > 0 {
			image = append(image, MapEvent{Address: firstNameWord + uint64(p.number)*maxLocations, Size: uint64(len(p.Locations)), Modes: 5,
				Path: p.Path, BuildID: p.BuildID, Code: &Code{Symbols: &p.ProfileSymbols}})
		}
	}
	return image
}

// DistinctNames makes the names of counters distinct, since they become metrics: it appends the
// next free number to a repeated name.
func DistinctNames(names []string) []string {
	taken := map[string]bool{}
	for _, name := range names {
		taken[name] = true
	}
	given := map[string]bool{}
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = name
		for n := 2; given[name] && taken[list[i]]; n++ {
			list[i] = fmt.Sprintf("%s_%d", name, n)
		}
		given[name], taken[list[i]] = true, true
	}
	return list
}
