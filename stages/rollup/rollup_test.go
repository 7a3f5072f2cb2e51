package rollup

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/google/go-cmp/cmp"

	"stackmill/schema"
)

// collected returns a collector of two experiments with the functions main and work of a
// program, whose numbers differ.
func collected(t *testing.T) *Collector {
	t.Helper()
	c := &Collector{}
	for _, e := range []struct {
		id         string
		main, work int32
	}{{"bb", 0, 1}, {"aa", 1, 0}} {
		add(t, c, schema.FunctionValues, e.id,
			[]any{int32(56), "wait", e.main, int64(0), int64(9)},
			[]any{int32(7), "wait", e.main, int64(0), int64(9)},
			[]any{int32(7), "cpu", e.work, int64(4), int64(5)},
			[]any{int32(56), "cpu", e.work, int64(3), int64(5)},
			[]any{int32(7), "cpu", e.main, int64(1), int64(6)})
		add(t, c, schema.LoadObjects, e.id, []any{int64(1), "prog", "/prog", "", int64(0), "elf", "path", int64(2), true})
		add(t, c, schema.Modules, e.id, []any{int64(2), int64(1), "/src/a.c", "c"})
		function := func(n int32, id int64, name string, linkage any) []any {
			return []any{n, id, int64(1), int64(2), name, nil, nil, linkage, nil, "normal", id, id, int64(8), nil, nil, nil, int32(0)}
		}
		add(t, c, schema.Functions, e.id, function(e.main, 11, "main", nil), function(e.work, 12, "work()", "_Z4workv"))
	}
	return c
}

func add(t *testing.T, c *Collector, table *schema.Table, id string, rows ...[]any) {
	t.Helper()
	r := schema.NewRows(table, id, func(t *schema.Table, rows arrow.RecordBatch) error { return c.Add(t, rows) })
	for _, row := range rows {
		r.Append(row...)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// Rows are sorted by metric, modes, function and experiment, whatever the order in which
// experiments come; modes with the same values share a row.
func TestRows(t *testing.T) {
	var got []string
	err := collected(t).Rows(func(_ *schema.Table, rows arrow.RecordBatch) error {
		for n := range int(rows.NumRows()) {
			var row []string
			for i := range rows.Columns() {
				if i != 4 { // function_key, which the views' invariants prove
					row = append(row, rows.Column(i).ValueStr(n))
				}
			}
			got = append(got, strings.Join(row, " "))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"aa cpu 7 11 main prog /src/a.c normal 1 6",
		"bb cpu 7 11 main prog /src/a.c normal 1 6",
		"aa cpu 7 12 work() prog /src/a.c normal 4 5",
		"bb cpu 7 12 work() prog /src/a.c normal 4 5",
		"aa cpu 56 12 work() prog /src/a.c normal 3 5",
		"bb cpu 56 12 work() prog /src/a.c normal 3 5",
		"aa wait 63 11 main prog /src/a.c normal 0 9",
		"bb wait 63 11 main prog /src/a.c normal 0 9",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A key names a function in builds of other directories.
func TestKey(t *testing.T) {
	if key("prog", "/one/a.c", "f") != key("prog", "/two/a.c", "f") {
		t.Error("the module's directory counts")
	}
	if key("prog", "a.c", "f") == key("prog", "a.c", "g") {
		t.Error("the name does not count")
	}
}

// Values of a function without a name do not disappear.
func TestNameless(t *testing.T) {
	c := &Collector{}
	add(t, c, schema.FunctionValues, "aa", []any{int32(7), "cpu", int32(3), int64(4), int64(5)})
	if c.Empty() {
		t.Error("it has values")
	}
	if err := c.Rows(func(*schema.Table, arrow.RecordBatch) error { return nil }); err == nil {
		t.Error("no error")
	}
}
