package parquetfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"stackmill/schema"
)

// kinds are the tested sequences of a column's values.
var kinds = []string{"equal", "repeating", "ascending", "random", "extreme", "missing"}

// wide returns the value of a row in such a sequence.
func wide(kind string, row int, r *rand.Rand) any {
	switch kind {
	case "repeating":
		return int64(row/3%1000) * 1e9
	case "ascending":
		return 1e15 + 1000*int64(row) + r.Int64N(900)
	case "random":
		return int64(r.Uint64())
	case "extreme":
		return []int64{math.MinInt64, math.MaxInt64, 0, -1}[r.IntN(4)]
	}
	return int64(7)
}

func narrow(kind string, row int, r *rand.Rand) any {
	switch kind {
	case "repeating":
		return int32(row / 3 % 1000)
	case "ascending":
		return int32(row + r.IntN(5))
	case "random":
		return int32(r.Uint32())
	case "extreme":
		return []int32{math.MinInt32, math.MaxInt32, 0, -1}[r.IntN(4)]
	}
	return int32(7)
}

func text(kind string, row int, r *rand.Rand) any {
	switch kind {
	case "repeating":
		return fmt.Sprint("name", row/3%100)
	case "ascending", "random":
		return fmt.Sprint(r.Uint64())
	case "extreme":
		return []string{"", strings.Repeat("long", 1+r.IntN(90)), "\x00"}[r.IntN(3)]
	}
	return "x"
}

func label(kind string, row int, r *rand.Rand) any {
	return []string{"", "a", "b", "one", "two"}[min(r.IntN(5), len(kind)-4)]
}

func cell(c *schema.Column, kind string, row int, r *rand.Rand) any {
	if c.Null && (kind == "missing" || kind != "equal" && r.IntN(3) == 0) {
		return nil
	}
	switch c.Type {
	case schema.Int64:
		return wide(kind, row, r)
	case schema.Int32:
		return narrow(kind, row, r)
	case schema.Bool:
		return kind != "equal" && r.IntN(2) == 0
	case schema.Time:
		return arrow.Timestamp(wide(kind, row, r).(int64))
	case schema.Label:
		return label(kind, row, r)
	}
	return text(kind, row, r)
}

// batchName is the batch of the tables' files, and the value of schema.ListedIn.
const batchName = "b0123456789abcdef"

// written returns a table's file and the batches that are in it.
func written(t *testing.T, table *schema.Table, effort Effort, n int, kind string) ([]byte, []arrow.RecordBatch) {
	t.Helper()
	var out bytes.Buffer
	w, err := New(&out, table, effort, "key", "value")
	if err != nil {
		t.Fatal(err)
	}
	if effort == Thorough { // as for a merge, whose name is known
		w.SetBatch(batchName)
	}
	var batches []arrow.RecordBatch
	rows := schema.NewRows(table, "0123456789abcdef", func(_ *schema.Table, b arrow.RecordBatch) error {
		b.Retain()
		batches = append(batches, b)
		return w.Write(b)
	})
	r := rand.New(rand.NewPCG(uint64(n), 1))
	row := make([]any, len(table.Columns)-1)
	for i := range n {
		for j := range row {
			row[j] = cell(&table.Columns[j+1], kind, i, r)
		}
		rows.Append(row...)
	}
	w.SetBatch(batchName)
	if err := errors.Join(rows.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), batches
}

