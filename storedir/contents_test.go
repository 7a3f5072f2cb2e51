package storedir

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stackmill/schema"
)

// made writes the commit of a batch of experiments, each as `id` or `id.generation`, with a
// file unless it takes them out.
func made(t *testing.T, store string, at time.Duration, batch, experiments string, change func(*Commit)) {
	t.Helper()
	c := Commit{Batch: batch, StoreVersion: schema.StoreVersion, Ingested: time.Unix(1e9, 0).Add(at).UTC(), Files: []File{{Table: "samples", Path: FilePath("samples", batch)}}}
	for _, name := range strings.Fields(experiments) {
		id, generation := split(name)
		c.Experiments = append(c.Experiments, Entry{ExperimentID: id, Generation: generation, Status: "complete"})
	}
	if change != nil {
		change(&c)
	}
	data, err := c.Encode()
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Join(store, CommitsDir), 0o777), os.WriteFile(commitPath(store, batch), data, 0o666))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// takesOut makes a commit one that takes its experiments out.
func takesOut(c *Commit) {
	c.Files = nil
	for i := range c.Experiments {
		c.Experiments[i].Status = Again
	}
}

// Each experiment counts once, whatever the order in which commits are made.
func TestLook(t *testing.T) {
	for _, test := range []struct {
		name     string
		make     func(store string)
		want     string // batches with what counts in them
		replaced string
	}{
		{"two writers with other cuts", func(s string) {
			made(t, s, 0, "b1", "x y", nil)
			made(t, s, 1, "b2", "y z", nil)
		}, "b1: x y, b2: z", ""},
		{"two writers with the same", func(s string) {
			made(t, s, 1, "b1", "x y", nil)
			made(t, s, 0, "b2", "y x", nil)
		}, "b1: x y", "b2"},
		{"ingested again", func(s string) {
			made(t, s, 0, "b2", "x y", nil)
			made(t, s, 1, "b1", "y.2 z", nil)
		}, "b1: y z, b2: x", ""},
		{"all ingested again", func(s string) {
			made(t, s, 0, "x", "x", nil)
			made(t, s, 1, "b1", "x.2 z", nil)
		}, "b1: x z", "x"},
		{"taken out", func(s string) {
			made(t, s, 0, "b1", "x y", nil)
			made(t, s, 1, "y.2", "y.2", takesOut)
		}, "b1: x", ""},
		{"taken out and put in", func(s string) {
			made(t, s, 0, "b1", "x y", nil)
			made(t, s, 1, "y.2", "y.2", takesOut)
			made(t, s, 2, "b3", "y.3", nil)
		}, "b1: x, b3: y", "y.2"},
		{"in the place of another", func(s string) {
			made(t, s, 0, "b1", "x y", nil)
			made(t, s, 1, "z", "z", func(c *Commit) { c.Experiments[0].Instead = []string{"x"} })
		}, "b1: y, z: z", ""},
		{"replaced by name", func(s string) {
			made(t, s, 0, "b1", "x", nil)
			made(t, s, 1, "b2", "y", nil)
			made(t, s, 2, "b3", "x y", func(c *Commit) { c.Replaces = []string{"b1", "b2"} })
		}, "b3: x y", "b1 b2"},
	} {
		store := t.TempDir()
		test.make(store)
		c, err := Look(store)
		if err != nil {
			t.Fatal(err)
		}
		var got, replaced []string
		for i := range c.Batches {
			line := c.Batches[i].Batch + ":"
			for e := range c.Batches[i].Visible {
				line += " " + e.ExperimentID
			}
			got = append(got, line)
		}
		for _, r := range c.Replaced {
			replaced = append(replaced, r.Batch)
		}
		if strings.Join(got, ", ") != test.want || strings.Join(replaced, " ") != test.replaced || len(c.Damaged) > 0 {
			t.Errorf("%s: %q, replaced %q, want %q, %q", test.name, got, replaced, test.want, test.replaced)
		}
	}
}

// A damaged commit costs what is in it; putting that in again takes another name.
func TestLookAtDamage(t *testing.T) {
	store := t.TempDir()
	made(t, store, 0, "b1", "x y", nil)
	made(t, store, 0, "b2", "z", nil)
	if err := os.WriteFile(commitPath(store, "b1"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	c, err := Look(store)
	if err != nil || len(c.Batches) != 1 || len(c.Damaged) != 1 || c.Latest("x").Batch != "" {
		t.Fatalf("%+v, %v", c, err)
	}
	again := []Entry{{ExperimentID: "x", Generation: c.Next("x")}, {ExperimentID: "y", Generation: c.Next("y")}}
	c.found[BatchName(again)] = c.found["b1"] // the damaged one has their name
	c.sort()
	name := c.Name(again)
	if name != numbered(BatchName(again), 2) {
		t.Errorf("the new batch is %s", name)
	}
	ids, err := MarkAgain(store, "b1")
	if err != nil || len(ids) > 0 {
		t.Error(ids, err)
	}
	if c, err = Look(store); err != nil || len(c.Damaged) != 0 || len(c.Replaced) != 1 || time.Since(c.Replaced[0].Since) < 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if ids, err = MarkAgain(store, "b2"); err != nil || !slices.Equal(ids, []string{"z"}) {
		t.Error(ids, err)
	}
	if c, err = Look(store); err != nil || len(c.Batches) != 0 || len(c.Again) != 1 || c.Again[0].Generation != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	for _, r := range c.Replaced { // its files may be all that is left
		if r.Batch == "b2" && time.Since(r.Since) > time.Minute {
			t.Errorf("%s was replaced at %v", r.Batch, r.Since)
		}
	}
}
