package duckfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"
)

// Table is a table of a file, and its rows, which have no NULL.
type Table struct {
	name    string
	columns []*column
	rows    int
}

// Column is the name of a column and its type: VARCHAR, of which a value is a string of less
// than 256 KiB, TIMESTAMPTZ (time.Time), INTEGER (int32) or BOOLEAN (bool).
type Column struct{ Name, Type string }

// NewTable returns a table without rows.
func NewTable(name string, columns ...Column) (*Table, error) {
	t := &Table{name: name}
	for _, c := range columns {
		of, ok := types[c.Type]
		if !ok {
			return nil, fmt.Errorf("table %s: column %s: no type %s", name, c.Name, c.Type)
		}
		t.columns = append(t.columns, &column{name: c.Name, kind: of})
	}
	return t, nil
}

// Append adds a row.
func (t *Table) Append(values ...any) error {
	if len(values) != len(t.columns) {
		return fmt.Errorf("table %s: %d values for %d columns", t.name, len(values), len(t.columns))
	}
	for i, c := range t.columns {
		if err := c.append(values[i]); err != nil {
			return fmt.Errorf("table %s: row %d: column %s: %w", t.name, t.rows, c.name, err)
		}
	}
	t.rows++
	return nil
}

// kind is a type of columns.
type kind struct {
	id   uint64 // the engine's
	size int    // of a value in bytes; 0: a text
	least,
	most int64
}

var types = map[string]kind{
	"BOOLEAN":     {10, 1, 0, 1},
	"INTEGER":     {13, 4, math.MinInt32, math.MaxInt32},
	"VARCHAR":     {25, 0, 0, 0},
	"TIMESTAMPTZ": {32, 8, math.MinInt64, math.MaxInt64},
}

// column has a column's values.
type column struct {
	name    string
	kind    kind
	texts   []string
	numbers []int64
}

// longest is the most bytes of a text: it must fit into a segment.
const longest = blockUse - textsHeader - textEnd

func (c *column) append(value any) error {
	switch v := value.(type) {
	case string:
		if c.kind.size != 0 {
			break
		}
		if len(v) > longest {
			return fmt.Errorf("a text of %d bytes (at most %d)", len(v), longest)
		}
		if !utf8.ValidString(v) {
			return fmt.Errorf("%q is not UTF-8", v)
		}
		c.texts = append(c.texts, v)
		return nil
	case bool:
		if c.kind.size == 1 {
			n := int64(0)
			if v {
				n = 1
			}
			c.numbers = append(c.numbers, n)
			return nil
		}
	case int32:
		if c.kind.size == 4 {
			c.numbers = append(c.numbers, int64(v))
			return nil
		}
	case time.Time:
		if c.kind.size == 8 {
			c.numbers = append(c.numbers, v.UnixMicro())
			return nil
		}
	}
	return fmt.Errorf("a value of type %T", value)
}

// groupRows is the most rows of a row group.
const groupRows = 60 * 2048

// The layout of a segment of texts: the bytes of all and where they end, an end for each, and
// the texts, the last one first. Ends count from the end of the segment.
const (
	textsHeader = 8
	textEnd     = 4
)

// segment is the values of rows that lie in a block together.
type segment struct {
	from, to int // rows
	block    int64
	offset   int
}

// place puts the values of rows into blocks, in as few segments as they fit in.
func (c *column) place(b *blocks, from, to int) (list []segment) {
	for from < to {
		n, size := c.fit(from, to)
		at, block, offset := b.reserve(size)
		c.put(at, from, from+n)
		list, from = append(list, segment{from, from + n, block, offset}), from+n
	}
	return list
}

// fit returns how many of the rows fit into a segment, and its size.
func (c *column) fit(from, to int) (rows, size int) {
	if c.kind.size > 0 {
		rows = min(to-from, blockUse/c.kind.size)
		return rows, rows * c.kind.size
	}
	size = textsHeader
	for _, s := range c.texts[from:to] {
		if size+textEnd+len(s) > blockUse {
			break
		}
		rows, size = rows+1, size+textEnd+len(s)
	}
	return rows, size
}

