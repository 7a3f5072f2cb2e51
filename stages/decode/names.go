package decode

import (
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"

	"stackmill/schema"
)

// Names gives words to frames that were recorded as names, so that they fit
// RawStack.Words. Each load object is a mapping of code, in which the offset of a word is
// the number of a place. The words of callers are calls, not return addresses
// (RawStack.Returns), and their stacks are as whole as the recorder says
// (CallersUnwound).
type Names struct {
	objects map[NamedObject]*NamedPlaces
	list    []*NamedPlaces
	loaded  []MapEvent
}

// NamedObject is a load object as a profile names it; zero where it does not say.
type NamedObject struct{ Path, BuildID string }

// NoName is the name of a function of which nothing is known.
const NoName = "<Unknown>"

// NamedPlaces are the places of a load object, and their functions.
type NamedPlaces struct {
	NamedObject
	Named
	number    int
	functions map[NamedFunction]int32
	places    map[namedPlace]int // in Places
}

// namedPlace tells the places of a load object apart.
type namedPlace struct {
	function int32
	offset   uint64
}

// Words of names begin above the addresses that programs have, and stay below those of
// kernels. Each load object has room for as many places as a profile may have.
const (
	firstName = 1 << 57
	maxPlaces = 1 << 32
)

// NewNames returns an empty list.
func NewNames() *Names { return &Names{objects: map[NamedObject]*NamedPlaces{}} }

// Of returns the places of a load object.
func (n *Names) Of(o NamedObject) *NamedPlaces {
	p, known := n.objects[o]
	if !known {
		p = &NamedPlaces{NamedObject: o, number: len(n.list), functions: map[NamedFunction]int32{}, places: map[namedPlace]int{}}
		n.objects[o] = p
		n.list = append(n.list, p)
	}
	return p
}

// Loaded notes where a load object was in memory.
func (n *Names) Loaded(o NamedObject, address, size, offset uint64) {
	overlaps := address < 1<<63 && address+size > firstName
	if size > 0 && address+size > address && !overlaps {
		n.loaded = append(n.loaded, MapEvent{Address: address, Size: size, FileOffset: offset, Modes: 5, Path: o.Path, BuildID: o.BuildID})
	}
}

// Function returns a function's number.
func (p *NamedPlaces) Function(f NamedFunction) int32 {
	n, known := p.functions[f]
	if !known {
		n = int32(len(p.Functions))
		p.functions[f] = n
		p.Functions = append(p.Functions, f)
	}
	return n
}

// Word returns the word of a place. One without an offset, or at that of another place
// of its function, has one that no file has.
func (p *NamedPlaces) Word(at NamedPlace) (uint64, error) {
	if at.Offset >= NoFileOffset {
		at.Offset = p.offset(at.Levels)
	}
	key := namedPlace{at.Levels[0].Function, at.Offset}
	n, known := p.places[key]
	for known && !slices.Equal(p.Places[n].Levels, at.Levels) {
		if key.offset++; key.offset <= NoFileOffset {
			key.offset = p.hash(at.Levels)
		}
		n, known = p.places[key]
	}
	if !known {
		if n = len(p.Places); n == maxPlaces {
			return 0, fmt.Errorf("more than %d places in %s", maxPlaces, p.Path)
		}
		at.Offset = key.offset
		p.places[key] = n
		p.Places = append(p.Places, at)
	}
	return firstName + uint64(p.number)*maxPlaces + uint64(n), nil
}

// NoFileOffset is the first number that stands for a place whose offset is not known.
const NoFileOffset = schema.NoFileOffset

// offset returns the number of a place of which nothing but names is known. It depends on
// the line, as far as that tells places of a function apart.
func (p *NamedPlaces) offset(levels []NamedLevel) uint64 {
	if len(levels) == 1 {
		return NoFileOffset + uint64(levels[0].Line)
	}
	return p.hash(levels)
}

// hash returns an offset that depends on names and lines alone.
func (p *NamedPlaces) hash(levels []NamedLevel) uint64 {
	h := xxhash.New()
	for _, l := range levels {
		f := p.Functions[l.Function]
		fmt.Fprintf(h, "%q %q %q %d\n", f.Name, f.Linkage, f.File, l.Line)
	}
	return NoFileOffset + h.Sum64()%NoFileOffset
}

// Image returns the mappings, for Process.Image. It comes after the last call of Word.
func (n *Names) Image() []MapEvent {
	image := slices.Clone(n.loaded)
	none := &Code{Named: &Named{}}
	for i := range image {
		image[i].Code = none
	}
	for _, p := range n.list {
		if len(p.Places) > 0 {
			image = append(image, MapEvent{Address: firstName + uint64(p.number)*maxPlaces, Size: uint64(len(p.Places)), Modes: 5,
				Path: p.Path, BuildID: p.BuildID, Code: &Code{Named: &p.Named}})
		}
	}
	return image
}
