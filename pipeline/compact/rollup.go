package compact

import (
	"cmp"
	"container/heap"
	"context"
	"slices"
	"strings"

	"stackmill/schema"
)

// rollupOrder lists the columns by which function_rollup is sorted, and rollupColumns their
// positions in the table. The mode columns come last mode first.
var (
	rollupOrder = slices.Concat([]string{"metric"}, reversed(schema.Modes), []string{"function", "load_object", "module", "function_id", "function_key", "kind", "experiment_id"})

	rollupColumns = func() (columns []int) {
		for _, name := range rollupOrder {
			columns = append(columns, schema.FunctionRollup.Index(name))
		}
		return columns
	}()
)

// cursor reads a file of function_rollup row by row.
type cursor struct {
	*reader
	source
	rows  *rows
	at    int
	count int64 // rows that were read
}

// cursors is a heap of cursors, ordered by their current rows.
type cursors struct {
	list  []*cursor
	known []texts
}

func (c *cursors) Len() int           { return len(c.list) }
func (c *cursors) Less(i, j int) bool { return c.compare(c.list[i], c.list[j]) < 0 }
func (c *cursors) Swap(i, j int)      { c.list[i], c.list[j] = c.list[j], c.list[i] }
func (c *cursors) Push(x any)         { c.list = append(c.list, x.(*cursor)) }
func (c *cursors) Pop() any {
	last := c.list[len(c.list)-1]
	c.list = c.list[:len(c.list)-1]
	return last
}

// compare orders rows.
func (c *cursors) compare(a, b *cursor) int {
	for _, i := range rollupColumns {
		x, y := &a.rows.columns[i], &b.rows.columns[i]
		var order int
		switch schema.FunctionRollup.Columns[i].Type {
		case schema.Int64:
			order = cmp.Compare(x.wide[a.at], y.wide[b.at])
		case schema.Int32, schema.Bool:
			order = cmp.Compare(x.narrow[a.at], y.narrow[b.at])
		default:
			if m, n := x.narrow[a.at], y.narrow[b.at]; m != n {
				order = strings.Compare(c.known[i].list[m], c.known[i].list[n])
			}
		}
		if order != 0 {
			return order
		}
	}
	return 0
}

// rollup merges the rows of function_rollup, which is sorted in each file.
func (t *tableMerge) rollup(ctx context.Context) (err error) {
	all := &cursors{known: t.known}
	defer func() {
		for _, c := range all.list {
			c.close()
		}
	}()
	for _, f := range t.files(t.table) {
		r, err := open(ctx, t.Store, f, t.table, t.known, cursorRows)
		if err != nil {
			return &sourceError{f, err}
		}
		c := &cursor{reader: r, source: f, at: -1}
		all.list = append(all.list, c)
		if err := c.step(all); err != nil {
			return err
		}
	}
	heap.Init(all)
	for n := 0; all.Len() > 0; n++ {
		if n%schema.BatchRows == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		first := all.list[0]
		if err := t.add(first.rows, first.at, first.at+1); err != nil {
			return err
		}
		if err := first.step(all); err != nil {
			return err
		}
		if first.rows != nil {
			heap.Fix(all, 0)
		}
	}
	return t.flush()
}

// cursorRows is how many rows of each file are in memory.
const cursorRows = 1 << 10

// step moves the cursor to its next visible row, and removes it from the heap at the end of the
// file. The cursor must be the first of the heap, or the one that was added last.
func (c *cursor) step(all *cursors) error {
	for {
		if c.at++; c.rows == nil || c.at == c.rows.n {
			var err error
			if c.rows, err = c.next(); err != nil {
				return &sourceError{c.source, err}
			}
			if c.rows == nil {
				c.reader.close()
				all.drop(c)
				return nil
			}
			c.at = 0
		}
		id := all.known[0].list[c.rows.columns[0].narrow[c.at]]
		if c.ranks.in(c.reader.table, id) >= 0 {
			return nil
		}
	}
}

// next reads the next rows of the file; nil at its end.
func (c *cursor) next() (*rows, error) {
	read, err := c.reader.read()
	if err != nil {
		return nil, err
	}
	if read == nil {
		return nil, c.complete(c.count)
	}
	c.count += int64(read.n)
	return read, nil
}

// drop removes a cursor.
func (c *cursors) drop(x *cursor) {
	if last := len(c.list) - 1; c.list[0] == x && last > 0 {
		heap.Pop(c)
	} else {
		c.list = c.list[:last]
	}
}

func reversed(list []string) []string {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}