// put writes the values of rows into their segment.
func (c *column) put(place []byte, from, to int) {
	order := binary.LittleEndian
	switch c.kind.size {
	case 0:
		ends, used := place[textsHeader:], 0
		for _, s := range c.texts[from:to] {
			used += len(s)
			order.PutUint32(ends, uint32(used))
			copy(place[len(place)-used:], s)
			ends = ends[textEnd:]
		}
		order.PutUint32(place, uint32(used))
		order.PutUint32(place[4:], uint32(len(place)))
	case 1:
		for i, n := range c.numbers[from:to] {
			place[i] = byte(n)
		}
	case 4:
		for i, n := range c.numbers[from:to] {
			order.PutUint32(place[4*i:], uint32(n))
		}
	case 8:
		for i, n := range c.numbers[from:to] {
			order.PutUint64(place[8*i:], uint64(n))
		}
	}
}

// The fields of statistics.
const (
	hasNull    = first
	hasOthers  = 101
	distinct   = 102 // how many values there are; 0 if that is not known
	ofType     = 103
	statsLeast = 200
	statsMost  = 201
	unicode    = 202
	hasLongest = 203
	statsLong  = 204
)

// statistics appends what is known of the values of rows.
func (c *column) statistics(o *object, from, to int, values uint64) {
	o.field(hasNull)
	o.flag(false)
	o.field(hasOthers)
	o.flag(from < to)
	o.field(distinct)
	o.unsigned(values)
	o.field(ofType)
	if c.kind.size == 0 {
		c.textStatistics(o, c.texts[from:to])
	} else {
		c.numberStatistics(o, c.numbers[from:to])
	}
	o.close(2)
}

// prefix is how much of the least and the most text statistics have.
const prefix = 8

func (c *column) textStatistics(o *object, texts []string) {
	least, most, long, ascii := strings.Repeat("\xff", prefix), "", 0, true
	for _, s := range texts {
		long = max(long, len(s))
		for i := range len(s) {
			ascii = ascii && s[i] < utf8.RuneSelf
		}
		p := (s + strings.Repeat("\x00", prefix))[:prefix]
		least, most = min(least, p), max(most, p)
	}
	o.field(statsLeast)
	o.text(least)
	o.field(statsMost)
	o.text((most + strings.Repeat("\x00", prefix))[:prefix])
	o.field(unicode)
	o.flag(!ascii)
	o.field(hasLongest)
	o.flag(true)
	o.field(statsLong)
	o.unsigned(uint64(long))
}

func (c *column) numberStatistics(o *object, numbers []int64) {
	least, most := c.kind.most, c.kind.least
	for _, n := range numbers {
		least, most = min(least, n), max(most, n)
	}
	for _, x := range []struct {
		field uint16
		n     int64
	}{{statsLeast, least}, {statsMost, most}} {
		o.field(x.field)
		o.field(first)
		o.flag(true) // it is known
		o.field(101)
		if c.kind.size == 1 {
			o.raw(byte(x.n))
		} else {
			o.signed(x.n)
		}
		o.close(1)
	}
}

// different counts the different values.
func (c *column) different() uint64 {
	if c.kind.size > 0 {
		return count(c.numbers)
	}
	return count(c.texts)
}

func count[T comparable](values []T) uint64 {
	seen := make(map[T]struct{}, len(values))
	for _, v := range values {
		seen[v] = struct{}{}
	}
	return uint64(len(seen))
}

// The fields of what tells of data.
const (
	rowStart    = first // left out if it is 0
	rowCount    = 101
	where       = 102
	compression = 103
	statistics  = 104

	dataValidity = 101 // of a column: which rows are NULL

	groupColumns = 102
	groupDeleted = 103
)

// How values are compressed.
const (
	uncompressed = 1
	constant     = 2
)

// nowhere is the block of what needs none.
const nowhere = -1

