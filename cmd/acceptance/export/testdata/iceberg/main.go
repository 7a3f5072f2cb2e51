// Program iceberg reads the tables in a folder with iceberg-go. For each table it prints a line of
// JSON: the name, the number of rows, and per column the sum of the hashes of its values.
//
//	iceberg FOLDER NAMESPACE [SNAPSHOT-OF-TABLE...]
//
// Tables that are named after NAMESPACE are read as of their oldest snapshot.
package main

import (
	"context"
	"crypto/md5"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/iceberg-go/catalog/hadoop"
	"github.com/apache/iceberg-go/table"
)

func main() {
	if err := run(context.Background(), os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, "iceberg:", err)
		os.Exit(1)
	}
}

type result struct {
	Table   string
	Rows    int64
	Columns map[string]int64
}

func run(ctx context.Context, folder, namespace string, old []string) error {
	catalog, err := hadoop.NewCatalog("stackmill", folder, nil)
	if err != nil {
		return err
	}
	defer catalog.Close()
	out := json.NewEncoder(os.Stdout)
	for ident, err := range catalog.ListTables(ctx, table.Identifier{namespace}) {
		if err != nil {
			return err
		}
		t, err := catalog.LoadTable(ctx, ident)
		if err != nil {
			return fmt.Errorf("%v: %w", ident, err)
		}
		r := result{Table: ident[len(ident)-1], Columns: map[string]int64{}}
		var options []table.ScanOption
		if slices.Contains(old, r.Table) {
			options = append(options, table.WithSnapshotID(t.Metadata().Snapshots()[0].SnapshotID))
		}
		if err := r.read(ctx, t.Scan(options...)); err != nil {
			return fmt.Errorf("%v: %w", ident, err)
		}
		if err := out.Encode(r); err != nil {
			return err
		}
	}
	return nil
}

func (r *result) read(ctx context.Context, scan *table.Scan) error {
	_, batches, err := scan.ToArrowRecords(ctx)
	if err != nil {
		return err
	}
	for b, err := range batches {
		if err != nil {
			return err
		}
		r.Rows += b.NumRows()
		for i, f := range b.Schema().Fields() {
			for row := range int(b.NumRows()) {
				r.Columns[f.Name] += hash(text(b.Column(i), row))
			}
		}
		b.Release()
	}
	return nil
}

// hash returns the first 32 bits of the MD5 of a text.
func hash(text string) int64 {
	sum := md5.Sum([]byte(text))
	return int64(binary.BigEndian.Uint32(sum[:]))
}

// text returns a value as text; a time is in microseconds since 1970.
func text(column arrow.Array, row int) string {
	if column.IsNull(row) {
		return "null"
	}
	switch c := column.(type) {
	case *array.Timestamp:
		return strconv.FormatInt(int64(c.Value(row)), 10)
	case *array.Dictionary:
		return text(c.Dictionary(), c.GetValueIndex(row))
	case *array.Boolean:
		return strconv.FormatBool(c.Value(row))
	}
	return column.ValueStr(row)
}
