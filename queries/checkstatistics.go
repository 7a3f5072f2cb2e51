package queries

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"

	"stackmill/queries/result"
	"stackmill/schema"
)

// columnExtent is the number of values and the bounds of a column, over several files.
type columnExtent struct {
	values      int64
	least, most any // int64 or string; nil if no value is bounded
	// A bound is unknown if some file lacks it, because the value is too long or empty. (Parquet's
	// library does not tell these cases apart.)
	unknownLeast, unknownMost bool
}

// checkStatistics compares what the SQL engine reads from a table's files with the files' footers:
// the columns, the number of rows, and for each column the number of values and the bounds.
func (p *CheckReport) checkStatistics(ctx context.Context, db *DB, t *schema.Table, files fileList) error {
	rows, want := int64(0), make([]columnExtent, len(t.Columns))
	for _, path := range files.paths {
		if err := addFooter(path, want, &rows); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	read := files.read()
	found, err := db.QueryContext(ctx, "SELECT * FROM "+read+" LIMIT 0")
	if err != nil {
		return err
	}
	columns, err := found.Columns()
	if err := found.Close(); err != nil {
		return err
	}
	if err != nil {
		return err
	}
	names := mapped(t.Columns, func(c schema.Column) string { return c.Name })
	if !slices.Equal(columns, names) {
		p.add(t.Name, "has the columns %s for the SQL engine, and %s in its files", strings.Join(columns, ", "), strings.Join(names, ", "))
		return nil
	}
	parts := []string{"count(*)"}
	for _, c := range t.Columns {
		name := identifier(c.Name)
		least, most := "min("+name+")", "max("+name+")"
		switch c.Type {
		case schema.Bool:
			least, most = "NULL", "NULL"
		case schema.Time:
			least, most = "epoch_us("+least+")", "epoch_us("+most+")"
		case schema.Int32, schema.Int64:
			least, most = least+"::BIGINT", most+"::BIGINT"
		}
		parts = append(parts, "count("+name+")", least, most)
	}
	values, targets := result.Targets(len(parts))
	if err := db.QueryRowContext(ctx, "SELECT "+strings.Join(parts, ", ")+" FROM "+read).Scan(targets...); err != nil {
		return err
	}
	if values[0] != rows {
		p.add(t.Name, "has %v rows for the SQL engine, and %d in its files", values[0], rows)
	}
	for i, c := range t.Columns {
		got, w := values[1+3*i:][:3], want[i]
		switch {
		case got[0] != w.values:
			p.add(t.Name, "has %v values of %s for the SQL engine, and %d in its files", got[0], c.Name, w.values)
		case c.Type != schema.Bool && (!w.unknownLeast && got[1] != w.least || !w.unknownMost && got[2] != w.most):
			p.add(t.Name, "has values of %s from %v to %v for the SQL engine, and from %v to %v in its files", c.Name, got[1], got[2], w.least, w.most)
		}
	}
	return nil
}

func addFooter(path string, columns []columnExtent, rows *int64) error {
	r, err := file.OpenParquetFile(path, false)
	if err != nil {
		return err
	}
	defer r.Close()
	*rows += r.NumRows()
	for g := range r.NumRowGroups() {
		group := r.MetaData().RowGroup(g)
		for i := range columns {
			chunk, err := group.ColumnChunk(i)
			if err != nil {
				return err
			}
			s, err := chunk.Statistics()
			if err != nil {
				return err
			}
			if s == nil || !s.HasNullCount() {
				return fmt.Errorf("column %d has no count of missing values", i+1)
			}
			n := group.NumRows() - s.NullCount()
			columns[i].values += n
			switch {
			case n == 0:
			case !s.HasMinMax():
				columns[i].unknownLeast, columns[i].unknownMost = true, true
			default:
				columns[i].add(s.Type(), s.EncodeMin(), s.EncodeMax())
			}
		}
	}
	return nil
}

// add extends a column's bounds by the bounds of a row group, in Parquet's plain encoding.
func (c *columnExtent) add(t parquet.Type, least, most []byte) {
	switch t {
	case parquet.Types.Int32, parquet.Types.Int64:
		number := func(b []byte) int64 {
			if t == parquet.Types.Int32 {
				return int64(int32(binary.LittleEndian.Uint32(b)))
			}
			return int64(binary.LittleEndian.Uint64(b))
		}
		l, m := number(least), number(most)
		if c.least != nil {
			l, m = min(l, c.least.(int64)), max(m, c.most.(int64))
		}
		c.least, c.most = l, m
	case parquet.Types.ByteArray:
		c.unknownLeast, c.unknownMost = c.unknownLeast || len(least) == 0, c.unknownMost || len(most) == 0
		if c.least == nil || bytes.Compare(least, []byte(c.least.(string))) < 0 {
			c.least = string(least)
		}
		if c.most == nil || bytes.Compare(most, []byte(c.most.(string))) > 0 {
			c.most = string(most)
		}
	}
}
