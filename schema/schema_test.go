package schema

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Every table, except for sums over experiments, begins with the experiment or a shared list; no
// table has a column twice, and each column has a description.
func TestTables(t *testing.T) {
	seen := map[string]bool{}
	for _, table := range Tables {
		if seen[table.Name] || table.Row == "" {
			t.Errorf("table %s: named twice, or its rows are not described", table.Name)
		}
		seen[table.Name] = true
		if (table.Shown()[0].Name == "experiment_id") != (table != FunctionSums) || (table.Columns[0].Name == ListedIn) != (table.Links != nil) {
			t.Errorf("table %s does not begin with the experiment", table.Name)
		}
		if l := table.Links; l != nil && (!seen[l.Name] || table.Columns[0].Name != l.Columns[l.Index(ListedIn)].Name || table.Columns[1].Name != l.Columns[l.Index(ListedIn)+1].Name) {
			t.Errorf("table %s is not linked by %s", table.Name, l.Name)
		}
		columns := map[string]bool{}
		for _, c := range table.Columns {
			if columns[c.Name] || c.Doc == "" {
				t.Errorf("%s.%s: named twice, or not described", table.Name, c.Name)
			}
			columns[c.Name] = true
			if (c.Encoding == Delta || c.Encoding == DictOrDelta) && c.Type != Int64 && c.Type != Int32 {
				t.Errorf("%s.%s: delta encoding is for integers", table.Name, c.Name)
			}
		}
	}
}

// Every table has a key among its columns, unless its rows may be equal.
func TestKeys(t *testing.T) {
	equal := map[*Table]string{Segments: "a recording may report a mapping twice", FunctionSums: "sums that are too large go on in another row"}
	for _, table := range Tables {
		if (len(table.Key) == 0) != (equal[table] != "") {
			t.Errorf("table %s has key %q", table.Name, table.Key)
		}
		for i, c := range table.Key {
			if !slices.ContainsFunc(table.Shown(), func(s Column) bool { return s.Name == c }) || slices.Contains(table.Key[:i], c) || (i == 0) != (c == "experiment_id") {
				t.Errorf("table %s: key %q", table.Name, table.Key)
			}
		}
	}
}

// The metrics refer to columns of their kind's table.
func TestMetricsReferToColumns(t *testing.T) {
	names := map[string]bool{}
	for _, m := range Declared {
		if names[m.Name] {
			t.Errorf("metric %s is declared twice", m.Name)
		}
		names[m.Name] = true
		has := map[string]bool{"": true, "thread_id": true}
		for _, c := range SampleTable(m.Kind).Columns {
			has[c.Name] = true
		}
		if !has[m.Value] {
			t.Errorf("metric %s: no column %s", m.Name, m.Value)
		}
		for _, all := range m.Where {
			for _, c := range all {
				if !has[c.Column] {
					t.Errorf("metric %s: no column %s", m.Name, c.Column)
				}
			}
		}
	}
}

func TestID(t *testing.T) {
	a := NewID("x").Text("ab").Text("c").Sum()
	if b := NewID("x").Text("a").Text("bc").Sum(); a == b {
		t.Error("the border between parts does not count")
	}
	if b := NewID("y").Text("ab").Text("c").Sum(); a == b {
		t.Error("the kind does not count")
	}
	// The hash must never change: one query may read stores of different machines and versions.
	if want := int64(493325990721117314); a != want {
		t.Errorf("identifiers changed: %d, was %d", a, want)
	}
}

func TestRowsFlushFullBatches(t *testing.T) {
	var sizes []int64
	var last string
	rows := NewRows(Metrics, "e", func(_ *Table, b arrow.RecordBatch) error {
		sizes = append(sizes, b.NumRows())
		last = b.Column(2).(*array.String).Value(int(b.NumRows()) - 1)
		return nil
	})
	for range RowsAtOnce {
		rows.Append("m", "first", "", "", false, false)
	}
	rows.Append("m", "last", "", "", false, false)
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	if len(sizes) != 2 || sizes[0] != RowsAtOnce || sizes[1] != 1 || last != "last" {
		t.Errorf("batches %v, last %s", sizes, last)
	}
}

