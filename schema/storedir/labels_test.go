package storedir

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// labels changes a commit to one that labels its experiments instead of having entries of them.
func labels(number int, key, value string) func(*Commit) {
	return func(c *Commit) {
		l := &Labels{Number: number, Set: map[string]string{key: value}}
		if value == "" {
			l.Set, l.Remove = nil, []string{key}
		}
		for _, e := range c.Experiments {
			l.Experiments = append(l.Experiments, e.ExperimentID)
		}
		c.Experiments, c.Files, c.Labels = nil, nil, l
	}
}

// own gives a commit's first experiment a label; its entry includes the label commits in heeded.
func own(key, value string, heeded ...string) func(*Commit) {
	return func(c *Commit) {
		c.Experiments[0].Labels, c.Experiments[0].LabelCommits = map[string]string{key: value}, heeded
	}
}

func both(a, b func(*Commit)) func(*Commit) { return func(c *Commit) { a(c); b(c) } }

// An experiment's labels depend on the commits, not on the order in which they are made.
func TestLabels(t *testing.T) {
	for _, test := range []sight{
		{"given at ingest", func(s string) {
			made(t, s, 0, "b1", "x y", own("k", "1"))
		}, "b1: x(k=1) y", ""},
		{"given later", func(s string) {
			made(t, s, 0, "b1", "x y", own("k", "1"))
			made(t, s, 1, "l2", "x y", labels(1, "k", "2"))
		}, "b1: x(k=2) y(k=2)", ""},
		{"by number", func(s string) {
			made(t, s, 0, "b1", "x", nil)
			made(t, s, 1, "l2", "x", labels(1, "k", "2"))
			made(t, s, 1, "l1", "x", labels(2, "k", "3"))
		}, "b1: x(k=3)", ""},
		{"by two writers", func(s string) {
			made(t, s, 0, "b1", "x", nil)
			made(t, s, 1, "l2", "x", labels(1, "k", "2"))
			made(t, s, 2, "l1", "x", labels(1, "k", "1"))
			made(t, s, 2, "l3", "x", labels(1, "j", "1"))
		}, "b1: x(j=1)(k=2)", ""},
		{"removed", func(s string) {
			made(t, s, 0, "b1", "x", own("k", "1"))
			made(t, s, 1, "l2", "x", labels(1, "k", ""))
		}, "b1: x", ""},
		{"ingested again", func(s string) {
			made(t, s, 0, "b1", "x", own("k", "1"))
			made(t, s, 1, "l2", "x", labels(1, "j", "2"))
			made(t, s, 2, "b2", "x.2", own("k", "1"))
		}, "b2: x(j=2)(k=1)", "b1"},
		{"of those in whose place it is", func(s string) {
			made(t, s, 0, "b1", "x y", own("k", "1"))
			made(t, s, 1, "l2", "x", labels(1, "j", "2"))
			made(t, s, 2, "b2", "z", both(instead("x"), own("k", "2")))
		}, "b1: y, b2: z(j=2)(k=2)", ""},
		{"heeded by a merged batch", func(s string) {
			made(t, s, 0, "b1", "x y", nil)
			made(t, s, 1, "l2", "x", labels(1, "k", "2"))
			made(t, s, 2, "b2", "x y", both(replaces("b1"), own("k", "2", "l2")))
		}, "b2: x(k=2) y", "b1 l2"},
		{"given while batches were merged", func(s string) {
			made(t, s, 0, "b1", "x y", nil)
			made(t, s, 1, "l2", "x y", labels(1, "k", "2"))
			made(t, s, 1, "l1", "x", labels(1, "k", "3"))
			made(t, s, 2, "b2", "x y", both(replaces("b1"), own("k", "2", "l2")))
		}, "b2: x(k=3) y(k=2)", "b1"},
		{"heeded by a merged batch, and put in by one who knows nothing of that", func(s string) {
			made(t, s, 2, "b2", "x y", both(replaces("b1"), own("k", "2", "l2")))
			made(t, s, 3, "b0", "x", own("k", "1"))
		}, "b2: x(k=2) y", "b0"},
		{"of a summary", func(s string) {
			made(t, s, 0, "b1", "x y", nil)
			made(t, s, 1, "f1", "x.2", both(out(Summary), own("k", "1")))
			made(t, s, 2, "l2", "x", labels(1, "j", "2"))
		}, "b1: x~(j=2)(k=1) y", ""},
	} {
		test.check(t, test.look(t))
	}
}

