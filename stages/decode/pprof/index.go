package pprof

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// mostTypes bounds the types of samples: each sample has a value for each.
const mostTypes = 64

// maxText bounds a text: a small file can name a long one many times.
const maxText = 1 << 20

// index is all of a profile but its samples. Texts are places in the content.
type index struct {
	content   []byte
	types     []valueType
	strings   []span
	mappings  []mapping
	mapped    map[uint64]int  // places in mappings by id
	locations map[uint64]span // their messages
	functions map[uint64]function
	time      int64
	duration  int64

	// What follows are numbers of strings.
	drop, keep uint64 // which frames pprof shows
	preferred  uint64 // the type of samples to show
	comments   []uint64
	doc        uint64 // the address of what describes the profile
}

// span is a part of the content.
type span struct{ from, to uint32 }

// valueType is a type of samples.
type valueType struct {
	name, unit uint64
	metricUnit string // as the counter names it: empty for a count
	factor     int64  // how many of these one of the type's own units is
}

type mapping struct{ start, limit, offset, file, buildID uint64 }

type function struct{ name, system, file, line uint64 }

// newIndex reads a profile.
func newIndex(ctx context.Context, content []byte) (*index, error) {
	x := &index{content: content, mapped: map[uint64]int{}, locations: map[uint64]span{}, functions: map[uint64]function{}}
	n := 0
	err := fields(content, func(f field) error {
		if n++; n%(1<<16) == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		return x.field(f)
	})
	if err != nil {
		return nil, err
	}
	if len(x.strings) > 0 && x.strings[0].from != x.strings[0].to {
		return nil, errors.New("its first string is not empty")
	}
	if err := x.checkTexts(); err != nil {
		return nil, err
	}
	for i := range x.types {
		x.types[i].setUnit(x.text(x.types[i].unit))
	}
	return x, nil
}

// checkTexts returns an error if a text is named that is not there.
func (x *index) checkTexts() error {
	for _, t := range x.types {
		if !x.have(t.name, t.unit) {
			return errors.New("a type of samples has no name")
		}
	}
	for _, f := range x.functions {
		if !x.have(f.name, f.system, f.file) {
			return fmt.Errorf("a function: %w", errNoText)
		}
	}
	for _, m := range x.mappings {
		if !x.have(m.file, m.buildID) {
			return fmt.Errorf("the mapping at %#x: %w", m.start, errNoText)
		}
	}
	if !x.have(x.drop, x.keep, x.preferred, x.doc) || !x.have(x.comments...) {
		return fmt.Errorf("what the profile says of itself: %w", errNoText)
	}
	return nil
}

// errNoText says that the number of a text is none.
var errNoText = errors.New("it names a text that is not there")

// have reports whether all these texts are there. A profile without any has the empty one.
func (x *index) have(texts ...uint64) bool {
	return !slices.ContainsFunc(texts, func(n uint64) bool { return n > 0 && n >= uint64(len(x.strings)) })
}

// wellFormed reports whether a field of a profile is written as it has to be.
func (f *field) wellFormed() bool {
	expected, known := wires[f.number]
	return !known || f.wire == expected || f.number == fieldComment
}

func (x *index) field(f field) error {
	if !f.wellFormed() {
		return fmt.Errorf("field %d has the wrong type", f.number)
	}
	switch f.number {
	case fieldSampleType:
		if len(x.types) == mostTypes {
			return fmt.Errorf("it has more than %d types of samples", mostTypes)
		}
		var t valueType
		err := numberFields(f.bytes, &t.name, &t.unit)
		x.types = append(x.types, t)
		return err
	case fieldMapping:
		return x.mapping(f.bytes)
	case fieldLocation:
		return x.location(f.bytes)
	case fieldFunction:
		var id uint64
		var fn function
		if err := numberFields(f.bytes, &id, &fn.name, &fn.system, &fn.file, &fn.line); err != nil {
			return err
		}
		if _, twice := x.functions[id]; twice || id == 0 {
			return fmt.Errorf("function %d is there twice, or its number is 0", id)
		}
		x.functions[id] = fn
	case fieldString:
		if len(f.bytes) > maxText {
			return fmt.Errorf("text %d has more than %d bytes", len(x.strings), maxText)
		}
		x.strings = append(x.strings, x.span(f.bytes))
	case fieldTime:
		x.time = int64(f.value)
	case fieldDuration:
		x.duration = int64(f.value)
	case fieldDropFrames:
		x.drop = f.value
	case fieldKeepFrames:
		x.keep = f.value
	case fieldDefaultType:
		x.preferred = f.value
	case fieldDocURL:
		x.doc = f.value
	case fieldComment:
		return f.numbers(func(n uint64) error { x.comments = append(x.comments, n); return nil })
	}
	return nil
}

// numberFields reads the first fields of a message, which are numbers.
func numberFields(message []byte, to ...*uint64) error {
	return fields(message, func(f field) error {
		if n := int(f.number); n >= 1 && n <= len(to) {
			*to[n-1] = f.value
		}
		return nil
	})
}

// span is the place of bytes of the content.
func (x *index) span(b []byte) span {
	from := uint32(cap(x.content) - cap(b))
	return span{from, from + uint32(len(b))}
}

func (x *index) mapping(message []byte) error {
	var id uint64
	var m mapping
	if err := numberFields(message, &id, &m.start, &m.limit, &m.offset, &m.file, &m.buildID); err != nil {
		return err
	}
	if _, twice := x.mapped[id]; twice || id == 0 {
		return fmt.Errorf("mapping %d is there twice, or its number is 0", id)
	}
	x.mapped[id] = len(x.mappings)
	x.mappings = append(x.mappings, m)
	return nil
}

func (x *index) location(message []byte) error {
	var id uint64
	if err := numberFields(message, &id); err != nil {
		return err
	}
	if _, twice := x.locations[id]; twice || id == 0 {
		return fmt.Errorf("location %d is there twice, or its number is 0", id)
	}
	x.locations[id] = x.span(message)
	return nil
}

// text returns a string by its number, which have has checked.
func (x *index) text(n uint64) string {
	if n == 0 {
		return ""
	}
	s := x.strings[n]
	return strings.ToValidUTF8(string(x.content[s.from:s.to]), "\uFFFD")
}
