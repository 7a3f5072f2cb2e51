package pprof

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"stackmill/stages/decode"
)

// mostTypes bounds the types of samples: each sample has a value for each.
const mostTypes = 64

// index is all of a profile but its samples. Texts are places in the content.
type index struct {
	content   []byte
	types     []valueType
	strings   []span
	mappings  []mapping
	mapped    map[uint64]int // places in mappings by id
	locations map[uint64]place
	functions map[uint64]function
	time      int64
	duration  int64
	dropped   bool // whether it names frames to drop
}

// span is a part of the content.
type span struct{ from, to uint32 }

type valueType struct{ name, unit uint64 }

type mapping struct{ start, offset, file uint64 }

// place is a location. Its lines are read from its message when it is asked for.
type place struct{ message span }

type function struct{ name, system, file uint64 }

// newIndex reads a profile.
func newIndex(ctx context.Context, content []byte) (*index, error) {
	x := &index{content: content, mapped: map[uint64]int{}, locations: map[uint64]place{}, functions: map[uint64]function{}}
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
	for _, t := range x.types {
		if t.name >= uint64(len(x.strings)) || t.unit >= uint64(len(x.strings)) {
			return nil, errors.New("a type of samples has no name")
		}
	}
	return x, nil
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
		if err := numberFields(f.bytes, &id, &fn.name, &fn.system, &fn.file); err != nil {
			return err
		}
		if _, twice := x.functions[id]; twice || id == 0 {
			return fmt.Errorf("function %d is there twice, or its number is 0", id)
		}
		x.functions[id] = fn
	case fieldString:
		x.strings = append(x.strings, x.span(f.bytes))
	case fieldTime:
		x.time = int64(f.value)
	case fieldDuration:
		x.duration = int64(f.value)
	case fieldDropFrames:
		x.dropped = f.value != 0
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
	var id, limit uint64
	var m mapping
	if err := numberFields(message, &id, &m.start, &limit, &m.offset, &m.file); err != nil {
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
	x.locations[id] = place{x.span(message)}
	return nil
}

// text returns a string by its number; one that is not there is empty.
func (x *index) text(n uint64) string {
	if n >= uint64(len(x.strings)) {
		return ""
	}
	s := x.strings[n]
	return strings.ToValidUTF8(string(x.content[s.from:s.to]), "\uFFFD")
}

// units are the units that pprof knows, in those of metrics.
var units = map[string]struct {
	unit   string
	factor int64
}{
	"nanoseconds": {"ns", 1}, "ns": {"ns", 1}, "microseconds": {"ns", 1e3}, "us": {"ns", 1e3}, "milliseconds": {"ns", 1e6}, "ms": {"ns", 1e6}, "seconds": {"ns", 1e9}, "s": {"ns", 1e9},
	"bytes": {"bytes", 1}, "byte": {"bytes", 1}, "kilobytes": {"bytes", 1 << 10}, "kb": {"bytes", 1 << 10}, "megabytes": {"bytes", 1 << 20}, "mb": {"bytes", 1 << 20},
}

// counters are the types of samples. Those of one name are told apart by a number.
func (x *index) counters() (list []decode.Counter) {
	seen := map[string]int{}
	for i, t := range x.types {
		name := x.text(t.name)
		if name == "" {
			name = "value"
		}
		seen[name]++
		if n := seen[name]; n > 1 {
			name = fmt.Sprintf("%s_%d", name, n)
		}
		unit := units[x.text(t.unit)].unit
		list = append(list, decode.Counter{Tag: i, Name: name, Title: name, Unit: unit, TimeUnit: unit == "ns"})
	}
	return list
}

// value returns a value of a type in the metric's unit, or 0 and false if 64 bits cannot
// hold that.
func (x *index) value(typ int, v int64) (int64, bool) {
	factor := max(units[x.text(x.types[typ].unit)].factor, 1)
	if product := v * factor; product/factor == v {
		return product, true
	}
	return 0, false
}