// Of several forms of a recording only one counts, whichever program stored it, in whatever order.
// A finished one stays.
func TestCover(t *testing.T) {
	form := func(status string, samples int64) func(*Commit) {
		return func(c *Commit) {
			c.Experiments[0].Recorded, c.Experiments[0].Status, c.Experiments[0].Samples = "r", status, samples
		}
	}
	for _, test := range []sight{
		{"finished", func(s string) {
			made(t, s, 0, "b1", "x", form("unclosed", 20))
			made(t, s, 0, "b2", "y", form("complete", 10))
		}, "b2: y", "b1"},
		{"finished first", func(s string) {
			made(t, s, 0, "b1", "x", form("complete", 10))
			made(t, s, 0, "b2", "y", both(form("partial", 10), own("k", "1")))
		}, "b1: x(k=1)", "b2"},
		{"more of it", func(s string) {
			made(t, s, 0, "b1", "x", form("partial", 10))
			made(t, s, 0, "b2", "y", form("partial", 11))
			made(t, s, 0, "b3", "z", form("partial", 11))
		}, "b2: y", "b1 b3"},
		{"both finished", func(s string) {
			made(t, s, 0, "b1", "x", form("complete", 10))
			made(t, s, 0, "b2", "y", form("complete", 10))
		}, "b1: x, b2: y", ""},
		{"forgotten", func(s string) {
			made(t, s, 0, "b1", "x", form("complete", 10))
			made(t, s, 1, "f1", "x.2", both(form("complete", 10), out(Forgotten)))
			made(t, s, 1, "b2", "y", form("partial", 10))
		}, "", "b2"},
		{"more than what was forgotten", func(s string) {
			made(t, s, 0, "b1", "x", form("partial", 10))
			made(t, s, 1, "f1", "x.2", both(form("partial", 10), out(Forgotten)))
			made(t, s, 1, "b2", "y", form("complete", 10))
		}, "b2: y", ""},
		{"a summary", func(s string) {
			made(t, s, 0, "b1", "x", form("complete", 10))
			made(t, s, 1, "f1", "x.2", both(form("complete", 10), out(Summary)))
			made(t, s, 1, "b2", "y", form("unclosed", 10))
		}, "b1: x~", "b2"},
	} {
		c := test.look(t)
		c.Sweep(Keep) // files stay if no commit replaces theirs
		c, err := ReadContents(c.store)
		if err != nil {
			t.Fatal(err)
		}
		test.check(t, c)
	}
}

// A deleted experiment stays deleted while any of its files exist, whichever is removed first.
func TestSweep(t *testing.T) {
	store := t.TempDir()
	made(t, store, 0, "b1", "x y", nil)
	made(t, store, 1, "f1", "x.2", out(Forgotten))
	made(t, store, 2, "b2", "x.3", nil)
	made(t, store, 2, "b3", "z", nil)
	made(t, store, 3, "b4", "z.2", replaces("b3"))
	made(t, store, 4, "b5", "z.2", replaces("b4"))
	file := filepath.Join(store, FilePath("samples", "b3"))
	if err := os.MkdirAll(filepath.Join(file, "that cannot be removed"), 0o777); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		visible, left string
		then          func() error
	}{
		{"b1: y, b2: x, b5: z", "b3 b4 f1", func() error { return os.RemoveAll(file) }},
		{"b1: y, b2: x, b5: z", "f1", func() error { made(t, store, 5, "b6", "y x.3", replaces("b1", "b2")); return nil }},
		{"b5: z, b6: y x", "", func() error { return nil }},
	} {
		c, err := ReadContents(store)
		if err != nil {
			t.Fatal(err)
		}
		c.Sweep(math.MaxInt64)
		if c, err = ReadContents(store); err != nil || visible(c) != want.visible || len(c.Replaced) == 0 {
			t.Error("removed too soon", visible(c), c.Replaced, err)
		}
		c.Sweep(Keep)
		if c, err = ReadContents(store); err != nil || visible(c) != want.visible || replaced(c) != want.left {
			t.Errorf("%q, left %q, want %q, %q, %v", visible(c), replaced(c), want.visible, want.left, err)
		}
		if err := want.then(); err != nil {
			t.Fatal(err)
		}
	}
}

// Commits delete and label experiments by their ids. Damage to these commits does not bring them
// back, and check's repair deletes them again.
func TestTakeOut(t *testing.T) {
	store := t.TempDir()
	made(t, store, 0, "b1", "x y z", own("k", "1"))
	c, err := ReadContents(store)
	if err != nil {
		t.Fatal(err)
	}
	expect := func(want string) {
		t.Helper()
		other, err := ReadContents(store)
		if err != nil || visible(c) != want || visible(other) != want {
			t.Errorf("%q, %q, want %q: %v", visible(c), visible(other), want, err)
		}
	}
	if err := c.Label(Labels{Experiments: []string{"x"}, Set: map[string]string{"j": "2"}, Remove: []string{"k"}}, ""); err != nil {
		t.Fatal(err)
	}
	expect("b1: x(j=2) y z")
	if err := c.Delete([]string{"z"}, Summary, ""); err != nil {
		t.Fatal(err)
	}
	expect("b1: x(j=2) y z~")
	if err := c.Delete([]string{"x", "unknown"}, Forgotten, ""); err != nil {
		t.Fatal(err)
	}
	expect("b1: y z~")
	if l := c.Latest("x"); l.Labels["j"] != "2" || l.Was != "complete" || !l.Ingested.Equal(c.Batches[0].Ingested) {
		t.Errorf("%+v", l)
	}
	damaged := c.Latest("x").Batch
	data, err := os.ReadFile(commitPath(store, damaged))
	if err == nil {
		err = os.WriteFile(commitPath(store, damaged), append(data, ' '), 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	if c, err = ReadContents(store); err != nil || len(c.Damaged) != 1 {
		t.Fatal(c, err)
	}
	expect("b1: y z~")
	if ids, err := MarkForReingest(store, damaged, nil); err != nil || len(ids) > 0 {
		t.Error(ids, err)
	}
	if c, err = ReadContents(store); err != nil || len(c.Damaged) != 0 || c.Latest("x").Status != Forgotten || c.Latest("x").Batch == damaged {
		t.Error(c, err)
	}
	expect("b1: y z~")
}
