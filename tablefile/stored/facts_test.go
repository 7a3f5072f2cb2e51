package stored

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/schema"
	"stackmill/tablefile"
)

// functionRows are rows of functions: the number, a name, and the size, which is missing
// where it says how often clone_of is.
func functionRows(t *testing.T, id string, rows ...string) (batch arrow.RecordBatch) {
	t.Helper()
	b := schema.NewRows(schema.Functions, id, func(_ *schema.Table, rows arrow.RecordBatch) error {
		rows.Retain()
		batch = rows
		return nil
	})
	for _, row := range rows {
		var number int32
		var name string
		var clone int64
		if _, err := fmt.Sscan(row, &number, &name, &clone); err != nil {
			t.Fatal(err)
		}
		var of any
		if clone > 0 {
			of = clone
		}
		b.Append(number, int64(7), int64(8), int64(9), name, nil, "", nil, nil, "normal", int64(1), int64(2), int64(3), of, nil, nil, int32(0), int32(5), "object")
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	return batch
}

// shown writes columns of rows.
func shown(rows arrow.RecordBatch, columns ...string) (list []string) {
	named := schema.Events{RecordBatch: rows}
	for i := range int(rows.NumRows()) {
		var row []string
		for _, c := range columns {
			row = append(row, named.Column(c).ValueStr(i))
		}
		list = append(list, strings.Join(row, " "))
	}
	return list
}

// Facts that rows have in common are stored once, missing values are not zero or empty, and
// what is read is what was written.
func TestFacts(t *testing.T) {
	given := []arrow.RecordBatch{
		functionRows(t, "a", "0 f 0", "1 g 0", "2 g 4"),
		functionRows(t, "b", "5 g 4", "6 h 0", "7 f 0", "8 i 0"),
		functionRows(t, "c", "0 i 0"),
	}
	split := tablefile.NewSplitter(schema.Functions)
	var owns []arrow.RecordBatch
	var file bytes.Buffer
	w, err := tablefile.New(&file, schema.Functions.Facts, tablefile.Quick)
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range given {
		own, facts, err := split.Split(rows)
		if err != nil {
			t.Fatal(err)
		}
		if owns = append(owns, own); facts != nil {
			if err := w.Write(facts); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	facts, err := ReadFacts(t.Context(), bytes.NewReader(file.Bytes()), schema.Functions)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := shown(facts.rows, schema.ListedIn, "fact", "name", "clone_of", "other_perf_name", "other_gprofng_name"),
		[]string{"a 0 f (null)  (null)", "a 1 g (null)  (null)", "a 2 g 4  (null)", "a 3 h (null)  (null)", "a 4 i (null)  (null)"}; !slices.Equal(got, want) {
		t.Errorf("facts %q, want %q", got, want)
	}
	columns := schema.Functions.Stored().Fields()
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	for i, rows := range given {
		joined, err := facts.Join(owns[i], names)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := shown(joined, names...), shown(rows, names...); !slices.Equal(got, want) {
			t.Errorf("rows %q, want %q", got, want)
		}
	}
}

// Rows without facts and facts in disorder are errors.
func TestWrongFacts(t *testing.T) {
	own, some, err := tablefile.NewSplitter(schema.Functions).Split(functionRows(t, "a", "0 f 0", "1 g 0"))
	if err != nil {
		t.Fatal(err)
	}
	read := func(rows arrow.RecordBatch) (*Facts, error) {
		var file bytes.Buffer
		w, err := tablefile.New(&file, schema.Functions.Facts, tablefile.Quick)
		if err == nil {
			err = w.Write(rows)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		return ReadFacts(t.Context(), bytes.NewReader(file.Bytes()), schema.Functions)
	}
	first, err := read(some.NewSlice(0, 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Join(own, []string{"name"}); err == nil || !strings.Contains(err.Error(), "function_facts has 1 rows, there is none with number 1") {
		t.Errorf("the second row has no facts: %v", err)
	}
	if _, err := read(some.NewSlice(1, 2)); err == nil || !strings.Contains(err.Error(), "row 0 has number 1") {
		t.Errorf("the first facts are missing: %v", err)
	}
	labelled := array.NewRecordBatch(schema.Functions.Own.Arrow(), own.Columns(), own.NumRows())
	if _, _, err := tablefile.NewSplitter(schema.Functions).Split(labelled); err == nil {
		t.Error("rows of another table are split")
	}
}
