package queries

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/queries/storetest"
	"stackmill/schema"
)

func TestLibraryNames(t *testing.T) {
	for _, test := range []struct {
		text, name, path string
		want             bool
	}{
		{"libc.so.6", "libc.so.6", "/lib/libc.so.6", true},
		{"libc.so", "libc.so.6", "/lib/libc.so.6", true},
		{"libc", "libc.so.6", "/lib/libc.so.6", false},
		{"libc*", "libc.so.6", "/lib/libc.so.6", true},
		{"/lib/libc.so.6", "libc.so.6", "/lib/libc.so.6", true},
		{"/lib/*", "libc.so.6", "/lib/libc.so.6", true},
		{"/usr/lib/libc.so.6", "libc.so.6", "/lib/libc.so.6", false},
		{"libstdc++.so.6", "libstdc++.so.6.0.30", "", true},
		{"libstdc++.so.6.0", "libstdc++.so.6.0.30", "", true},
		{"libstdc++.so.6.0.3", "libstdc++.so.6.0.30", "", false},
		{"libc.so", "libc-2.31.so", "", true},
		{"libc.so", "libcap.so.2", "", false},
		{"app", "app.6", "", false},
		{"[kernel.kallsyms]", "[kernel.kallsyms]", "[kernel.kallsyms]", true},
		{"heap", "<heap>", "", true},
		{"[", "a", "", false},
	} {
		if l := (Library{Name: test.name, Path: test.path}); l.is(test.text) != test.want {
			t.Errorf("%q is %s at %s: %t, want %t", test.text, test.name, test.path, !test.want, test.want)
		}
	}
}

// TestHiddenFunctions compares values of a store without its program's functions with values worked
// out by hand.
func TestHiddenFunctions(t *testing.T) {
	db := open(t, storetest.New(t, storetest.Two))
	const first = "experiment = 'monday/test.1.er'"
	for _, test := range []struct {
		filter Filter
		query  string
		want   []string
	}{
		{Filter{Hide: []string{"app"}}, "SELECT function, exclusive // 1e6, inclusive // 1e6 FROM function_metrics WHERE mode = 'expert' AND metric = 'totalcpu' AND " + first + " ORDER BY inclusive DESC, function",
			[]string{"<Total> 80 80", "<app> 60 70", "<Unknown> 10 10"}},
		{Filter{APIOnly: []string{"app"}, Threads: []int64{4712}}, "SELECT depth, function, attributed // 1e6, exclusive // 1e6 FROM call_tree WHERE mode = 'user' AND metric = 'totalcpu' AND " + first + " ORDER BY ALL",
			[]string{"0 <Total> 30 0", "1 main 30 20", "2 <Unknown> 10 10"}},
		{Filter{Hide: []string{"app"}}, "SELECT relation, function, other, attributed // 1e6 FROM callers_callees WHERE mode = 'user' AND metric = 'totalcpu' AND " + first + " ORDER BY ALL",
			[]string{"callee <Total> <app> 70", "callee <app> <Unknown> 10", "caller <Unknown> <app> 10", "caller <app> <Total> 70", "self <Total> <Total> 80", "self <Unknown> <Unknown> 10", "self <app> <app> 60"}},
		{Filter{APIOnly: []string{"app"}}, "SELECT stack, value // 1e6 FROM folded WHERE mode = 'machine' AND metric = 'totalcpu' AND " + first + " ORDER BY ALL",
			[]string{"<Total> 10", "main 60", "main;<Unknown> 10"}},
		{Filter{APIOnly: []string{"app"}}, "SELECT function, file, line, exclusive // 1e6 FROM inline_line_metrics WHERE mode = 'user' AND metric = 'totalcpu' AND " + first + " ORDER BY ALL",
			[]string{"<Unknown>  0 10", "main a.c 10 60"}},
	} {
		if diff := cmp.Diff(test.want, rows(t, filtered(t, db, test.filter).DB, test.query)); diff != "" {
			t.Errorf("%+v: %s:\n%s", test.filter, test.query, diff)
		}
	}
}

// TestHiddenColumns looks for missing values where tables have none.
func TestHiddenColumns(t *testing.T) {
	db := filtered(t, open(t, storetest.New(t, storetest.Two)), Filter{Hide: []string{"app"}}).DB
	for _, table := range schema.Tables {
		for _, c := range table.Columns {
			if c.Null {
				continue
			}
			query := fmt.Sprintf("SELECT count(*) FROM %s() WHERE %s IS NULL", rowsName(table), identifier(c.Name))
			if got := rows(t, db, query); got[0] != "0" {
				t.Errorf("%s.%s: %s values are missing", table.Name, c.Name, got[0])
			}
		}
	}
}

func TestWrongLibraries(t *testing.T) {
	db := open(t, storetest.New(t, storetest.Two))
	for want, f := range map[string]Filter{
		`no load object "ap"`:        {Hide: []string{"ap"}},
		`no load object "<Unknown>"`: {Hide: []string{"<Unknown>"}},
		"load object app is in both": {Hide: []string{"app"}, APIOnly: []string{"a*"}},
	} {
		_, err := db.Filter(context.Background(), f)
		if wrong := new(FilterError); !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", f, err, want)
		}
	}
}
