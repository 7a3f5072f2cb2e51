package pprof

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"stackmill/stages/decode"
)

// maxLevels is the maximum number of inlined functions at a location. One function, deeperInlined,
// replaces those at deeper levels.
const maxLevels = 256

// deeperInlined is the function that replaces functions inlined more than maxLevels deep, as in
// load objects (symtab.DeeperInlined).
const deeperInlined = "<Truncated-inline-chain>"

// noStack is the function that an exported profile uses for samples without a stack.
const noStack = "<no stack>"

// location is a parsed location message.
type location struct {
	mapping, address uint64
	lines            []line // the innermost first
}

type line struct{ function, line uint64 }

// location returns the word of a location by its id. A location is one frame even if functions were
// inlined there.
func (r *reader) location(id uint64) (uint64, error) {
	word, known := r.words[id]
	if known {
		return word, nil
	}
	message, ok := r.index.locations[id]
	if !ok {
		return 0, fmt.Errorf("there is no location %d", id)
	}
	var p location
	err := fields(r.index.content[message.from:message.to], func(f field) error {
		switch f.number {
		case locationMapping:
			p.mapping = f.value
		case locationAddress:
			p.address = f.value
		case locationLine:
			var l line
			if err := numberFields(f.bytes, &l.function, &l.line); err != nil {
				return err
			}
			p.lines = append(p.lines, l)
		}
		return nil
	})
	if err == nil {
		word, err = r.word(&p)
	}
	if err != nil {
		return 0, fmt.Errorf("location %d: %w", id, err)
	}
	r.words[id] = word
	return word, nil
}

// word returns the word of a parsed location.
func (r *reader) word(p *location) (uint64, error) {
	object, m := r.index.object(p.mapping)
	places := r.names.Of(object)
	at := decode.NamedLocation{Offset: decode.NoFileOffset}
	if m == nil && p.address != 0 {
		at.Offset = min(p.address, decode.NoFileOffset) // code without a mapping is generated: use the PC itself
	}
	if m != nil && p.address != 0 && p.address >= m.start && (m.limit == 0 || p.address < m.limit) {
		at.Offset = p.address - m.start + m.offset
	}
	lines := p.lines
	if len(lines) > maxLevels+1 {
		r.tooDeep++
		lines = lines[len(lines)-maxLevels-1:]
	}
	for _, l := range slices.Backward(lines) {
		f, err := r.function(l.function)
		if err != nil {
			return 0, err
		}
		at.Lines = append(at.Lines, decode.NamedLine{Function: places.InternFunction(f), Line: r.line(l.line)})
	}
	if len(lines) < len(p.lines) {
		mark := decode.NamedFunction{Name: deeperInlined, Linkage: deeperInlined}
		at.Lines = append(at.Lines, decode.NamedLine{Function: places.InternFunction(mark)})
	}
	if len(lines) == 0 {
		r.nameless++
		name := decode.NamedFunction{Name: decode.NoName}
		if m != nil {
			name.Name = fmt.Sprintf("<static>@%#x", m.offset)
		}
		at.Lines = []decode.NamedLine{{Function: places.InternFunction(name)}}
	}
	word, err := places.InternLocation(at)
	if len(lines) == 1 && m == nil && places.Functions[at.Lines[0].Function] == (decode.NamedFunction{Name: noStack, Linkage: noStack}) {
		r.noStackWord = word
	}
	return word, err
}

// line returns a line number, 0 if it is impossible.
func (r *reader) line(line uint64) int32 {
	if line > math.MaxInt32 {
		r.badLines++
		return 0
	}
	return int32(line)
}

// function returns a function of the profile.
func (r *reader) function(id uint64) (decode.NamedFunction, error) {
	f, ok := r.index.functions[id]
	if !ok {
		return decode.NamedFunction{}, fmt.Errorf("there is no function %d", id)
	}
	name, linkage := r.index.text(f.name), r.index.text(f.system)
	name = cmp.Or(name, linkage, fmt.Sprintf("<function %d>", id))
	return decode.NamedFunction{Name: name, Linkage: cmp.Or(linkage, name), File: r.index.text(f.file), Line: r.line(f.line)}, nil
}

// image returns Process.Mappings.
func (r *reader) image() []decode.MapEvent {
	for i := range r.index.mappings {
		if m := &r.index.mappings[i]; m.limit > m.start {
			if o, known := r.index.named(m); known {
				r.names.Loaded(o, m.start, m.limit-m.start, m.offset)
			}
		}
	}
	return r.names.Image()
}

// object returns a mapping's load object and the mapping. The mapping is nil if there is no mapping
// with that id, or if it has no name.
func (x *profileIndex) object(id uint64) (decode.NamedObject, *mapping) {
	if at, ok := x.mappingIndex[id]; ok {
		m := &x.mappings[at]
		if o, known := x.named(m); known {
			return o, m
		}
	}
	return decode.NamedObject{}, nil
}

// named returns the load object that a mapping names, or false if it names none.
func (x *profileIndex) named(m *mapping) (o decode.NamedObject, known bool) {
	o = decode.NamedObject{Path: x.text(m.file), BuildID: x.text(m.buildID)}
	if o.Path == "" && o.BuildID != "" {
		o.Path = "[" + o.BuildID + "]"
	}
	return o, o.Path != ""
}
