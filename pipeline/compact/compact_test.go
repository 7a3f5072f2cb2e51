package compact

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stackmill/schema"
	"stackmill/schema/storedir"
	"stackmill/stages/write"
)

// id returns the experiment id for a letter.
func id(letter string) string { return strings.Repeat(letter, 16) }

// entry returns the commit's entry of an experiment, written `a`, or `a.2` with its generation.
func entry(name string) storedir.Entry {
	letter, generation, _ := strings.Cut(name, ".")
	e := storedir.Entry{ExperimentID: id(letter), Generation: 1, Experiment: letter, Path: "/" + letter, Status: "complete"}
	if generation != "" {
		e.Generation = int(generation[0] - '0')
	}
	return e
}

// put commits a batch of experiments, in this order, at an hour; each has some samples and the
// function main.
func put(t *testing.T, store string, hour int, experiments string) {
	t.Helper()
	b, err := write.Begin(store)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Abort()
	c := storedir.Commit{Ingested: time.Unix(1e9, 0).Add(time.Duration(hour) * time.Hour).UTC()}
	for _, name := range strings.Fields(experiments) {
		e := entry(name)
		add := func(table *schema.Table, rows ...[]any) {
			r := schema.NewRows(table, e.ExperimentID, b.Write)
			for _, row := range rows {
				if table.Modes() != 0 {
					r.Modes(row[0].(int32))
					row = row[1:]
				}
				r.Append(row...)
			}
			err = errors.Join(err, r.Close())
		}
		for n := range 3 {
			add(schema.Samples, []any{int64(n), "clock", int32(1), int64(7), int32(0), int64(hour), int32(n), int32(0), ""})
		}
		add(schema.Metrics, []any{"cpu", "CPU of " + name, "ns", "clock", false, false}, []any{"wait", "Wait", "ns", "sync", false, false})
		add(schema.LoadObjects, []any{int64(1), "prog", "/prog", "", int64(0), "elf", "path", int64(2), true, "prog"})
		add(schema.Modules, []any{int64(2), int64(1), "a.c", "c", "a.c"})
		add(schema.Functions, []any{int32(0), int64(11), int64(1), int64(2), "main", nil, nil, nil, nil, "normal", int64(1), int64(1), int64(8), nil, nil, nil, int32(0), int32(0), "object"})
		add(schema.FunctionValues, []any{int32(7), "cpu", int32(0), int64(e.Generation), int64(9)}, []any{int32(7), "wait", int32(0), int64(0), int64(1)})
		c.Experiments = append(c.Experiments, e)
	}
	if err == nil {
		err = b.Commit(storedir.BatchName(c.Experiments), c)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func look(t *testing.T, store string) *storedir.Contents {
	t.Helper()
	c, err := storedir.ReadContents(store)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func options(store string) Options {
	return Options{Store: store, TargetSize: 1 << 20, Keep: storedir.Keep, Memory: 1 << 30, Jobs: 2}
}

func compacted(t *testing.T, o Options) Summary {
	t.Helper()
	s, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// shown returns which generation of each experiment readers see, and how often.
func shown(t *testing.T, store string) string {
	t.Helper()
	var all []string
	for _, b := range look(t, store).Batches {
		for e := range b.Visible {
			all = append(all, fmt.Sprintf("%s.%d", e.Experiment, e.Generation))
		}
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// inStore returns the experiments of a batch's rows in a table, a letter per row.
func inStore(t *testing.T, store string, b *storedir.Batch, table *schema.Table) (letters string) {
	t.Helper()
	for _, f := range b.Files {
		if f.Table != table.Name {
			continue
		}
		known := make([]texts, len(table.Columns))
		r, err := open(t.Context(), store, source{File: f}, table, known, schema.BatchRows)
		if err != nil {
			t.Fatal(err)
		}
		defer r.close()
		for {
			rows, err := r.read()
			if err != nil {
				t.Fatal(err)
			}
			if rows == nil {
				break
			}
			for _, n := range rows.columns[0].narrow {
				letters += known[0].list[n][:1]
			}
		}
	}
	return letters
}

// Small batches become one, sorted by experiment, function_rollup by function; entries do not
// change. A second run has nothing to do.
func TestMerge(t *testing.T) {
	store := t.TempDir()
	put(t, store, 1, "d b")
	put(t, store, 2, "c")
	put(t, store, 3, "a")
	s := compacted(t, options(store))
	if s.Merged != 3 || s.Written != 1 || s.Before.Batches != 3 || s.After.Batches != 1 || s.After.Experiments != 4 {
		t.Errorf("%+v", s)
	}
	b := &look(t, store).Batches[0]
	for table, want := range map[*schema.Table]string{schema.Samples: "aaabbbcccddd", schema.Functions: "abcd", schema.FunctionRollup: "abcdabcd"} {
		if got := inStore(t, store, b, table); got != want {
			t.Errorf("%s: %s, want %s", table.Name, got, want)
		}
	}
	for i, hour := range []int{3, 1, 2, 1} {
		want := entry(string("abcd"[i]))
		want.Ingested = time.Unix(1e9, 0).Add(time.Duration(hour) * time.Hour).UTC()
		if diff := cmp.Diff(want, b.Experiments[i]); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	if s := compacted(t, options(store)); s.Merged != 0 {
		t.Errorf("again: %+v", s)
	}
}

// Replaced files stay for their readers for the time Keep.
func TestKeep(t *testing.T) {
	store := t.TempDir()
	put(t, store, 1, "a b")
	put(t, store, 2, "c d")
	files := func() int {
		found, _ := filepath.Glob(filepath.Join(store, "tables", "samples", "*"))
		return len(found)
	}
	compacted(t, options(store))
	if files() != 3 {
		t.Errorf("%d files", files())
	}
	o := options(store)
	o.Keep = 0
	for range 20 { // commit times have whole seconds
		if compacted(t, o); files() == 1 {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("%d files", files())
}

// The rows are the same, however little memory there is.
func TestPasses(t *testing.T) {
	store := t.TempDir()
	put(t, store, 1, "d b")
	put(t, store, 2, "c a")
	o := options(store)
	m := newMerge(&o, []*storedir.Batch{&look(t, store).Batches[0], &look(t, store).Batches[1]})
	var err error
	if m.to, err = write.BeginMerged(store, "m"); err != nil {
		t.Fatal(err)
	}
	defer m.to.Abort()
	table := &tableMerge{merge: m, table: schema.Samples, known: make([]texts, len(schema.Samples.Columns))}
	for n := range int32(4) {
		if err := table.pass(t.Context(), n, n+1); err != nil {
			t.Fatal(err)
		}
	}
	if err := table.flush(); err != nil {
		t.Fatal(err)
	}
	if err := m.to.Commit(look(t, store).MergedName(nil, m.entries), storedir.Commit{Experiments: m.entries, Replaces: []string{m.batches[0].Batch, m.batches[1].Batch}}); err != nil {
		t.Fatal(err)
	}
	if got := inStore(t, store, &look(t, store).Batches[0], schema.Samples); got != "aaabbbcccddd" {
		t.Error(got)
	}
}

// A merge leaves out experiments that do not count; of a summary, it keeps the rows of its tables.
func TestLeaveOut(t *testing.T) {
	store := t.TempDir()
	put(t, store, 1, "a b c d")
	put(t, store, 2, "a.2 e f g")
	c := look(t, store)
	if err := errors.Join(c.Delete([]string{id("b")}, storedir.Forgotten, ""), c.Delete([]string{id("c")}, storedir.Summary, "")); err != nil {
		t.Fatal(err)
	}
	compacted(t, options(store))
	b := &look(t, store).Batches[0]
	for table, want := range map[*schema.Table]string{schema.Samples: "aaadddeeefffggg", schema.Metrics: "aaccddeeffgg", schema.FunctionRollup: "acdefgacdefg"} {
		if got := inStore(t, store, b, table); got != want {
			t.Errorf("%s: %s, want %s", table.Name, got, want)
		}
	}
	if got := shown(t, store); got != "a.2 c.2 d.1 e.1 f.1 g.1" {
		t.Error(got)
	}
	// A batch is rewritten alone, too, if an experiment has become a summary; then there is nothing
	// to do.
	if err := look(t, store).Delete([]string{id("d")}, storedir.Summary, ""); err != nil {
		t.Fatal(err)
	}
	o := options(store)
	o.Purge = true
	if s := compacted(t, o); s.Written != 1 {
		t.Errorf("%+v", s)
	}
	if got := inStore(t, store, &look(t, store).Batches[0], schema.Samples); got != "aaaeeefffggg" {
		t.Error(got)
	}
	if s := compacted(t, o); s.Written != 0 {
		t.Errorf("again: %+v", s)
	}
}

// A commit during a merge is neither lost nor counted twice.
func TestMeanwhile(t *testing.T) {
	for name, test := range map[string]struct {
		commit func(t *testing.T, store string)
		want   string
	}{
		"put in again": {func(t *testing.T, store string) { put(t, store, 3, "a.2") }, "a.2 b.1 c.1 d.1"},
		"put in":       {func(t *testing.T, store string) { put(t, store, 3, "e") }, "a.1 b.1 c.1 d.1 e.1"},
		"forgotten": {func(t *testing.T, store string) {
			if err := look(t, store).Delete([]string{id("a"), id("d")}, storedir.Forgotten, ""); err != nil {
				t.Fatal(err)
			}
		}, "b.1 c.1"},
		"merged alike": {func(t *testing.T, store string) { compacted(t, options(store)) }, "a.1 b.1 c.1 d.1"},
		"merged with others": {func(t *testing.T, store string) {
			put(t, store, 3, "e f")
			compacted(t, options(store))
		}, "a.1 b.1 c.1 d.1 e.1 f.1"},
	} {
		for _, first := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, %t", name, first), func(t *testing.T) {
				store := t.TempDir()
				put(t, store, 1, "a b")
				put(t, store, 2, "c d")
				o, c := options(store), look(t, store)
				m := newMerge(&o, []*storedir.Batch{&c.Batches[0], &c.Batches[1]})
				if first {
					test.commit(t, store)
				}
				if _, err := m.run(t.Context(), c); err != nil && !errors.Is(err, storedir.ErrExists) {
					t.Fatal(err)
				}
				if !first {
					test.commit(t, store)
				}
				if got := shown(t, store); got != test.want {
					t.Errorf("%s, want %s", got, test.want)
				}
				compacted(t, options(store))
				if got := shown(t, store); got != test.want {
					t.Errorf("merged again: %s, want %s", got, test.want)
				}
			})
		}
	}
}

// A batch whose files have changed is skipped, and reported.
func TestDamaged(t *testing.T) {
	store := t.TempDir()
	for hour, experiments := range []string{"a b", "c d", "e f", "0 1"} {
		put(t, store, hour, experiments)
	}
	damaged := look(t, store).Batches[0]
	path := filepath.Join(store, damaged.Files[0].Path)
	data, err := os.ReadFile(path)
	if err == nil {
		data[len(data)/2] ^= 1
		err = os.WriteFile(path, data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	if s := compacted(t, options(store)); !slices.Equal(s.Damaged, []string{damaged.Batch}) {
		t.Errorf("%+v", s)
	}
	if got := shown(t, store); got != "0.1 1.1 a.1 b.1 c.1 d.1 e.1 f.1" {
		t.Error(got)
	}
	if !slices.ContainsFunc(look(t, store).Batches, func(b storedir.Batch) bool { return b.Batch == damaged.Batch }) {
		t.Error("the damaged batch was replaced")
	}
}

// An interrupted merge leaves the store as it was.
func TestInterrupted(t *testing.T) {
	store := t.TempDir()
	put(t, store, 1, "a b")
	put(t, store, 2, "c d")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, options(store)); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if left, _ := os.ReadDir(filepath.Join(store, storedir.StagingDir)); len(left) > 0 || len(look(t, store).Batches) != 2 {
		t.Errorf("%d batches, left: %v", len(look(t, store).Batches), left)
	}
}
