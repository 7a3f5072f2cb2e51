package main

import (
	"bytes"
	"strings"
	"testing"

	"stackmill/queries/storetest"
)

// TestLabelsTellFunctionsApart gives two functions one name.
func TestLabelsTellFunctionsApart(t *testing.T) {
	for _, test := range []struct {
		name     string
		old, new string
		want     []string
	}{
		{"in two modules", "  4 13 903 804 g g g g normal", "  4 13 903 804 main main main main normal", []string{" main (a.c) ", " main (b.c) "}},
		{"in two load objects", "  4 13 903 804 g g g g normal", "  4 13 901 801 main main main main normal", []string{" main (app) ", " main (<Total>) "}},
		{"in one module", "  4 13 903 804 g g g g normal", "  4 13 903 803 main main main main normal", []string{" main (app 0x1000) ", " main (app 0x2000) "}},
		{"generated twice", "  4 13 903 804 g g g g normal 8192", "  4 13 903 803 main main main main normal 4096", []string{" main (app #1) ", " main (app #2) "}},
		{"static", "  4 13 903 804 g g g g normal", "  4 13 903 804 <static>@0x2000 '' '' '' static", []string{" <static>@0x2000 (app) "}},
	} {
		if strings.Count(storetest.Two, test.old) != 1 {
			t.Fatalf("%q is not once in the store", test.old)
		}
		store := storetest.New(t, strings.Replace(storetest.Two, test.old, test.new, 1))
		for _, view := range []string{"functions", "callers-callees", "call-tree", "lines", "pcs"} {
			var out, errs bytes.Buffer
			if code := run([]string{"report", view, "--each", "--store", store}, nil, &out, &errs); code != 0 {
				t.Fatalf("exit status %d: %s", code, &errs)
			}
			for _, want := range test.want {
				if !strings.Contains(strings.ReplaceAll(strings.ReplaceAll(out.String(), "\n", " \n"), "+-", " "), want) {
					t.Errorf("%s: report %s lacks %q:\n%s", test.name, view, want, &out)
				}
			}
		}
	}
}

// Functions with the same name are distinguished even if their files or load objects have the same
// base name.
func TestLabelsOfNamesakes(t *testing.T) {
	const modules = "modules module_id load_object_id name\n  801 901 (unknown)\n  802 902 (unknown)\n  803 903 a.c\n  804 903 b.c\n"
	const objects = "load_objects load_object_id name path kind\n  901 <Total> <Total> artificial\n  902 <Unknown> <Unknown> unknown\n  903 app /bin/app elf\n"
	const g = "  4 13 903 804 g g g g normal"
	for _, test := range []struct {
		with []string // texts in the store, each followed by its replacement
		want []string
	}{
		{[]string{
			modules, "modules module_id load_object_id name short_path\n  801 901 (unknown) (unknown)\n  802 902 (unknown) (unknown)\n  803 903 /s/d1/a.c d1/a.c\n  804 903 /s/d2/a.c d2/a.c\n",
			g, "  4 13 903 804 main main main main normal",
		}, []string{"main (d1/a.c)", "main (d2/a.c)"}},
		{[]string{
			objects, "load_objects load_object_id name path short_path kind\n  901 <Total> <Total> <Total> artificial\n  902 <Unknown> <Unknown> <Unknown> unknown\n  903 app /bin/app bin/app elf\n  904 app /opt/app opt/app elf\n",
			modules, strings.Replace(modules, "804 903", "804 904", 1),
			g, "  4 13 904 804 main main main main normal",
		}, []string{"main (bin/app)", "main (opt/app)"}},
	} {
		for i := 0; i < len(test.with); i += 2 {
			if !strings.Contains(storetest.Two, test.with[i]) {
				t.Fatalf("%q is not in the store", test.with[i])
			}
		}
		out, errs, status := call("report", "functions", "--experiment", "monday/test.1.er", "--store", storetest.New(t, strings.NewReplacer(test.with...).Replace(storetest.Two)))
		for _, want := range test.want {
			if status != 0 || !strings.Contains(out, want) {
				t.Errorf("no %s: status %d, %s%s", want, status, errs, out)
			}
		}
	}
}
