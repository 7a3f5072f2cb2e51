package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stackmill/queries"
	"stackmill/queries/storetest"
)

// namesakes describes experiments base-0.er and test-0.er, built in different folders, with two
// load objects, source files and structures of one name each. Side 0 spends 1000 in those of folder a and 200
// in those of folder b, side 1 the other way round. A side may lack folder b.
func namesakes(lacking map[int]bool) string {
	var b strings.Builder
	for side, name := range []string{"base", "test"} {
		fmt.Fprintf(&b, "batch %016x %s-0.er /data/%s-0.er\n", side+1, name, name)
		fmt.Fprintf(&b, "experiments experiment format target duration_ns status\n  %s-0.er gprofng app 1000ms complete\n", name)
		b.WriteString("metrics metric title unit kind data_objects\n  m M ns heap 1\n")
		objects := "load_objects load_object_id name path short_path kind\n  901 <Total> <Total> <Total> artificial\n  902 app /bin/app app elf\n"
		modules := "modules module_id load_object_id name short_path\n  801 901 (unknown) (unknown)\n"
		functions := "functions function_no function_id load_object_id module_id name other_linkage_name kind\n  1 1 901 801 <Total> '' artificial\n"
		data := "data_objects data_object_id parent_id descriptor kind scope scope_kind load_object_id\n  1001 null <Total> total '' '' null\n"
		values := map[string]string{}
		total := 0
		for n, folder := range []string{"a", "b"} {
			if folder == "b" && lacking[side] {
				continue
			}
			value, short := []int{1000, 200}[(n+side)%2], folder+"/"
			if lacking[side] {
				short = ""
			}
			file := fmt.Sprintf("/build%d/%s/util.c", side, folder)
			objects += fmt.Sprintf("  %d libx.so /build%d/%s/libx.so %slibx.so elf\n", 903+n, side, folder, short)
			modules += fmt.Sprintf("  %d %d %s %sutil.c\n", 803+n, 903+n, file, short)
			functions += fmt.Sprintf("  %d %d %d %d f%s f%s normal\n", 10+n, 10+n, 903+n, 803+n, folder, folder)
			data += fmt.Sprintf("  %d 1001 {structure:rec_t} aggregate %s compilation~unit %d\n", 1010+n, file, 903+n)
			values["function_values modes metric function_no exclusive inclusive"] += fmt.Sprintf("  7 m %d %dms %dms\n", 10+n, value, value)
			values["object_values modes metric load_object_id exclusive inclusive"] += fmt.Sprintf("  7 m %d %dms %dms\n", 903+n, value, value)
			values["source_values modes metric file line exclusive inclusive"] += fmt.Sprintf("  7 m %s 5 %dms %dms\n", file, value, value)
			values["data_values metric data_object_id value samples"] += fmt.Sprintf("  m %d %dms 1\n", 1010+n, value)
			total += value
		}
		values["function_values modes metric function_no exclusive inclusive"] += fmt.Sprintf("  7 m 1 %dms %dms\n", total, total)
		b.WriteString(objects + modules + functions + data)
		for table, rows := range values {
			b.WriteString(table + "\n" + rows)
		}
	}
	return b.String()
}

// Load objects, files and structures of one name stay apart if their paths differ.
func TestNamesakes(t *testing.T) {
	for _, c := range []struct {
		name    string
		lacking map[int]bool
		want    []string
	}{
		{"both folders", nil, []string{"a 1000 200 faster", "b 200 1000 slower"}},
		{"one in the base", map[int]bool{0: true}, []string{"a 1000 200 faster", "b 0 1000 appeared"}},
		{"one in the test", map[int]bool{1: true}, []string{"a 1000 200 faster", "b 200 0 vanished"}},
	} {
		db, err := queries.Open(t.Context(), storetest.New(t, namesakes(c.lacking)))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for by, column := range map[string]int{"load-object": 1, "line": 0, "data-object": 1} {
			result, _ := outcome(t, db, func(r *Request) { r.By, r.Metric = by, "m" })
			var got []string
			for _, row := range result.Rows[1:] {
				path := strings.Split(row.Names[column], "/")
				got = append(got, fmt.Sprintf("%s %g %g %s", path[max(len(path)-2, 0)], row.Base/1e6, row.Test/1e6, row.Verdict))
			}
			if slices.Sort(got); !slices.Equal(got, c.want) {
				t.Errorf("%s, %s: got %q, want %q", c.name, by, got, c.want)
			}
		}
	}
}

// Files of units with different short paths stay apart, even if each is the only one of its name.
func TestFilesApart(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"a/util.c", "b/util.c", true}, {"util.c", "a/util.c", false}, {"x/a/util.c", "a/util.c", false}, {"", "a/util.c", false}, {"a/util.c", "a/util.c", false},
	} {
		if got := apart(c.a, c.b); got != c.want {
			t.Errorf("%q and %q: %v", c.a, c.b, got)
		}
	}
}

// An unmatched item says how many candidates it has, even if several items share one.
func TestAmbiguous(t *testing.T) {
	c := &comparison{items: []*item{
		{}, {names: []string{"f"}, in: inBase}, {names: []string{"f"}, in: inTest}, {names: []string{"f"}, in: inTest}, {names: []string{"g"}, in: inTest},
	}}
	c.markAmbiguous(func(it *item) string { return it.names[0] }, "load object")
	var got []string
	for _, it := range c.items[1:] {
		got = append(got, fmt.Sprint(it.names[0], " ", it.matched, " ", it.ambiguous))
	}
	one := "f one candidate, which is not certain true"
	if want := []string{"f one of 2 candidates true", one, one, "g  false"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if w := c.Result.Warnings; len(w) != 1 || !strings.HasPrefix(w[0], "ambiguous: 3 load objects") {
		t.Errorf("warnings %q", w)
	}
}