// Long texts make batches of fewer rows.
func TestRowsFlushText(t *testing.T) {
	var sizes []int64
	rows := NewRows(Metrics, "e", func(_ *Table, b arrow.RecordBatch) error {
		sizes = append(sizes, b.NumRows())
		return nil
	})
	for range 5 {
		rows.Append("m", strings.Repeat("x", BatchText/2), "", "", false, false)
	}
	if err := rows.Close(); err != nil || !slices.Equal(sizes, []int64{2, 2, 1}) {
		t.Errorf("batches %v, %v", sizes, err)
	}
}

// If rows have equal identifiers, they get different ones, which only depend on the rows.
func TestIDs(t *testing.T) {
	add := func() (ids []int64) {
		taken := IDs{}
		for _, more := range []string{"", "more", "more", "other"} {
			ids = append(ids, taken.Add("thing", 7, more))
		}
		for id := range int64(1000) {
			if known := id == 7 || slices.Contains(ids, id); taken.Has(id) != known || !known && taken.Add("thing", id, "") != id {
				t.Errorf("identifier %d is known: %t", id, !known)
			}
		}
		return ids
	}
	ids := add()
	for i, id := range ids {
		if slices.Contains(ids[:i], id) || id < 0 {
			t.Errorf("identifiers %d", ids)
		}
	}
	if ids[0] != 7 || !slices.Equal(ids, add()) {
		t.Errorf("identifiers %d, then %d", ids, add())
	}
}

// A row is the same whether appended value by value or as a whole; missing values are NULL.
func TestRowsByValue(t *testing.T) {
	var batches []arrow.RecordBatch
	flush := func(_ *Table, b arrow.RecordBatch) error {
		b.Retain()
		batches = append(batches, b)
		return nil
	}
	whole := NewRows(DataSamples, "e", flush)
	whole.Append(int64(1), int64(7), nil, "a", int64(3), "agrees", nil)
	whole.Append(int64(2), int64(7), int64(1), "b", nil, "agrees", int64(5))
	single := NewRows(DataSamples, "e", flush).Labels("method", "a", "b").Labels("agreement", "agrees")
	single.Int64(1).Int64(7).Null().Label(0).Int64(3).Label(0).Null()
	single.Int64(2).Int64(7).Int64(1).Label(1).Null().Label(0).Int64(5)
	if err := errors.Join(whole.Close(), single.Close()); err != nil {
		t.Fatal(err)
	}
	if len(batches) != 2 || !array.RecordEqual(batches[0], batches[1]) {
		t.Errorf("batches %v", batches)
	}
	if at := batches[1].Column(DataSamples.Index("location_id")).(*array.Int64); at.NullN() != 1 || !at.IsNull(0) || at.Value(1) != 1 {
		t.Errorf("locations %v", at)
	}
}

// Missing values are NULL anywhere in a batch: in the first row, the last, or before many values.
func TestNulls(t *testing.T) {
	missing := func(row int) bool {
		return row%RowsAtOnce == 3 || row == 500 || row == RowsAtOnce-1 || row == 2*RowsAtOnce
	}
	row := 0
	rows := NewRows(DataSamples, "e", func(_ *Table, b arrow.RecordBatch) error {
		ids, all := b.Column(DataSamples.Index("location_id")).(*array.Int64), 0
		for i := range ids.Len() {
			if ids.IsNull(i) != missing(row) || !ids.IsNull(i) && ids.Value(i) != int64(row) {
				t.Errorf("row %d: %s", row, ids.ValueStr(i))
			}
			if missing(row) {
				all++
			}
			row++
		}
		if ids.NullN() != all {
			t.Errorf("%d of %d are null", ids.NullN(), all)
		}
		return nil
	}).Labels("method", "a").Labels("agreement", "agrees")
	const n = 2*RowsAtOnce + 20
	for i := range n {
		rows.Int64(int64(i)).Int64(7)
		if missing(i) {
			rows.Null()
		} else {
			rows.Int64(int64(i))
		}
		rows.Label(0).Int64(3).Label(0).Int64(5)
	}
	if err := rows.Close(); err != nil || row != n {
		t.Error(row, err)
	}
}
