package pprof

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// mostTypes is the maximum number of sample types: each sample has a value for each type.
const mostTypes = 64

// maxText is the maximum length of a string: small files can refer to a long string many times.
const maxText = 1 << 20

// profileIndex is a profile without its samples. Strings are ranges of the content.
type profileIndex struct {
	content      []byte
	types        []valueType
	strings      []textRange
	mappings     []mapping
	mappingIndex map[uint64]int       // id of a mapping -> index in mappings
	locations    map[uint64]textRange // id of a location -> its message
	functions    map[uint64]function
	time         int64
	duration     int64

	// Indexes of strings.
	drop, keep uint64 // patterns of the frames that pprof drops and keeps
	preferred  uint64 // the default sample type
	comments   []uint64
	doc        uint64 // the URL of the documentation
}

// textRange is a range of the content, in bytes.
type textRange struct{ from, to uint32 }

// valueType is a sample type.
type valueType struct {
	name, unit uint64
	metricUnit string // the metric's unit, empty for a count
	factor     int64  // number of metric units in one unit of the type
}

type mapping struct{ start, limit, offset, file, buildID uint64 }

type function struct{ name, system, file, line uint64 }

// newIndex indexes a profile.
func newIndex(ctx context.Context, content []byte) (*profileIndex, error) {
	x := &profileIndex{content: content, mappingIndex: map[uint64]int{}, locations: map[uint64]textRange{}, functions: map[uint64]function{}}
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

// checkTexts returns an error if a string index is out of range.
func (x *profileIndex) checkTexts() error {
	for _, t := range x.types {
		if !x.haveTexts(t.name, t.unit) {
			return errors.New("a sample type has no name")
		}
	}
	for _, f := range x.functions {
		if !x.haveTexts(f.name, f.system, f.file) {
			return fmt.Errorf("a function: %w", errNoText)
		}
	}
	for _, m := range x.mappings {
		if !x.haveTexts(m.file, m.buildID) {
			return fmt.Errorf("the mapping at %#x: %w", m.start, errNoText)
		}
	}
	if !x.haveTexts(x.drop, x.keep, x.preferred, x.doc) || !x.haveTexts(x.comments...) {
		return fmt.Errorf("the profile's comments or settings: %w", errNoText)
	}
	return nil
}

// errNoText reports a string index that is out of range.
var errNoText = errors.New("a string index is out of range")

// haveTexts reports whether all string indexes are in range. Index 0 always is: it means the empty
// string.
func (x *profileIndex) haveTexts(texts ...uint64) bool {
	return !slices.ContainsFunc(texts, func(n uint64) bool { return n > 0 && n >= uint64(len(x.strings)) })
}

// wellFormed reports whether a field has its wire type.
func (f *field) wellFormed() bool {
	expected, known := wireTypes[f.number]
	return !known || f.wire == expected || f.number == fieldComment
}

func (x *profileIndex) field(f field) error {
	if !f.wellFormed() {
		return fmt.Errorf("field %d has the wrong type", f.number)
	}
	switch f.number {
	case fieldSampleType:
		if len(x.types) == mostTypes {
			return fmt.Errorf("it has more than %d sample types", mostTypes)
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
		return define(x.functions, id, fn, "function")
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

// numberFields reads numbers from a message: field 1 into to[0], field 2 into to[1], and so on.
func numberFields(message []byte, to ...*uint64) error {
	return fields(message, func(f field) error {
		if n := int(f.number); n >= 1 && n <= len(to) {
			*to[n-1] = f.value
		}
		return nil
	})
}

// span returns the range of b in the content. b must be a slice of the content.
func (x *profileIndex) span(b []byte) textRange {
	from := uint32(cap(x.content) - cap(b))
	return textRange{from, from + uint32(len(b))}
}

func (x *profileIndex) mapping(message []byte) error {
	var id uint64
	var m mapping
	if err := numberFields(message, &id, &m.start, &m.limit, &m.offset, &m.file, &m.buildID); err != nil {
		return err
	}
	x.mappings = append(x.mappings, m)
	return define(x.mappingIndex, id, len(x.mappings)-1, "mapping")
}

// define adds an entry under its id. An id that is 0 or already has an entry is an error.
func define[T any](to map[uint64]T, id uint64, v T, what string) error {
	if _, twice := to[id]; twice || id == 0 {
		return fmt.Errorf("%s %d occurs twice, or its id is 0", what, id)
	}
	to[id] = v
	return nil
}

func (x *profileIndex) location(message []byte) error {
	var id uint64
	if err := numberFields(message, &id); err != nil {
		return err
	}
	return define(x.locations, id, x.span(message), "location")
}

// text returns a string by its index, which haveTexts has checked.
func (x *profileIndex) text(n uint64) string {
	if n == 0 {
		return ""
	}
	s := x.strings[n]
	return strings.ToValidUTF8(string(x.content[s.from:s.to]), "\uFFFD")
}
