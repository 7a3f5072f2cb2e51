package compact

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"stackmill/schema"
	"stackmill/schema/storedir"
)

// piece is a run of rows of one experiment, or of one shared list.
type piece struct {
	rank       int32 // position in the new file
	rows       *rows
	start, end int
}

// tableMerge is the merge of one table.
type tableMerge struct {
	*merge
	table *schema.Table
	known []texts // for each column: the texts read so far
	out   rows
}

// budget is how many bytes of rows of one table are in memory at a time.
func (m *merge) budget() int64 { return max(m.Memory/memoryShare, 8<<20) }

// memoryShare: a table's rows take 1/memoryShare of the memory, because several tables are merged
// at a time, and each needs memory for reading, writing and garbage.
const memoryShare = 8

// sorted merges the rows, sorted by experiment or list. If they do not fit in memory, it reads the
// files several times, each time for a range of ranks.
func (t *tableMerge) sorted(ctx context.Context) error {
	width := int64(0)
	for _, c := range t.table.Columns {
		if width += 4; c.Type == schema.Int64 || c.Type == schema.Time {
			width += 4
		}
	}
	total := int64(0)
	for _, f := range t.files(t.table) {
		total += f.Rows * width
	}
	passes, places := total/t.budget()+1, int64(len(t.entries))
	if isShared(t.table) {
		places = int64(len(t.lists.numbers))
	}
	for n := range passes {
		from, until := int32(places*n/passes), int32(places*(n+1)/passes)
		if err := t.pass(ctx, from, until); err != nil {
			return err
		}
	}
	return t.flush()
}

// pass writes the rows with ranks in [from, until).
func (t *tableMerge) pass(ctx context.Context, from, until int32) error {
	var pieces []piece
	for _, f := range t.files(t.table) {
		found, err := t.read(ctx, f, from, until)
		if err != nil {
			return &sourceError{f, err}
		}
		pieces = append(pieces, found...)
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Compare(a.rank, b.rank) })
	for _, p := range pieces {
		if err := t.add(p.rows, p.start, p.end); err != nil {
			return err
		}
	}
	return nil
}

// read returns the pieces of a file with ranks in [from, until).
func (t *tableMerge) read(ctx context.Context, f source, from, until int32) (pieces []piece, err error) {
	r, err := open(ctx, t.Store, f, t.table, t.known, schema.BatchRows)
	if err != nil {
		return nil, err
	}
	defer r.close()
	for n := int64(0); ; {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		read, err := r.read()
		if err != nil {
			return nil, err
		}
		if read == nil {
			return pieces, f.complete(n)
		}
		n += int64(read.n)
		if t.table.Has(listedIn) {
			if err := t.lists.resolve(t.table, f.batch, read); err != nil {
				return nil, err
			}
		}
		pieces = append(pieces, t.cut(read, f, from, until)...)
	}
}

// cut returns the pieces of rows with ranks in [from, until). It copies them, so that the other
// rows can be freed, unless all rows are in the range.
func (t *tableMerge) cut(read *rows, f source, from, until int32) (pieces []piece) {
	ids, rankOf := t.owners(read, f)
	kept := 0
	for start := 0; start < read.n; {
		end := start + 1
		for end < read.n && ids[end] == ids[start] {
			end++
		}
		if rank := rankOf(ids[start]); rank >= from && rank < until {
			pieces = append(pieces, piece{rank, read, start, end})
			kept += end - start
		}
		start = end
	}
	if kept == read.n {
		return pieces
	}
	own := &rows{}
	for i := range pieces {
		p := &pieces[i]
		own.append(p.rows, p.start, p.end)
		*p = piece{p.rank, own, own.n - (p.end - p.start), own.n}
	}
	return pieces
}

// owners returns, for each row, a number of its experiment or list, and a function that returns the
// rank for such a number.
func (t *tableMerge) owners(read *rows, f source) (of []int32, rankOf func(int32) int32) {
	if isShared(t.table) {
		return read.columns[t.table.Index(listNumber)].narrow, func(number int32) int32 { return number }
	}
	ranks := make([]int32, len(t.known[0].list))
	for i, id := range t.known[0].list {
		ranks[i] = f.ranks.in(t.table, id)
	}
	return read.columns[0].narrow, func(id int32) int32 { return ranks[id] }
}

// add adds rows to the new file.
func (t *tableMerge) add(from *rows, start, end int) error {
	for start < end {
		n := min(end-start, schema.BatchRows-t.out.n)
		t.out.append(from, start, start+n)
		if start += n; t.out.n == schema.BatchRows {
			if err := t.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// flush writes the rows that were added.
func (t *tableMerge) flush() error {
	if t.out.n == 0 {
		return nil
	}
	if isLink(t.table) {
		t.lists.number(t.table, &t.out)
	}
	batch := t.out.record(t.table, t.known)
	defer batch.Release()
	t.out.clear()
	return t.to.Write(t.table, batch)
}

// source is a file that is merged.
type source struct {
	storedir.File
	batch int // index among the merged batches
	ranks *ranks
}

// complete returns an error unless the file has as many rows as its commit says.
func (s *source) complete(rows int64) error {
	if rows != s.Rows {
		return fmt.Errorf("it has %d rows, but its commit says %d", rows, s.Rows)
	}
	return nil
}

// sourceError is the error of a file that could not be read.
type sourceError struct {
	file source
	err  error
}

func (e *sourceError) Error() string { return fmt.Sprintf("%s: %v", e.file.Path, e.err) }
func (e *sourceError) Unwrap() error { return e.err }
