package data

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// minMembers is the minimum number of distinct instructions that access members in the programs.
const minMembers = 400

// No access to a member of a structure or union, or to a bit field, has a wrong member: if the
// instructions do not show which one it is, the object is the aggregate. docs/data-objects.md says
// how many are right.
func TestMembers(t *testing.T) {
	programs, builds, all := map[string]*tally{}, map[string]*tally{}, &tally{}
	for _, name := range recordings(t, "members") {
		t.Run(name, func(t *testing.T) {
			got := compare(t, name+".data", name, nil)
			t.Log(got)
			if got.samples[wrong] > 0 {
				t.Errorf("%d wrong", got.samples[wrong])
			}
			parts := strings.SplitN(name, "_", 4)
			sumUp(programs, parts[0], got)
			sumUp(builds, parts[1]+" -"+parts[2], got)
			all.add(got)
		})
	}
	text := "| | instructions | right | aggregate only | unresolved | wrong |\n|---|---|---|---|---|---|\n"
	for _, sums := range []map[string]*tally{builds, programs} {
		for _, key := range slices.Sorted(maps.Keys(sums)) {
			text += measured(key, sums[key])
		}
	}
	text += measured("all", all)
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "data-objects.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), text) {
		t.Errorf("docs/data-objects.md does not say\n%s", text)
	}
	if n := total(all); n < minMembers {
		t.Errorf("%d instructions, want %d", n, minMembers)
	}
}

// Bounds for the instructions of generated programs: the minimum share of right ones, and their
// minimum number.
const (
	minGuarded      = 1300
	minRightGuarded = 0.84
)

// No access to random structures in arrays, or through pointers of other types, has a wrong member:
// unions of pointers, pointers to bytes, and indexes lead to aggregates or reasons.
func TestGuarded(t *testing.T) {
	all := &tally{}
	for _, name := range recordings(t, "guarded") {
		t.Run(name, func(t *testing.T) {
			got := compare(t, name+".data", name, nil)
			if got.samples[wrong] > 0 {
				t.Errorf("%d wrong", got.samples[wrong])
			}
			all.add(got)
		})
	}
	t.Log(all)
	if n := total(all); n < minGuarded {
		t.Errorf("%d instructions, want %d", n, minGuarded)
	}
	if r := rate(all.instructions); r < minRightGuarded {
		t.Errorf("%.1f %% of the instructions have the right object", 100*r)
	}
}

func sumUp(sums map[string]*tally, key string, got *tally) {
	if sums[key] == nil {
		sums[key] = &tally{}
	}
	sums[key].add(got)
}

func total(x *tally) (n int) {
	for _, count := range x.instructions {
		n += count
	}
	return n
}

// measured returns a row of the table of instructions.
func measured(key string, x *tally) string {
	n := total(x)
	share := func(v verdict) string {
		return fmt.Sprintf("%.1f %%", 100*float64(x.instructions[v])/float64(max(n, 1)))
	}
	return fmt.Sprintf("| %s | %d | %s | %s | %s | %d |\n", key, n, share(right), share(coarse), share(unresolved), x.instructions[wrong])
}
