package rollup

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"unsafe"

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
		addExperiment(t, c, e.id, e.main, e.work,
			[]any{int32(56), "wait", e.main, int64(0), int64(9)},
			[]any{int32(7), "wait", e.main, int64(0), int64(9)},
			[]any{int32(7), "cpu", e.work, int64(4), int64(5)},
			[]any{int32(56), "cpu", e.work, int64(3), int64(5)},
			[]any{int32(7), "cpu", e.main, int64(1), int64(6)})
	}
	return c
}

// addExperiment adds an experiment with these values of its functions, by their numbers.
func addExperiment(t *testing.T, c *Collector, id string, main, work int32, values ...[]any) {
	t.Helper()
	add(t, c, schema.FunctionValues, id, values...)
	add(t, c, schema.Metrics, id, []any{"cpu", "CPU", "ns", "clock", false, false}, []any{"wait", "Wait", "count", "sync", false, false})
	add(t, c, schema.LoadObjects, id, []any{int64(1), "prog", "/prog", "", int64(0), "elf", "path", int64(2), true, "prog"})
	add(t, c, schema.Modules, id, []any{int64(2), int64(1), "/src/a.c", "c", "a.c"})
	function := func(n int32, id int64, name string, linkage any) []any {
		return []any{n, id, int64(1), int64(2), name, nil, nil, linkage, nil, "normal", id, id, int64(8), nil, nil, nil, int32(0), int32(0), "object"}
	}
	add(t, c, schema.Functions, id, function(main, 11, "main", nil), function(work, 12, "work()", "_Z4workv"))
}

func add(t *testing.T, c *Collector, table *schema.Table, id string, rows ...[]any) {
	t.Helper()
	r := schema.NewRows(table, id, func(t *schema.Table, rows arrow.RecordBatch) error { return c.Add(t, rows) })
	for _, row := range rows {
		if table.Modes() != 0 {
			r.Modes(row[0].(int32))
			row = row[1:]
		}
		r.Append(row...)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// Rows are sorted by metric, modes, function and experiment, in whatever order experiments are
// added; modes with the same values share a row.
func TestRows(t *testing.T) {
	got := texted(t, collected(t).Rows)
	want := []string{
		"aa cpu ns 7 11 main prog /src/a.c normal 1 6",
		"bb cpu ns 7 11 main prog /src/a.c normal 1 6",
		"aa cpu ns 7 12 work() prog /src/a.c normal 4 5",
		"bb cpu ns 7 12 work() prog /src/a.c normal 4 5",
		"aa cpu ns 56 12 work() prog /src/a.c normal 3 5",
		"bb cpu ns 56 12 work() prog /src/a.c normal 3 5",
		"aa wait count 63 11 main prog /src/a.c normal 0 9",
		"bb wait count 63 11 main prog /src/a.c normal 0 9",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// texted returns rows as texts, without function_key, which the views' invariants prove.
func texted(t *testing.T, emitted func(func(*schema.Table, arrow.RecordBatch) error) error) (list []string) {
	t.Helper()
	err := emitted(func(table *schema.Table, rows arrow.RecordBatch) error {
		for n := range int(rows.NumRows()) {
			var row []string
			for i, c := range table.Columns {
				switch {
				case c.Name == schema.Modes[0]:
					row = append(row, fmt.Sprint(schema.ModesOf(rows)[n]))
				case c.Type != schema.Bool && c.Name != "function_key":
					row = append(row, rows.Column(i).ValueStr(n))
				}
			}
			list = append(list, strings.Join(row, " "))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Sums have a row for each function of all experiments. A sum that would overflow continues in
// another row.
func TestSums(t *testing.T) {
	var sums Sums
	add := func(_ *schema.Table, rows arrow.RecordBatch) error { sums.Add(rows); return nil }
	if err := collected(t).Rows(add); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"cpu ns 7 main prog /src/a.c normal 2 12",
		"cpu ns 7 work() prog /src/a.c normal 8 10",
		"cpu ns 56 work() prog /src/a.c normal 6 10",
		"wait count 63 main prog /src/a.c normal 0 18",
	}
	if diff := cmp.Diff(want, texted(t, sums.Rows)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if !sums.Empty() {
		t.Error("the rows are still there")
	}
	large := &Collector{}
	for _, id := range []string{"aa", "bb"} {
		addExperiment(t, large, id, 0, 1, []any{int32(7), "cpu", int32(0), int64(1), int64(math.MaxInt64 - 5)})
	}
	if err := large.Rows(add); err != nil {
		t.Fatal(err)
	}
	want = slices.Repeat([]string{fmt.Sprint("cpu ns 7 main prog /src/a.c normal 1 ", math.MaxInt64-5)}, 2)
	if diff := cmp.Diff(want, texted(t, sums.Rows)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A key depends only on the parts that its scope names.
func TestKey(t *testing.T) {
	if key("object", 1, "prog", "a.c", "f") != key("object", 2, "prog", "b.c", "f") {
		t.Error("the module counts for a name of the load object")
	}
	if key("module", 1, "prog", "x/a.c", "f") == key("module", 1, "prog", "y/a.c", "f") {
		t.Error("the module does not count for a name of a module")
	}
	if key("object", 1, "prog", "a.c", "f") == key("object", 1, "prog", "a.c", "g") {
		t.Error("the name does not count")
	}
	if key("build", 7, "prog", "a.c", "f") != 7 {
		t.Error("a function that only its place distinguishes has another key than its identifier")
	}
}

// Texts that experiments of a batch share are kept once, as copies outside of the rows' memory.
func TestShared(t *testing.T) {
	c := collected(t)
	if len(c.functions.list) != 2 {
		t.Errorf("%d functions, not 2", len(c.functions.list))
	}
	want := []string{"", "/src/a.c", "_Z4workv", "a.c", "object", "clock", "count", "cpu", "main", "normal", "ns", "prog", "sync", "wait", "work()"}
	for _, text := range c.texts.list {
		if !slices.Contains(want, text) {
			t.Errorf("text %q", text)
		}
	}
	if n := len(c.texts.list); n > len(want) {
		t.Errorf("%d texts", n)
	}
	text := []byte("one")
	var n textInterner
	n.internCopy(unsafe.String(&text[0], len(text)))
	text[0] = 'x'
	if n.list[0] != "one" || n.internCopy("one") != 0 {
		t.Errorf("%q was not copied", n.list)
	}
}

// A function without a module does not get the module of another function.
func TestNoModule(t *testing.T) {
	c := collected(t)
	add(t, c, schema.FunctionValues, "cc", []any{int32(7), "cpu", int32(0), int64(1), int64(6)})
	add(t, c, schema.Metrics, "cc", []any{"cpu", "CPU", "ns", "clock", false, false})
	add(t, c, schema.Functions, "cc", []any{int32(0), int64(11), int64(1), int64(2), "main", nil, nil, nil, nil, "normal", int64(11), int64(11), int64(8), nil, nil, nil, int32(0), int32(0), "object"})
	if got, want := texted(t, c.Rows)[0], "cc cpu ns 7 11 main   normal 1 6"; got != want {
		t.Errorf("%q, want %q", got, want)
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
