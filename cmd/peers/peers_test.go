package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackmill/cmd/acceptance/perftext"
	"stackmill/internal/corpus"
	"stackmill/pipeline"
)

var folder string // folder of perf's recordings

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		code = 1
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	if folder, err = os.MkdirTemp("", "stackmill-peers-"); err != nil {
		return 1, err
	}
	defer os.RemoveAll(folder)
	if err := corpus.Perf(folder); err != nil {
		return 1, err
	}
	code = m.Run()
	return code, corpus.Remove()
}

// recorded ingests a perf recording.
func recorded(t *testing.T, name string) (*comparison, []perftext.Sample) {
	t.Helper()
	symfs := filepath.Join(folder, "symfs")
	c, err := ingest(context.Background(), filepath.Join(folder, "perf", name+".data"), pipeline.Options{
		Store: filepath.Join(t.TempDir(), "store"), SymFS: symfs, DebugDirs: []string{filepath.Join(folder, "none")},
		Kallsyms: filepath.Join(folder, "kallsyms"), PerfMaps: filepath.Join(folder, "perf", "maps"),
	})
	if err != nil {
		t.Fatal(err)
	}
	files := newFiles(func(path string) string { return filepath.Join(symfs, path) })
	return newComparison(c, files, strings.HasSuffix(name, "_dwarf")), scriptOf(t, name)
}

// scriptOf reads the samples that perf printed.
func scriptOf(t *testing.T, name string) []perftext.Sample {
	t.Helper()
	f, err := os.Open(filepath.Join(folder, "golden", name, "script.txt"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	samples, err := perftext.Script(f)
	if err != nil {
		t.Fatal(err)
	}
	return samples
}

// Each recording differs from perf's output only by the rules that its program was written for.
func TestPerf(t *testing.T) {
	for name, rules := range map[string][]string{
		"p_recur_fp":      {"S22 missing"},
		"p_outline":       {"S12"},
		"p_plt_lazy":      {"S22"},
		"p_strip":         {"S6"},
		"p_signals_dwarf": {"S24"},
		"p_deep_dwarf":    {"S18"},
		"p_cxx_dwarf":     {"S12"},
	} {
		t.Run(name, func(t *testing.T) {
			c, theirs := recorded(t, name)
			if err := c.samples(theirs); err != nil {
				t.Fatal(err)
			}
			c.values()
			r := c.result(name)
			checkResult(t, r, rules)
		})
	}
}

// checkResult checks that each of the rules explains something, and nothing is unexplained.
func checkResult(t *testing.T, r *result, rules []string) {
	t.Helper()
	if r.unexplained > 0 || r.same == 0 {
		var b strings.Builder
		r.print(&b, 5)
		t.Error(b.String())
	}
	for _, rule := range rules {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(r.rules)), func(k string) bool { return slices.Contains(strings.Split(k, "+"), rule) }) {
			t.Errorf("nothing is explained by %s: %v", rule, r.rules)
		}
	}
}

// If the store is wrong, that remains unexplained: a wrong function name, a missing frame, a value
// that is not the sum of its stacks, a missing sample.
func TestWrong(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(*comparison, []perftext.Sample) []perftext.Sample
		failed bool // before functions are compared
	}{
		{"nothing", func(_ *comparison, s []perftext.Sample) []perftext.Sample { return s }, false},
		{"another name", func(_ *comparison, s []perftext.Sample) []perftext.Sample {
			for i := range s {
				if f := &s[i].Chain[0]; f.Symbol == "fact" {
					f.Symbol = "is_odd"
				}
			}
			return s
		}, false},
		{"a frame too few", func(c *comparison, s []perftext.Sample) []perftext.Sample {
			for _, stack := range c.content.stacks {
				stack.machine = slices.DeleteFunc(stack.machine, func(f frame) bool { return f.function.name == "is_odd" })
			}
			return s
		}, false},
		{"a frame too many", func(c *comparison, s []perftext.Sample) []perftext.Sample {
			for _, stack := range c.content.stacks {
				stack.machine = append(stack.machine, frame{stack.machine[0].location, "S12"})
			}
			return s
		}, false},
		{"another value", func(c *comparison, s []perftext.Sample) []perftext.Sample {
			for id, v := range c.content.values["cpu-clock:u"] {
				c.content.values["cpu-clock:u"][id] = pair{v.exclusive, v.inclusive + 1}
			}
			return s
		}, false},
		{"a sample too few", func(_ *comparison, s []perftext.Sample) []perftext.Sample { return s[1:] }, true},
		{"another period", func(_ *comparison, s []perftext.Sample) []perftext.Sample { s[0].Period++; return s }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, theirs := recorded(t, "p_recur_fp")
			err := c.samples(test.change(c, theirs))
			if (err != nil) != test.failed {
				t.Fatal(err)
			}
			if c.values(); err == nil && (c.result("").unexplained > 0) != (test.name != "nothing") {
				t.Errorf("%d unexplained", c.result("").unexplained)
			}
		})
	}
}

// gprofng's recordings differ from gprofng's reports only by rules.
func TestGprofng(t *testing.T) {
	dir, err := corpus.Dir()
	if err != nil {
		t.Fatal(err)
	}
	for name, rules := range map[string][]string{
		"recur": nil, "cxx": {"S12"}, "outline": {"S12"}, "signals": {"S24"}, "plt_sec": {"S22"}, "heap": {"realloc"}, "io": nil, "sync": nil,
	} {
		t.Run(name, func(t *testing.T) {
			experiment := filepath.Join(dir, "exp", name+".er")
			content, err := ingest(context.Background(), experiment, pipeline.Options{Store: filepath.Join(t.TempDir(), "store"), DebugDirs: []string{dir}})
			if err != nil {
				t.Fatal(err)
			}
			p := newPeer(name, content, newFiles(func(path string) string {
				found, _ := filepath.Glob(filepath.Join(experiment, "archives", filepath.Base(path)+"_*"))
				return strings.Join(found, "")
			}))
			err = p.read(func(report string) (string, error) {
				return filepath.Join(dir, "golden", name, report+".user.txt"), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			r := p.compare()
			checkResult(t, r, rules)
		})
	}
}