// all returns a column of a file's batches as one array, of text where it is a dictionary.
func all(t *testing.T, table *schema.Table, batches []arrow.RecordBatch, column int) arrow.Array {
	t.Helper()
	var parts []arrow.Array
	for _, b := range batches {
		a := b.Column(column)
		if labels, ok := a.(*array.Dictionary); ok && table.Columns[column].Name == schema.ListedIn {
			names := array.NewStringBuilder(memory.DefaultAllocator)
			names.AppendValues(slices.Repeat([]string{batchName}, labels.Len()), nil)
			a = names.NewArray()
		} else if ok {
			names := array.NewStringBuilder(memory.DefaultAllocator)
			for i := range labels.Len() {
				if labels.IsNull(i) {
					names.AppendNull()
				} else {
					names.Append(labels.Dictionary().(*array.String).Value(labels.GetValueIndex(i)))
				}
			}
			a = names.NewArray()
		}
		parts = append(parts, a)
	}
	joined, err := array.Concatenate(parts, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	return joined
}

func open(t *testing.T, data []byte) *file.Reader {
	t.Helper()
	f, err := file.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// arrow-go reads the values that were written, in every table, for each kind of sequence.
func TestRoundTrip(t *testing.T) {
	for _, kind := range kinds {
		for _, n := range []int{0, 1, 8, fewestValues, 5000} {
			for _, table := range schema.Tables {
				compare(t, table, Quick, n, kind)
				if n == fewestValues {
					compare(t, table, Thorough, n, kind)
				}
			}
		}
		for _, table := range []*schema.Table{schema.PerfSamples, schema.IOFiles, schema.Instructions, schema.Listings} {
			compare(t, table, Quick, RowGroupRows+5, kind)
		}
		compare(t, schema.Instructions, Thorough, RowGroupRows+5, kind)
	}
}

func compare(t *testing.T, table *schema.Table, effort Effort, n int, kind string) {
	t.Helper()
	data, batches := written(t, table, effort, n, kind)
	f := open(t, data)
	if v := f.MetaData().KeyValueMetadata().FindValue("key"); v == nil || *v != "value" {
		t.Error("the footer lacks what was to be in it")
	}
	if got, want := f.NumRowGroups(), (n+RowGroupRows-1)/RowGroupRows; got != want || f.NumRows() != int64(n) {
		t.Errorf("%d rows in %d row groups, want %d", f.NumRows(), got, want)
	}
	r, err := pqarrow.NewFileReader(f, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	read, err := r.ReadTable(context.Background())
	if err != nil {
		t.Fatalf("%s, %d rows, %s: %v", table.Name, n, kind, err)
	}
	if n == 0 {
		return
	}
	for i, c := range table.Columns {
		got, err := array.Concatenate(read.Column(i).Data().Chunks(), memory.DefaultAllocator)
		if err != nil {
			t.Fatal(err)
		}
		if want := all(t, table, batches, i); !array.Equal(got, want) {
			t.Errorf("%s.%s, %d rows, %s: other values", table.Name, c.Name, n, kind)
		}
	}
}

// Row groups end where they are full, whatever the sizes of batches. Other rows wait.
func TestRowGroups(t *testing.T) {
	var files []string
	for _, size := range []int64{1, 7, 40} {
		var out bytes.Buffer
		w, err := New(&out, schema.SourceLines, Quick)
		if err != nil {
			t.Fatal(err)
		}
		rows := schema.NewRows(schema.SourceLines, "e", func(_ *schema.Table, b arrow.RecordBatch) error {
			for from := int64(0); from < b.NumRows(); from += size {
				if err := w.Write(b.NewSlice(from, min(from+size, b.NumRows()))); err != nil {
					return err
				}
			}
			return nil
		})
		for i := range 40 {
			rows.Append(int32(0), int32(i), strings.Repeat("x", RowGroupText/10))
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
		if n := w.Pending(); n < 7*(RowGroupText/10) || n >= 8*(RowGroupText/10) {
			t.Errorf("%d wait of 7 rows", n)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if n := w.Pending(); n != 0 {
			t.Errorf("%d wait of a closed file", n)
		}
		files = append(files, out.String())
		if f := open(t, out.Bytes()); f.NumRowGroups() != 4 || f.RowGroup(0).NumRows() != 11 {
			t.Errorf("%d row groups, the first of %d rows", f.NumRowGroups(), f.RowGroup(0).NumRows())
		}
	}
	if files[0] != files[1] || files[0] != files[2] {
		t.Error("the file depends on batches")
	}
}

// Each column of a row group has its smallest and largest value and the number of missing ones, so
// that readers can skip the row group.
func TestStatistics(t *testing.T) {
	for _, table := range schema.Tables {
		for _, n := range []int{3, 1000} {
			data, batches := written(t, table, Quick, n, "repeating")
			f := open(t, data)
			for i, c := range table.Columns {
				chunk, err := f.MetaData().RowGroup(0).ColumnChunk(i)
				if err != nil {
					t.Fatal(err)
				}
				stats, err := chunk.Statistics()
				if err != nil || stats == nil {
					t.Fatalf("%s.%s: no statistics, %v", table.Name, c.Name, err)
				}
				values := all(t, table, batches, i)
				if stats.NullCount() != int64(values.NullN()) || stats.HasMinMax() != (values.NullN() < n) {
					t.Errorf("%s.%s: %d missing, bounds %v", table.Name, c.Name, stats.NullCount(), stats.HasMinMax())
				}
				if want, ok := bounds(values); ok && string(stats.EncodeMin())+string(stats.EncodeMax()) != want {
					t.Errorf("%s.%s: bounds %q and %q, want %q", table.Name, c.Name, stats.EncodeMin(), stats.EncodeMax(), want)
				}
			}
		}
	}
}

// bounds returns the encoded bounds of texts that are not missing, one after the other.
func bounds(a arrow.Array) (string, bool) {
	texts, ok := a.(*array.String)
	if !ok {
		return "", false
	}
	var known []string
	for i := range texts.Len() {
		if !texts.IsNull(i) {
			known = append(known, texts.Value(i))
		}
	}
	if len(known) == 0 {
		return "", false
	}
	return slices.Min(known) + slices.Max(known), true
}

// Columns have the declared encoding, or the smaller one for the row group's values.
func TestEncodings(t *testing.T) {
	used := func(table *schema.Table, column, kind string) parquet.Encoding {
		data, _ := written(t, table, Quick, 5000, kind)
		chunk, err := open(t, data).MetaData().RowGroup(0).ColumnChunk(table.Index(column))
		if err != nil {
			t.Fatal(err)
		}
		return chunk.Encodings()[0]
	}
	for _, test := range []struct {
		column, kind string
		want         parquet.Encoding
	}{
		{"experiment_id", "random", parquet.Encodings.RLEDict},
		{"kind", "random", parquet.Encodings.RLEDict},
		{"sample", "ascending", parquet.Encodings.DeltaBinaryPacked},
		{"time_ns", "repeating", parquet.Encodings.DeltaBinaryPacked},
		{"thread_id", "repeating", parquet.Encodings.RLEDict},
		{"thread_id", "random", parquet.Encodings.Plain},
		{"stack", "repeating", parquet.Encodings.RLEDict},
		{"stack", "ascending", parquet.Encodings.DeltaBinaryPacked},
	} {
		if got := used(schema.Samples, test.column, test.kind); got != test.want {
			t.Errorf("%s, %s: %v, want %v", test.column, test.kind, got, test.want)
		}
	}
}

// failing is a disk that is full.
type failing struct{ room int }

func (f *failing) Write(data []byte) (int, error) {
	if f.room -= len(data); f.room < 0 {
		return 0, fmt.Errorf("no space")
	}
	return len(data), nil
}

// A write error is returned, then and later.
func TestFailure(t *testing.T) {
	for _, room := range []int{0, 100, 5000} {
		w, err := New(&failing{room}, schema.Samples, Quick)
		if err != nil {
			t.Fatal(err)
		}
		_, batches := written(t, schema.Samples, Quick, 5000, "random")
		for _, b := range batches {
			if err := w.Write(b); err != nil {
				t.Error(err)
			}
		}
		if err := w.Close(); err == nil {
			t.Errorf("%d bytes: no failure", room)
		}
		if err := w.Write(batches[0]); err == nil {
			t.Error("the failure is forgotten")
		}
	}
}

// More effort makes a smaller file.
func TestThorough(t *testing.T) {
	quick, _ := written(t, schema.HeapSamples, Quick, 5000, "repeating")
	thorough, _ := written(t, schema.HeapSamples, Thorough, 5000, "repeating")
	if len(thorough) >= len(quick) {
		t.Errorf("%d bytes with more effort, %d with less", len(thorough), len(quick))
	}
}

// The texts of a dictionary ascend, and numbers keep their texts.
func TestTextsSort(t *testing.T) {
	var texts textColumn
	texts.reset()
	list := []string{"mov %rax", "add %rax", "mov %rax", "mov", "", "ret"}
	var numbers []int32
	for _, text := range list {
		numbers = append(numbers, texts.intern(text))
	}
	sortNumbered(texts.names, numbers)
	if !slices.IsSorted(texts.names) {
		t.Errorf("%q do not ascend", texts.names)
	}
	for i, n := range numbers {
		if texts.names[n] != list[i] {
			t.Errorf("%q has the number of %q", list[i], texts.names[n])
		}
	}
}
