package symtab

import (
	"encoding/binary"
	"iter"
	"sort"
	"sync/atomic"

	"stackmill/stages/loadobject/columns"
)

// Row is the source line of the code from Offset, in the file, up to the next row's Offset.
type Row struct {
	Offset        uint64
	File          int32 // index into Table.Files, -1 for code without line information
	Line          int32
	Discriminator int32 // distinguishes the parts of a line (DWARF 5 section 6.2.2), 0 without
	Call          int32 // in Inlines only: index into Calls of the innermost call, -1 for code that is not inlined
}

// Repeats reports whether two rows differ only in their offsets.
func (r Row) Repeats(other Row) bool {
	other.Offset = r.Offset
	return r == other
}

const blockRows = 128

type rowBlock [blockRows]Row

// Rows are sorted by offset; all offsets differ. Blocks of rows from a cache file are decoded on
// first use, because few functions of a program have samples. Rows are safe for concurrent use.
type Rows struct {
	n       int
	starts  []uint64                   // the first offset of each block
	blocks  []atomic.Pointer[rowBlock] // nil until decoded
	encoded encodedRows
}

// encodedRows are the blocks of a cache file, as appendRows encodes them.
type encodedRows struct {
	blocks       [][]byte
	files, calls int // how many there are; calls is -1 for rows without calls
}

// RowsOf makes Rows of a list that is sorted by offset.
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

// Len returns the number of rows.
func (r *Rows) Len() int { return r.n }

// Bytes returns the memory that the rows take once all are decoded.
func (r *Rows) Bytes() int { return len(r.blocks) * (blockRows*24 + 16) }

// At returns a row.
func (r *Rows) At(i int) Row { return r.block(i / blockRows)[i%blockRows] }

// Before returns the index of the row that covers an offset, -1 for none.
func (r *Rows) Before(offset uint64) int {
	n := sort.Search(len(r.starts), func(i int) bool { return r.starts[i] > offset }) - 1
	if n < 0 {
		return -1
	}
	b := r.block(n)
	return n*blockRows + sort.Search(r.length(n), func(i int) bool { return b[i].Offset > offset }) - 1
}

// From iterates over rows from an index on.
func (r *Rows) From(i int) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for ; i < r.n; i++ {
			if !yield(r.At(i)) {
				return
			}
		}
	}
}

// length returns the number of rows in a block.
func (r *Rows) length(block int) int { return min(blockRows, r.n-block*blockRows) }

func (r *Rows) block(n int) *rowBlock {
	b := r.blocks[n].Load()
	if b == nil { // concurrent callers may decode the same block: the results are equal
		b = r.encoded.decode(n, r.starts[n], r.length(n))
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

// appendRows encodes a block. A row's offset, line and call are stored as differences to the row
// before. At the end are the few discriminators other than 0, each after the number of rows since
// the last one.
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

// ReadRows reads rows that Write wrote. files and calls are the numbers of files and inlined calls
// in the table; calls is -1 if the rows have no calls.
func ReadRows(r *columns.Reader, files, calls int) Rows {
	rows := newRows(r.Count())
	rows.encoded = encodedRows{columns.Slice[[]byte](len(rows.blocks)), files, calls}
	var start uint64
	for n := range rows.blocks {
		start += r.Uint()
		rows.starts[n] = start
		rows.encoded.blocks[n] = r.Bytes()
	}
	return rows
}

// decode decodes block n, which has the given number of rows. If the block is invalid (in a forged
// file with a correct checksum), its code has no line information.
func (s *encodedRows) decode(n int, start uint64, rows int) *rowBlock {
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
