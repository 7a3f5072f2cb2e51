package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"stackmill/queries/storetest"
)

// TestLastGood gates builds of nine nights each: a, b (which takes 10 % more), c (as b) and d (as a).
// The base is the newest accepted build before the test's build, in whatever order runs were labeled.
func TestLastGood(t *testing.T) {
	var nights []map[string]int
	for _, g := range []int{200, 220, 220, 200} {
		nights = append(nights, storetest.Vary(9, map[string]int{"f": 100, "g": g})...)
	}
	store := t.TempDir() + "/store"
	if err := storetest.Build(store, storetest.Nights(nights)); err != nil {
		t.Fatal(err)
	}
	do := func(want int, args ...string) string {
		t.Helper()
		out, errs, status := call(append(args, "--store", store)...)
		if status != want {
			t.Errorf("%v: status %d, want %d: %s%s", args, status, want, out, errs)
		}
		return out + errs
	}
	for n := range nights {
		do(0, "label", fmt.Sprintf("night-%02d.er", n), "build="+string(rune('a'+n/9)), "branch="+[]string{"main", "topic"}[n/9%2])
	}
	gate := func(want int, base, test string, more ...string) {
		t.Helper()
		out := do(want, slices.Concat([]string{"gate", "--base", "last-good", "--test", test, "--metric", "m"}, more)...)
		if base != "" && !strings.Contains(out, "last-good (build="+base+") (9 runs)") {
			t.Errorf("%s: the base is not %s:\n%s", test, base, out)
		}
	}
	gate(1, "", "build=a", "--accept") // no runs are accepted
	gate(0, "", "build=a", "--accept", "--allow-first")
	gate(5, "a", "build=b", "--accept")
	gate(5, "a", "build=c", "--accept") // b did not become the reference
	gate(0, "a", "build=d", "--accept")
	gate(1, "", "build=a", "--accept") // d is newer
	gate(1, "", "build=b,branch=topic")
	do(0, "label", "build=b", "accepted=yes") // a known change
	gate(0, "b", "build=c")
	gate(0, "b", "build=d")
	gate(0, "b", "build=d,branch=topic")
	gate(5, "a", "build=c,branch=main")
	do(0, "label", "build=b", "accepted=no")
	gate(5, "a", "build=c")
	if out := do(0, "compare", "--base", "last-good", "--test", "build=c", "--metric", "m"); !strings.HasPrefix(out, "g +9.9%") || !strings.Contains(out, "last-good (build=a) (9 runs)") {
		t.Errorf("compare prints %s", out)
	}
	out := do(0, "query", "--format", "csv", "SELECT DISTINCT b.value FROM experiment_labels b JOIN experiment_labels a USING (experiment_id) WHERE b.label = 'build' AND a.label = 'accepted' AND a.value = 'yes' ORDER BY 1")
	if out != "value\na\nd\n" {
		t.Errorf("accepted are %q", out)
	}
}

// TestHosts compares runs on two hosts, of which one is twice as fast. By default, it compares runs only
// within each host, and finds that g takes 10 % more. A comparison of all runs finds no certain change.
func TestHosts(t *testing.T) {
	var nights []map[string]int
	for _, g := range []int{200, 220} {
		for i, run := range storetest.Vary(10, map[string]int{"f": 100, "g": g}) {
			if i%2 == 1 {
				run["f"], run["g"] = 2*run["f"], 2*run["g"]
			}
			nights = append(nights, run)
		}
	}
	text := storetest.Nights(nights)
	for n := 1; n < len(nights); n += 2 {
		text = strings.Replace(text, fmt.Sprintf("night-%02d.er gprofng box app", n), fmt.Sprintf("night-%02d.er gprofng old app", n), 1)
	}
	store := t.TempDir() + "/store"
	if err := storetest.Build(store, text); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		block, test, want string
		says              bool
	}{
		{"auto", "night-1?.er", "g +9.9%", true},
		{"host", "night-1?.er", "g +9.9%", true},
		{"none", "night-1?.er", "no change is certain", false},
		{"auto", "night-1[02468].er", "no change is certain", false}, // no runs of the old host
		{"host", "night-1[02468].er", "g +9.9%", true},
	} {
		out, errs, status := call("compare", "--base", "night-0?.er", "--test", c.test, "--block", c.block, "--metric", "m", "--store", store)
		if status != 0 || !strings.HasPrefix(out, c.want) || strings.Contains(out, "runs are compared only with runs of the same host") != c.says {
			t.Errorf("--block %s, %s: status %d: %s%s", c.block, c.test, status, out, errs)
		}
	}
}
