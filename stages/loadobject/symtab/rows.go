package symtab

import (
	"encoding/binary"
	"iter"
	"sort"
	"sync/atomic"

	"stackmill/stages/loadobject/columns"
)

// Row is the source line of the code from an offset of the file up to the next row.
type Row struct {
	Offset uint64
	File   int32 // index into Table.Files, -1: no line information from here on
	Line   int32
	// Discriminator tells the parts of a line apart (DWARF 5 section 6.2.2), 0 if the
	// compiler does not.
	Discriminator int32
	Call          int32 // of Inlines only: index into its Calls of the innermost one, -1: nothing is inlined from here on
}

// Repeats reports whether a row says of its code what another does.
func (r Row) Repeats(other Row) bool {
	other.Offset = r.Offset
	return r == other
}

// blockRows is how many rows are read at a time.
const blockRows = 128

type rowBlock [blockRows]Row

// Rows are in the order of their offsets, which are distinct. Those of a cache file are read
// in blocks when one of them is first asked for: few functions of a program are sampled. They
// are safe for concurrent use.
type Rows struct {
	n      int
	starts []uint64                   // the first offset of each block
	blocks []atomic.Pointer[rowBlock] // nil until it is read
	stored storedRows
}

// storedRows are blocks as they are in a file. Their numbers are differences to the row before.
type storedRows struct {
	blocks       [][]byte
	files, calls int // how many there are; -1: rows have no calls
}

// RowsOf returns a list's rows.
func RowsOf(list []Row) Rows {
	r := newRows(len(list))
	for i := range r.blocks {
		b := new(rowBlock)
		copy(b[:], list[i*blockRows:])
		r.starts[i] = b[0].Offset
		r.blocks[i].Store(b)
	}
	return r
}

func newRows(n int) Rows {
	if n == 0 {
		return Rows{}
	}
	blocks := (n + blockRows - 1) / blockRows
	return Rows{n: n, starts: make([]uint64, blocks), blocks: make([]atomic.Pointer[rowBlock], blocks)}
}

// Len returns how many there are.
func (r *Rows) Len() int { return r.n }

// Bytes returns the memory that they take once all are read.
func (r *Rows) Bytes() int { return len(r.blocks) * (blockRows*24 + 16) }

// At returns a row.
func (r *Rows) At(i int) Row { return r.block(i / blockRows)[i%blockRows] }

// Before returns the number of the row that holds at an offset, -1 for none.
func (r *Rows) Before(offset uint64) int {
	n := sort.Search(len(r.starts), func(i int) bool { return r.starts[i] > offset }) - 1
	if n < 0 {
		return -1
	}
	b := r.block(n)
	return n*blockRows + sort.Search(r.length(n), func(i int) bool { return b[i].Offset > offset }) - 1
}

// From iterates over rows from one on.
func (r *Rows) From(i int) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for ; i < r.n; i++ {
			if !yield(r.At(i)) {
				return
			}
		}
	}
}

// length returns how many rows a block has.
func (r *Rows) length(block int) int { return min(blockRows, r.n-block*blockRows) }

func (r *Rows) block(n int) *rowBlock {
	b := r.blocks[n].Load()
	if b == nil { // whoever else reads it gets the same
		b = r.stored.read(n, r.starts[n], r.length(n))
		r.blocks[n].Store(b)
	}
	return b
}

// Write writes the rows as columns, with calls or without.
func (r *Rows) Write(w *columns.Writer, calls bool) {
	w.Count(r.n)
	var last uint64
	for n, start := range r.starts {
		w.Uint(start - last)
		w.Bytes(appendRows(nil, r.block(n)[:r.length(n)], calls))
		last = start
	}
}

// appendRows writes a block: of each row what differs from the one before, then the
// discriminators that are not 0, which few are, each with the number of rows before it.
func appendRows(b []byte, rows []Row, calls bool) []byte {
	last, some := Row{Offset: rows[0].Offset}, uint64(0)
	for _, row := range rows {
		b = binary.AppendUvarint(b, row.Offset-last.Offset)
		b = binary.AppendUvarint(b, uint64(row.File+1))
		b = binary.AppendVarint(b, int64(row.Line-last.Line))
		if calls {
			b = binary.AppendVarint(b, int64(row.Call-last.Call))
		}
		if row.Discriminator != 0 {
			some++
		}
		last = row
	}
	b = binary.AppendUvarint(b, some)
	next := 0
	for i, row := range rows {
		if row.Discriminator != 0 {
			b = binary.AppendUvarint(b, uint64(i-next))
			b = binary.AppendUvarint(b, uint64(row.Discriminator))
			next = i + 1
		}
	}
	return b
}

// ReadRows reads what Write wrote, of a table with so many files and calls, -1 if it was
// written without calls.
func ReadRows(r *columns.Reader, files, calls int) Rows {
	rows := newRows(r.Count())
	rows.stored = storedRows{columns.Slice[[]byte](len(rows.blocks)), files, calls}
	var start uint64
	for n := range rows.blocks {
		start += r.Uint()
		rows.starts[n] = start
		rows.stored.blocks[n] = r.Bytes()
	}
	return rows
}

// read reads a block of so many rows. One that this program did not write, although its file
// has the checksum, says nothing of its code.
func (s *storedRows) read(n int, start uint64, rows int) *rowBlock {
	b := new(rowBlock)
	c := columns.NewNumbers(s.blocks[n])
	last := Row{Offset: start}
	for i := range b[:rows] {
		last.Offset += c.Uint()
		last.File = c.Below(s.files+1) - 1
		last.Line += int32(c.Int())
		if s.calls >= 0 {
			if last.Call += int32(c.Int()); last.Call < -1 || int(last.Call) >= s.calls {
				c.Fail()
			}
		}
		b[i] = last
	}
	at := 0
	for range c.Below(rows + 1) {
		at += int(c.Below(rows - at))
		if at >= rows {
			c.Fail()
			break
		}
		b[at].Discriminator = c.Below(1 << 31)
		at++
	}
	if !c.Whole() {
		for i := range b[:rows] {
			b[i] = Row{Offset: start, File: -1, Call: -1}
		}
	}
	return b
}
