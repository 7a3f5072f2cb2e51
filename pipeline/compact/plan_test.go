package compact

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"stackmill/schema/storedir"
)

// planned plans the merges of batches of these sizes, in order; a size may be followed by how many
// of 16 experiments do not count.
func planned(sizes string, o Options) string {
	c := &storedir.Contents{}
	for n, field := range strings.Fields(sizes) {
		var size int64
		var hidden int
		_, _ = fmt.Sscanf(field, "%d/%d", &size, &hidden)
		b := storedir.Batch{Commit: storedir.Commit{Batch: field, Experiments: make([]storedir.Entry, 16), Files: []storedir.File{{Bytes: size}}}}
		b.Ingested = time.Unix(int64(n), 0)
		b.Hidden = make([]string, hidden)
		c.Batches = append(c.Batches, b)
	}
	var groups []string
	for _, g := range plan(&o, c, map[string]bool{"13": true}) {
		var names []string
		for _, b := range g {
			names = append(names, b.Batch)
		}
		groups = append(groups, strings.Join(names, "+"))
	}
	return strings.Join(groups, " ")
}

// Neighbors are merged if the result is at least half as large again as each of them.
func TestPlan(t *testing.T) {
	o := Options{TargetSize: 100, Memory: 1 << 30}
	for sizes, want := range map[string]string{
		"":               "",
		"5":              "",
		"5 5":            "5+5",
		"40 5 5":         "5+5",
		"5 5 40":         "5+5",
		"40 20 10 5 5":   "40+20+10+5+5",
		"90 5":           "",
		"50 50":          "50+50",
		"51 51":          "",
		"30 30 30 30 30": "30+30+30 30+30",
		"5 13 5":         "", // not merged
		"90/1":           "",
		"90/2":           "90/2",
		"5/9 90 5":       "5/9",
		"5 5/16":         "5+5/16",
	} {
		if got := planned(sizes, o); got != want {
			t.Errorf("%s: %q, want %q", sizes, got, want)
		}
	}
	o.Purge = true
	if got := planned("90/1 90", o); got != "90/1" {
		t.Errorf("to purge: %q", got)
	}
}

// After a year of nights, each followed by merges, there are few batches, and rows were seldom
// rewritten.
func TestYear(t *testing.T) {
	o := Options{TargetSize: 1 << 20, Memory: 1 << 30}
	var sizes []int64
	written := int64(0)
	for range 365 {
		sizes = append(sizes, 100)
		for again := true; again; {
			again = false
			c := &storedir.Contents{}
			for n, size := range sizes {
				b := storedir.Batch{Commit: storedir.Commit{Batch: fmt.Sprint(n), Experiments: make([]storedir.Entry, 1), Files: []storedir.File{{Bytes: size}}}}
				b.Ingested = time.Unix(int64(n), 0)
				c.Batches = append(c.Batches, b)
			}
			for _, g := range plan(&o, c, nil) {
				again = true
				var first int
				_, _ = fmt.Sscan(g[0].Batch, &first)
				total := int64(0)
				for _, size := range sizes[first : first+len(g)] {
					total += size
				}
				written += total
				sizes = append(append(sizes[:first:first], total), sizes[first+len(g):]...)
				break
			}
		}
	}
	if len(sizes) > 10 || written > 10*365*100 {
		t.Errorf("%d batches; %d bytes were written for %d", len(sizes), written, 365*100)
	}
}

// A merged batch has at most mostExperiments experiments.
func TestMostExperiments(t *testing.T) {
	c := &storedir.Contents{}
	for n, count := range []int{mostExperiments / 2, mostExperiments / 4, mostExperiments / 4, 1} {
		b := storedir.Batch{Commit: storedir.Commit{Batch: fmt.Sprint(n), Experiments: make([]storedir.Entry, count), Files: []storedir.File{{Bytes: 10}}}}
		b.Ingested = time.Unix(int64(n), 0)
		c.Batches = append(c.Batches, b)
	}
	groups := plan(&Options{TargetSize: DefaultSize, Memory: 1 << 30}, c, nil)
	if len(groups) != 1 || len(groups[0]) != 3 {
		t.Errorf("%d groups", len(groups))
	}
}
