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

// collector collects the rows of all line number programs as offsets in the file.
type collector struct {
	Addresses symtab.Addresses
	rows      []symtab.Row
	sequences []sequence
	covered   []dwarf.Span // by the program that runs

	region  symtab.Region // of the sequence that runs
	open    bool          // a sequence runs
	outside bool          // it started outside every executable region
	first   uint64        // its first address
	begin   int           // its first row
	Full    bool          // rows were refused
}

// endLine is the line of a row with which a sequence ends.
const endLine = -1

// sequence is a run of rows in ascending order.
type sequence struct{ begin, end int }

// start prepares for the rows of the next program.
func (l *collector) start() { l.covered, l.open = nil, false }

// stop drops the rows of a sequence without an end, and returns the code that the
// program covers.
func (l *collector) stop() []dwarf.Span {
	if l.open {
		l.rows, l.open = l.rows[:l.begin], false
	}
	return l.covered
}

// add adds a row; false if there are too many. Sequences that start outside every
// executable region are dropped whole: the lines of code that the linker removed start
// at address 0, from where they may extend into real code.
func (l *collector) add(r registers, file int32) bool {
	if !l.open {
		var inside bool
		l.region, inside = l.Addresses.Region(r.address)
		l.outside = !inside
		l.open, l.first, l.begin = true, r.address, len(l.rows)
	}
	if r.end {
		l.end(r)
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
		l.rows[n-1] = out // the last row of an address counts
		return true
	} else if n > l.begin && l.rows[n-1].Offset > out.Offset {
		l.cut()
	}
	l.rows = append(l.rows, out)
	return true
}

// cut ends the run of ascending rows inside a sequence.
func (l *collector) cut() {
	if l.begin < len(l.rows) {
		l.sequences = append(l.sequences, sequence{l.begin, len(l.rows)})
		l.begin = len(l.rows)
	}
}

func (l *collector) end(r registers) {
	l.open = false
	in := r.address - l.region.Address
	if l.outside || l.begin == len(l.rows) || in > l.region.Size {
		l.cut()
		return
	}
	out := symtab.Row{Offset: l.region.Offset + in, File: -1, Line: endLine}
	if n := len(l.rows); l.rows[n-1].Offset == out.Offset { // it covers no code
		l.rows = l.rows[:n-1]
	}
	l.rows = append(l.rows, out)
	l.cut()
	if l.first < r.address {
		l.covered = append(l.covered, dwarf.Span{Low: l.first, High: r.address})
	}
}

// Sorted returns the rows in order. Of several at one offset the last one counts, but
// the end of a sequence never replaces a row.
func (l *collector) Sorted() []symtab.Row {
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

// AppendRow adds a row that follows the others, unless it repeats the last one or says nothing
// before all.
func AppendRow(rows []symtab.Row, r symtab.Row) []symtab.Row {
	if len(rows) == 0 && r.File < 0 || len(rows) > 0 && r.Repeats(rows[len(rows)-1]) {
		return rows
	}
	return append(rows, r)
}
