package cfi

import (
	"cmp"
	"math"
	"slices"

	"stackmill/stages/loadobject/isa"
)

// span is the code of one entry, with its rows in builder.steps.
type span struct {
	start, end  uint32 // offsets in the file
	first, last int
}

// step says that a row holds from an offset on.
type step struct{ start, row uint32 }

// builder makes a table.
type builder struct {
	table    *Table
	steps    []step
	states   map[state]uint32
	programs map[string]int32
	last     Segment // where the last address was
}

// Read makes the table of a load object. Its entries in `.eh_frame` go before
// those in `.debug_frame`, and both before what the code of procedure linkage tables
// shows; where two of a section overlap, the one that begins later owns the code from
// there on.
func Read(in Input) *Table {
	in.Segments = in.Segments[:min(len(in.Segments), maxSegments)]
	t := &Table{Arch: in.Arch, segments: in.Segments, order: in.Order, distinct: make([]row, 1)}
	b := &builder{table: t, states: map[state]uint32{}, programs: map[string]int32{}}
	spans := sorted(b.read(&in, in.EHFrame, false))
	debug := sorted(b.read(&in, in.Debug, true))
	b.assemble(merge(merge(spans, debug), sorted(b.linkage(&in))))
	if in.Entry != 0 {
		t.entry, _ = b.offset(in.Entry)
	}
	return t
}

// linkage makes the spans of procedure linkage tables.
func (b *builder) linkage(in *Input) []span {
	var spans []span
	for _, l := range in.Linkage {
		for i, d := range l.Depths {
			end := l.End
			if i+1 < len(l.Depths) {
				end = l.Depths[i+1].Address
			}
			offset, room := b.offset(d.Address)
			if d.Bytes < 0 || end <= d.Address || room < end-d.Address {
				continue
			}
			s := state{cfa: rule{kind: registerBased, reg: in.Arch.SP(), value: d.Bytes}}
			if in.Arch == isa.ARM64 {
				s.column = isa.LR
			} else {
				s.column = in.Arch.PC()
				s.rules[s.column] = rule{kind: atCFA, value: -8}
			}
			first := len(b.steps)
			b.emit(uint32(offset), b.intern(&s))
			spans = append(spans, span{uint32(offset), uint32(offset + end - d.Address), first, len(b.steps)})
		}
	}
	return spans
}

func sorted(spans []span) []span {
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	return spans
}

// merge adds the spans of the second list that overlap no span of the first.
func merge(first, second []span) []span {
	if len(first) == 0 {
		return second
	}
	var kept []span
	i, end := 0, uint32(0) // the end of those of first that begin before s
	for _, s := range second {
		for i < len(first) && first[i].start < s.end {
			end = max(end, first[i].end)
			i++
		}
		if s.start >= end {
			kept = append(kept, s)
		}
	}
	return sorted(append(first, kept...))
}

// assemble puts the spans' rows in order, and ends them with gaps.
func (b *builder) assemble(spans []span) {
	t := b.table
	add := func(s step) {
		switch n := len(t.starts); {
		case n > 0 && t.starts[n-1] == s.start:
			t.rows[n-1] = s.row
		case n > 0 && t.rows[n-1] == s.row:
		default:
			t.starts, t.rows = append(t.starts, s.start), append(t.rows, s.row)
		}
	}
	for i, s := range spans {
		end := s.end
		if i+1 < len(spans) {
			if spans[i+1].start == s.start {
				continue // several entries for the same code: the last
			}
			end = min(end, spans[i+1].start)
		}
		for _, st := range b.steps[s.first:s.last] {
			if st.start < end {
				add(st)
			}
		}
		add(step{end, 0})
	}
	t.starts, t.rows = slices.Clip(t.starts), slices.Clip(t.rows)
}

// offset converts a link-time address to an offset in the file, with how much of
// its segment follows; 0 outside of executable code.
func (b *builder) offset(address uint64) (offset, room uint64) {
	if address-b.last.Address >= b.last.Size {
		b.last = Segment{}
		for _, s := range b.table.segments {
			if address-s.Address < s.Size {
				b.last = s
				break
			}
		}
		if b.last.Size == 0 {
			return 0, 0
		}
	}
	in := address - b.last.Address
	offset, room = b.last.Offset+in, b.last.Size-in
	if offset+room < offset || offset+room > math.MaxUint32 {
		return 0, 0
	}
	return offset, room
}

// offsetIn is offset for an address inside a span.
func (b *builder) offsetIn(address uint64, s *span) uint32 {
	o, _ := b.offset(address)
	return min(max(uint32(o), s.start), s.end)
}

func (b *builder) emit(start, row uint32) { b.steps = append(b.steps, step{start, row}) }

// intern returns the number of the row that a state is; 0 when it has no CFA.
func (b *builder) intern(s *state) uint32 {
	if s.cfa.kind == same {
		return 0
	}
	n, ok := b.states[*s]
	t := b.table
	if ok || len(t.distinct) >= maxDistinct {
		return n
	}
	n = uint32(len(t.distinct))
	r := row{cfa: s.cfa, first: uint32(len(t.rules)), returnColumn: s.column, signal: s.signal, signed: s.signed}
	for reg, rule := range s.rules {
		if rule.kind != same {
			r.returns = r.returns || reg == int(s.column)
			t.rules = append(t.rules, ruleFor{uint8(reg), rule})
			r.count++
		}
	}
	t.distinct = append(t.distinct, r)
	b.states[*s] = n
	return n
}

// program returns the number of an expression.
func (b *builder) program(p []byte) (int32, bool) {
	if n, ok := b.programs[string(p)]; ok {
		return n, true
	}
	n := int32(len(b.table.programs))
	if p == nil || n >= maxPrograms {
		return 0, false
	}
	b.table.programs = append(b.table.programs, slices.Clone(p))
	b.programs[string(p)] = n
	return n, true
}
