//go:build cgo

package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/queries/report"
	"stackmill/queries/storetest"
)

// Each report refuses the options that do not apply to it, and names the reports that take them.
func TestOptionsOfReports(t *testing.T) {
	nowhere := filepath.Join(t.TempDir(), "store") // options are refused before a store is opened
	all := ""
	for _, r := range report.Reports {
		all += " " + r.Name
	}
	for _, test := range []struct{ option, accepted string }{
		{"--inline", " functions callers-callees call-tree folded lines pcs source leaks allocations heap io-stacks"},
		{"--inline --format csv", " functions callers-callees call-tree folded lines pcs leaks allocations heap io-stacks"},
		{"--inline --thread 1", all},
		{"--mode machine --cpu 1", all},
		{"--width 10ms", " timeline cpu-timeline seconds"},
		{"--file a.c", " source source-inlined"},
		{"--no-recorded-sources", " source disasm"},
		{"--source-path /src=/tmp", " source disasm"},
		{"--no-recorded-sources --format csv", ""},
		{"--wide --format csv", ""},
		{"--limit 1", all},
	} {
		got := ""
		for _, r := range report.Reports {
			_, errs, status := call(append([]string{"report", r.Name, "--store", nowhere}, strings.Fields(test.option)...)...)
			name, _, _ := strings.Cut(test.option, " ")
			if status != 2 {
				got += " " + r.Name
			} else if !strings.Contains(errs, name) {
				t.Errorf("report %s %s: %s", r.Name, test.option, errs)
			}
		}
		if diff := cmp.Diff(test.accepted, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", test.option, diff)
		}
	}
}

// Inlined functions change every report and export that accepts --inline.
func TestInlineHasEffect(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	verbs := [][]string{{"export", "--as", "folded", "-o", "-"}, {"export", "--as", "speedscope", "-o", "-"}}
	for _, name := range []string{"functions", "callers-callees", "call-tree", "folded", "lines", "pcs"} {
		verbs = append(verbs, []string{"report", name})
	}
	for _, verb := range verbs {
		verb = append(slices.Clone(verb), "--experiment", "monday/test.1.er", "--store", store)
		plain, _, _ := call(verb...)
		inlined, errs, status := call(append(verb, "--inline")...)
		if status != 0 || plain == inlined {
			t.Errorf("%v --inline: status %d, %s, changed: %v", verb, status, errs, plain != inlined)
		}
	}
}