// data appends what tells where the values of rows are.
func (c *column) data(o *object, segments []segment, from, to int) {
	o.field(first)
	o.unsigned(uint64(len(segments)))
	for _, s := range segments {
		o.rows(s.from, s.to)
		o.field(where)
		o.place(s.block, s.offset)
		o.field(compression)
		o.unsigned(uncompressed)
		o.field(statistics)
		c.statistics(o, s.from, s.to, 0)
		o.close(1)
	}
	o.field(dataValidity)
	o.field(first)
	o.unsigned(1)
	o.rows(from, to)
	o.field(where)
	o.place(nowhere, 0)
	o.field(compression)
	o.unsigned(constant)
	o.field(statistics)
	o.field(hasNull)
	o.flag(false)
	o.field(hasOthers)
	o.flag(true)
	o.field(distinct)
	o.unsigned(0)
	o.field(ofType)
	o.close(5)
}

// rows appends a range of rows.
func (o *object) rows(from, to int) {
	if from > 0 {
		o.field(rowStart)
		o.unsigned(uint64(from))
	}
	o.field(rowCount)
	o.unsigned(uint64(to - from))
}

// group is rows of which each column's values lie together.
type group struct {
	from, to int
	columns  [][]segment
}

// place puts the table's rows into blocks.
func (t *Table) place(b *blocks) (groups []group) {
	for from := 0; from < t.rows; from += groupRows {
		g := group{from: from, to: min(t.rows, from+groupRows)}
		for _, c := range t.columns {
			g.columns = append(g.columns, c.place(b, g.from, g.to))
		}
		groups = append(groups, g)
	}
	return groups
}

// describe appends to a chain of pieces what tells of groups, and returns where there.
func (t *Table) describe(chain *pieces, groups []group) (at int) {
	var list object
	for _, g := range groups {
		list.field(rowStart)
		list.unsigned(uint64(g.from))
		list.field(rowCount)
		list.unsigned(uint64(g.to - g.from))
		list.field(groupColumns)
		list.unsigned(uint64(len(t.columns)))
		for i, c := range t.columns {
			list.piece(chain.pointer(len(chain.bytes)))
			c.data(&chain.object, g.columns[i], g.from, g.to)
		}
		list.field(groupDeleted)
		list.unsigned(0)
		list.close(1)
	}
	at = len(chain.bytes)
	chain.field(first)
	chain.unsigned(uint64(len(t.columns)))
	for _, c := range t.columns {
		chain.raw(1) // they are there
		chain.field(first)
		c.statistics(&chain.object, 0, t.rows, c.different())
		chain.close(1)
	}
	chain.close(1)
	chain.bytes = binary.LittleEndian.AppendUint64(chain.bytes, uint64(len(groups)))
	chain.raw(list.bytes...)
	return at
}

// The fields of an entry of a table.
const (
	tablePointer = 101
	tableRows    = 102
	tableIndexes = 103
	indexes      = 104

	columnName     = first
	columnType     = 101
	columnCategory = 103
	columnCompress = 104
	columnsOfTable = first
	typeID         = first
)

// entry appends the table's entry of the catalog.
func (t *Table) entry(o *object, pointer uint64, offset int) {
	o.entry(tableType)
	o.field(infoOwn)
	o.text(t.name)
	o.field(infoMore)
	o.field(columnsOfTable)
	o.unsigned(uint64(len(t.columns)))
	for _, c := range t.columns {
		o.field(columnName)
		o.text(c.name)
		o.field(columnType)
		o.field(typeID)
		o.unsigned(c.kind.id)
		o.close(1)
		o.field(columnCategory)
		o.raw(0)
		o.field(columnCompress)
		o.raw(0)
		o.close(1)
	}
	o.close(2)
	o.field(tablePointer)
	o.piece(pointer, offset)
	o.field(tableRows)
	o.unsigned(uint64(t.rows))
	o.field(tableIndexes)
	o.unsigned(0)
	o.field(indexes)
	o.unsigned(0)
	o.close(1)
}
