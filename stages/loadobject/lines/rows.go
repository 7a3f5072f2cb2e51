package lines

import (
	"cmp"
	"math"
	"slices"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/symtab"
)

// MaxRows bounds the rows of one object; the largest browsers have 30 million.
const MaxRows = 1 << 26

// rowCollector collects the rows of all line number programs, with offsets in the file instead of
// addresses.
type rowCollector struct {
	Addresses symtab.Addresses
	Full      bool // MaxRows was exceeded
	rows      []symtab.Row
	sequences []sequence
	covered   []dwarf.Range // code that the current program covers

	// The current sequence.
	open    bool
	outside bool // the sequence started outside every executable region
	region  symtab.Region
	first   uint64 // first address of the sequence
	begin   int    // index of the sequence's first row
}

// endLine marks the row that ends a sequence.
const endLine = -1

// sequence is a range of rows, [begin, end), with ascending offsets.
type sequence struct{ begin, end int }

// beginProgram prepares for the rows of the next program.
func (l *rowCollector) beginProgram() { l.covered, l.open = nil, false }

// endProgram drops a sequence without an end, and returns the code that the
// program covers.
func (l *rowCollector) endProgram() []dwarf.Range {
	if l.open {
		l.rows, l.open = l.rows[:l.begin], false
	}
	return l.covered
}

// addRow adds a row; false if there are too many. It drops sequences that start outside of the
// executable regions: for code that the linker removed, the lines start at address 0, and may
// extend into the addresses of real code.
func (l *rowCollector) addRow(r registers, file int32) bool {
	if !l.open {
		var inside bool
		l.region, inside = l.Addresses.Region(r.address)
		l.outside = !inside
		l.open, l.first, l.begin = true, r.address, len(l.rows)
	}
	if r.endSequence {
		l.endSequence(r)
		return true
	}
	in := r.address - l.region.Address
	if l.outside || in >= l.region.Size {
		return true
	}
	out := symtab.Row{Offset: l.region.Offset + in, File: file, Line: int32(r.line), Discriminator: int32(min(r.discriminator, math.MaxInt32))}
	if r.line == 0 || r.line > 1<<31-1 || file < 0 {
		out.File, out.Line, out.Discriminator = -1, 0, 0
	}
	if len(l.rows) >= MaxRows {
		l.Full = true
		return false
	}
	if n := len(l.rows); n > l.begin && l.rows[n-1].Offset == out.Offset {
		l.rows[n-1] = out // the last row for an address counts
		return true
	} else if n > l.begin && l.rows[n-1].Offset > out.Offset {
		l.cutSequence()
	}
	l.rows = append(l.rows, out)
	return true
}

// cutSequence ends the current sequence at the last row, and begins another.
func (l *rowCollector) cutSequence() {
	if l.begin < len(l.rows) {
		l.sequences = append(l.sequences, sequence{l.begin, len(l.rows)})
		l.begin = len(l.rows)
	}
}

func (l *rowCollector) endSequence(r registers) {
	l.open = false
	in := r.address - l.region.Address
	if l.outside || l.begin == len(l.rows) || in > l.region.Size {
		l.cutSequence()
		return
	}
	out := symtab.Row{Offset: l.region.Offset + in, File: -1, Line: endLine}
	if n := len(l.rows); l.rows[n-1].Offset == out.Offset { // the row covers no code
		l.rows = l.rows[:n-1]
	}
	l.rows = append(l.rows, out)
	l.cutSequence()
	if l.first < r.address {
		l.covered = append(l.covered, dwarf.Range{Low: l.first, High: r.address})
	}
}

// Sorted returns the rows by offset. If there are several at an offset, it returns the last of
// them, but an end of a sequence only if there is no other.
func (l *rowCollector) Sorted() []symtab.Row {
	slices.SortStableFunc(l.sequences, func(a, b sequence) int {
		return cmp.Compare(l.rows[a.begin].Offset, l.rows[b.begin].Offset)
	})
	rows := make([]symtab.Row, 0, len(l.rows))
	for _, s := range l.sequences {
		rows = append(rows, l.rows[s.begin:s.end]...)
	}
	l.rows, l.sequences = nil, nil
	byOffset := func(a, b symtab.Row) int { return cmp.Compare(a.Offset, b.Offset) }
	if !slices.IsSortedFunc(rows, byOffset) {
		slices.SortStableFunc(rows, byOffset)
	}
	kept := rows[:0]
	for i := 0; i < len(rows); {
		r := rows[i]
		for i++; i < len(rows) && rows[i].Offset == r.Offset; i++ {
			if rows[i].Line != endLine {
				r = rows[i]
			}
		}
		if r.Line == endLine {
			r.Line = 0
		}
		kept = AppendRow(kept, r)
	}
	return kept
}

// AppendRow appends a row, unless it repeats the last one, or it would be the first and has no
// file.
func AppendRow(rows []symtab.Row, r symtab.Row) []symtab.Row {
	if len(rows) == 0 && r.File < 0 || len(rows) > 0 && r.Repeats(rows[len(rows)-1]) {
		return rows
	}
	return append(rows, r)
}
