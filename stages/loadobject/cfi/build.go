package cfi

import (
	"cmp"
	"math"
	"slices"

	"stackmill/stages/loadobject/isa"
)

// codeRange is the code that one FDE describes; its rows are builder.starts[first:last].
type codeRange struct {
	start, end  uint32 // offsets in the file
	first, last int
}

// rowStart says that row number row is valid from the file offset start on.
type rowStart struct{ start, row uint32 }

// builder builds a table.
type builder struct {
	table    *Table
	starts   []rowStart
	states   map[state]uint32 // numbers of rows, by their rules
	programs map[string]int32
	last     Segment // segment of the last converted address
}

// Read builds the table of a load object. `.eh_frame` takes precedence over `.debug_frame`, and
// both over the instructions of procedure linkage tables. Where two FDEs of a section overlap, the
// one that begins later is used from its start on.
func Read(in Input) *Table {
	in.Segments = in.Segments[:min(len(in.Segments), maxSegments)]
	t := &Table{Arch: in.Arch, segments: in.Segments, order: in.Order, distinct: make([]row, 1)}
	b := &builder{table: t, states: map[state]uint32{}, programs: map[string]int32{}}
	ehFrame := sorted(b.read(&in, in.EHFrame, false))
	debugFrame := sorted(b.read(&in, in.Debug, true))
	b.assemble(merge(merge(ehFrame, debugFrame), sorted(b.linkage(&in))))
	if in.Entry != 0 {
		t.entry, _ = b.offset(in.Entry)
	}
	return t
}

// linkage adds rows for procedure linkage tables, and returns their code ranges.
func (b *builder) linkage(in *Input) []codeRange {
	var ranges []codeRange
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
				s.returnColumn = isa.LR
			} else {
				s.returnColumn = in.Arch.PC()
				s.rules[s.returnColumn] = rule{kind: atCFA, value: -8}
			}
			first := len(b.starts)
			b.emit(uint32(offset), b.intern(&s))
			ranges = append(ranges, codeRange{uint32(offset), uint32(offset + end - d.Address), first, len(b.starts)})
		}
	}
	return ranges
}

func sorted(ranges []codeRange) []codeRange {
	slices.SortStableFunc(ranges, func(a, b codeRange) int { return cmp.Compare(a.start, b.start) })
	return ranges
}

// merge adds to the first list those ranges of the second that overlap none of the first.
func merge(first, second []codeRange) []codeRange {
	if len(first) == 0 {
		return second
	}
	var kept []codeRange
	i, end := 0, uint32(0) // end: the last end of the ranges in first that begin before s
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

// assemble puts the rows of sorted ranges into the table. After each range, it adds a row without
// rules.
func (b *builder) assemble(ranges []codeRange) {
	t := b.table
	add := func(s rowStart) {
		switch n := len(t.starts); {
		case n > 0 && t.starts[n-1] == s.start:
			t.rows[n-1] = s.row
		case n > 0 && t.rows[n-1] == s.row:
		default:
			t.starts, t.rows = append(t.starts, s.start), append(t.rows, s.row)
		}
	}
	for i, s := range ranges {
		end := s.end
		if i+1 < len(ranges) {
			if ranges[i+1].start == s.start {
				continue // of several FDEs for the same code, use the last
			}
			end = min(end, ranges[i+1].start)
		}
		for _, st := range b.starts[s.first:s.last] {
			if st.start < end {
				add(st)
			}
		}
		add(rowStart{end, 0})
	}
	t.starts, t.rows = slices.Clip(t.starts), slices.Clip(t.rows)
}

// offset converts a link-time address to an offset in the file, and returns how many bytes of its
// segment follow. Both are 0 outside of executable code.
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

// offsetIn converts an address in s to an offset in the file, limited to s.
func (b *builder) offsetIn(address uint64, s *codeRange) uint32 {
	o, _ := b.offset(address)
	return min(max(uint32(o), s.start), s.end)
}

func (b *builder) emit(start, row uint32) { b.starts = append(b.starts, rowStart{start, row}) }

// intern returns the number of the row with the rules of s, 0 if s has no rule for the CFA.
func (b *builder) intern(s *state) uint32 {
	if s.cfa.kind == sameValue {
		return 0
	}
	n, ok := b.states[*s]
	t := b.table
	if ok || len(t.distinct) >= maxDistinct {
		return n
	}
	n = uint32(len(t.distinct))
	r := row{cfa: s.cfa, first: uint32(len(t.rules)), returnColumn: s.returnColumn, signal: s.signal, signed: s.signed}
	for reg, rule := range s.rules {
		if rule.kind != sameValue {
			r.hasReturnRule = r.hasReturnRule || reg == int(s.returnColumn)
			t.rules = append(t.rules, registerRule{uint8(reg), rule})
			r.count++
		}
	}
	t.distinct = append(t.distinct, r)
	b.states[*s] = n
	return n
}

// internExpression returns the number of an expression.
func (b *builder) internExpression(p []byte) (int32, bool) {
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
