package storedir

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"stackmill/schema"
)

// made writes the commit of a batch of experiments, each written `id` or `id.generation`, with a
// file unless it deletes them.
func made(t *testing.T, store string, at time.Duration, batch, experiments string, change func(*Commit)) {
	t.Helper()
	c := Commit{Batch: batch, StoreVersion: schema.StoreVersion, Ingested: time.Unix(1e9, 0).Add(at).UTC(), Files: []File{{Table: "samples", Path: FilePath("samples", batch)}}}
	for _, name := range strings.Fields(experiments) {
		id, generation := splitName(name)
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

// takesOut changes a commit to one that deletes its experiments until they are ingested again.
func takesOut(c *Commit) { out(Reingest)(c) }

func out(status string) func(*Commit) {
	return func(c *Commit) {
		c.Files = nil
		for i := range c.Experiments {
			c.Experiments[i].Status, c.Experiments[i].Was = status, c.Experiments[i].Status
		}
	}
}

// instead lets a commit's first experiment replace others.
func instead(ids ...string) func(*Commit) { return func(c *Commit) { c.Experiments[0].Instead = ids } }

func replaces(batches ...string) func(*Commit) { return func(c *Commit) { c.Replaces = batches } }

// visible formats what readers see: a summary with ~, labels in brackets.
func visible(c *Contents) string {
	var batches []string
	for i := range c.Batches {
		b := &c.Batches[i]
		line := b.Batch + ":"
		for e := range b.Visible {
			line += " " + e.ExperimentID
			if slices.Contains(b.Summaries, e.ExperimentID) {
				line += "~"
			}
			for _, key := range slices.Sorted(maps.Keys(e.Labels)) {
				line += "(" + key + "=" + e.Labels[key] + ")"
			}
		}
		batches = append(batches, line)
	}
	return strings.Join(batches, ", ")
}

func replaced(c *Contents) string {
	var names []string
	for _, r := range c.Replaced {
		names = append(names, r.Batch)
	}
	return strings.Join(names, " ")
}

// sight is a test case: commits, and what readers must see.
type sight struct {
	name     string
	make     func(store string)
	want     string // visible batches with their experiments
	replaced string
}

// look makes the store and reads its commits.
func (s *sight) look(t *testing.T) *Contents {
	t.Helper()
	store := t.TempDir()
	s.make(store)
	c, err := ReadContents(store)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func (s *sight) check(t *testing.T, c *Contents) {
	t.Helper()
	if visible(c) != s.want || replaced(c) != s.replaced || len(c.Damaged) > 0 {
		t.Errorf("%s: %q, replaced %q, want %q, %q", s.name, visible(c), replaced(c), s.want, s.replaced)
	}
}

// Each experiment counts once, whatever the order in which commits are made.
func TestLook(t *testing.T) {
	for _, test := range []sight{
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
			made(t, s, 2, "b3", "x y", replaces("b1", "b2"))
		}, "b3: x y", "b1 b2"},
		{"put in for the third time", func(s string) {
			made(t, s, 0, "x", "x", nil)
			made(t, s, 2, "x.3", "x.3", nil)
		}, "x.3: x", "x"},
		{"each in the place of the other", func(s string) {
			made(t, s, 0, "b1", "x", instead("y"))
			made(t, s, 1, "b2", "y", instead("x"))
		}, "b1: x", "b2"},
		{"forgotten", func(s string) {
			made(t, s, 0, "b1", "x y", nil)
			made(t, s, 1, "f1", "y.2", out(Forgotten))
		}, "b1: x", ""},
		{"all forgotten", func(s string) {
			made(t, s, 1, "f1", "x.2 y.2", out(Forgotten))
			made(t, s, 0, "b1", "x y", nil)
		}, "", "b1"},
		{"forgotten and put in again", func(s string) {
			made(t, s, 0, "b1", "x y", nil)
			made(t, s, 1, "f1", "y.2", out(Forgotten))
			made(t, s, 2, "b3", "y.3", nil)
		}, "b1: x, b3: y", "f1"},
		{"forgotten by one writer, put in again by another", func(s string) {
			made(t, s, 0, "b1", "x y", nil)
			made(t, s, 1, "f1", "y.2", out(Forgotten))
			made(t, s, 1, "b3", "y.2", nil)
		}, "b1: x", "b3"},
		{"forgotten by one writer, summed up by another", func(s string) {
			made(t, s, 0, "b1", "x", nil)
			made(t, s, 1, "f2", "x.2", out(Forgotten))
			made(t, s, 1, "f1", "x.2", out(Summary))
		}, "", "b1 f1"},
		{"to be ingested again, and done so meanwhile", func(s string) {
			made(t, s, 0, "b1", "x y", nil)
			made(t, s, 1, "a1", "x.2", takesOut)
			made(t, s, 1, "b2", "x.2", nil)
		}, "b1: y, b2: x", "a1"},
		{"forgotten with what it is in the place of", func(s string) {
			made(t, s, 0, "b1", "x y", nil)
			made(t, s, 1, "b2", "z", instead("x"))
			made(t, s, 2, "f1", "z.2", func(c *Commit) { out(Forgotten)(c); instead("x")(c) })
		}, "b1: y", "b2"},
		{"a summary", func(s string) {
			made(t, s, 0, "b1", "x y", nil)
			made(t, s, 1, "f1", "x.2", out(Summary))
		}, "b1: x~ y", ""},
		{"a summary of what two writers have put in", func(s string) {
			made(t, s, 0, "b1", "x y", nil)
			made(t, s, 0, "b2", "x", nil)
			made(t, s, 1, "f1", "x.2", out(Summary))
		}, "b1: x~ y", "b2"},
		{"a summary while it is put in again", func(s string) {
			made(t, s, 0, "b1", "x y", nil)
			made(t, s, 1, "f1", "x.2", out(Summary))
			made(t, s, 1, "b0", "x.2", nil)
		}, "b0: x~, b1: y", ""},
		{"a summary that was merged", func(s string) {
			made(t, s, 0, "b1", "x y", nil)
			made(t, s, 1, "f1", "x.2", out(Summary))
			made(t, s, 2, "b2", "x.2 y", func(c *Commit) { replaces("b1")(c); c.Experiments[0].Status = Summary })
		}, "b2: x~ y", "b1 f1"},
		{"a summary that is forgotten", func(s string) {
			made(t, s, 0, "b1", "x y", nil)
			made(t, s, 1, "f1", "x.2", out(Summary))
			made(t, s, 2, "f2", "x.3", out(Forgotten))
		}, "b1: y", "f1"},
		{"a summary whose files are damaged", func(s string) {
			made(t, s, 0, "b1", "x y", nil)
			made(t, s, 1, "f1", "x.2", out(Summary))
			made(t, s, 2, "f2", "x.3", func(c *Commit) { takesOut(c); replaces("b1")(c) })
		}, "", "b1 f1"},
	} {
		test.check(t, test.look(t))
	}
}

// A damaged commit hides its experiments; ingesting them again uses another name.
func TestLookAtDamage(t *testing.T) {
	store := t.TempDir()
	made(t, store, 0, "b1", "x y", nil)
	made(t, store, 0, "b2", "z", nil)
	if err := os.WriteFile(commitPath(store, "b1"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	c, err := ReadContents(store)
	if err != nil || len(c.Batches) != 1 || len(c.Damaged) != 1 || c.Latest("x").Batch != "" {
		t.Fatalf("%+v, %v", c, err)
	}
	again := []Entry{{ExperimentID: "x", Generation: c.NextGeneration("x")}, {ExperimentID: "y", Generation: c.NextGeneration("y")}}
	c.commits[BatchName(again)] = c.commits["b1"] // the damaged commit has their name
	c.sort()
	name := c.NewBatchName(again)
	if name != numberedName(BatchName(again), 2) {
		t.Errorf("the new batch is %s", name)
	}
	ids, err := MarkForReingest(store, "b1", nil)
	if err != nil || len(ids) > 0 {
		t.Error(ids, err)
	}
	if c, err = ReadContents(store); err != nil || len(c.Damaged) != 0 || len(c.Replaced) != 1 || time.Since(c.Replaced[0].Since) < 0 {
		t.Errorf("%+v, %v", c, err)
	}
	if ids, err = MarkForReingest(store, "b2", nil); err != nil || !slices.Equal(ids, []string{"z"}) {
		t.Error(ids, err)
	}
	if c, err = ReadContents(store); err != nil || len(c.Batches) != 0 || len(c.ToReingest) != 1 || c.ToReingest[0].Generation != 2 {
		t.Errorf("%+v, %v", c, err)
	}
	for _, r := range c.Replaced { // the files of a damaged batch may be all that is left
		if r.Batch == "b2" && time.Since(r.Since) > time.Minute {
			t.Errorf("%s was replaced at %v", r.Batch, r.Since)
		}
	}
}

// A commit of the older format is verified like one of this format: if it names a file elsewhere,
// it is damaged.
func TestOlderCommitIsVerified(t *testing.T) {
	for path, damaged := range map[string]bool{"tables/function_facts/b1.parquet": false, "../../function_facts/b1.parquet": true} {
		c := Commit{Batch: "b1", StoreVersion: schema.OlderVersions[0], Files: []File{{Table: "function_facts", Path: path}}}
		data, err := c.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Decode("b1", data); errors.Is(err, ErrDamaged) != damaged {
			t.Errorf("%s: %v", path, err)
		}
	}
}
