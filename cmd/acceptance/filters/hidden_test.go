package filters

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackmill/queries"
)

// hidings hide functions of libraries and programs: at the roots of stacks, in the middle, at the
// leaves, and all functions.
var hidings = []queries.Filter{
	{Hide: []string{"libc.so"}},
	{Hide: []string{"libc.so.6", "libgp-*", "libstdc++.so", "threads_fp"}},
	{APIOnly: []string{"libc.so.6", "libgp-sync.so", "libstdc++.so.6"}},
	{APIOnly: []string{"recur", "sync", "cxx*", "threads"}, Hide: []string{"libgomp.so", "heap"}},
	{Hide: []string{"*"}},
}

func describe(f queries.Filter) string {
	return fmt.Sprintf("--hide %s --api-only %s", strings.Join(f.Hide, ","), strings.Join(f.APIOnly, ","))
}

// Hiding functions keeps every <Total>.
func TestHideKeepsTotal(t *testing.T) {
	const totals = "SELECT printf('%s %s %s %d %d', experiment_id, mode, metric, exclusive, inclusive) FROM function_metrics WHERE \"function\" = '<Total>' AND kind = 'artificial' ORDER BY ALL"
	want := texts(t, store.DB, totals)
	for _, f := range hidings {
		if got := texts(t, narrow(t, f, "function_metrics").DB, totals); !slices.Equal(want, got) {
			t.Errorf("%s: the totals are\n%s\nwant\n%s", describe(f), strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// Every invariant of every view holds for filtered samples with hidden functions.
func TestHiddenInvariants(t *testing.T) {
	db := narrow(t, queries.Filter{
		Hide: []string{"libc.so", "heap", "libgomp.so"}, APIOnly: []string{"recur", "sync", "cxx*", "libstdc++.so", "objects_gcc_O2"},
		Where: []string{"cpu <> 0 OR stack_has('^(fact|__libc)')"},
	})
	views, err := queries.Views()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range views {
		for _, i := range v.Invariants {
			if n := texts(t, db.DB, "SELECT count(*)::VARCHAR FROM ("+i.SQL+")")[0]; n != "0" {
				t.Errorf("%s: %s rows contradict: %s", v.Name, n, i.Doc)
			}
		}
	}
}

// Stacks equal the whole store's stacks without the frames of hidden libraries.
func TestHiddenStacks(t *testing.T) {
	const rows = `SELECT printf('%s	%s	%s	%d	%d	%s	%s	%d', experiment_id, mode, metric, node, COALESCE(parent, -1), replace("function", ';', ':'), load_object, exclusive) FROM stack_nodes ORDER BY experiment_id, mode, metric, node`
	nodes := texts(t, store.DB, rows)
	for _, f := range []struct {
		queries.Filter
		hidden, entries *regexp.Regexp
	}{
		{queries.Filter{Hide: []string{"libc.so", "heap"}}, regexp.MustCompile(`^(libc\.so\.6|heap)$`), regexp.MustCompile(`^$`)},
		{queries.Filter{Hide: []string{"libgp-*"}, APIOnly: []string{"libstdc++.so.6", "recur", "sync"}}, regexp.MustCompile(`^libgp-`), regexp.MustCompile(`^(libstdc\+\+\.so\..*|recur|sync)$`)},
	} {
		type shown struct {
			path    string
			library string // of the nearest frame, hidden or not
		}
		above, sums := map[string]shown{}, map[string]int64{}
		for _, row := range nodes {
			c := strings.Split(row, "\t")
			of, library, frame := strings.Join(c[:3], " "), c[6], c[5]
			s := shown{library: library}
			if c[4] != "-1" {
				caller := above[of+c[4]]
				switch s.path = caller.path; {
				case f.hidden.MatchString(library) && caller.path == "":
					s.path = ";<" + library + ">"
				case f.hidden.MatchString(library), f.entries.MatchString(library) && caller.library == library:
				default:
					s.path += ";" + frame
				}
			}
			above[of+c[3]] = s
			if value, _ := strconv.ParseInt(c[7], 10, 64); value != 0 {
				if s.path == "" {
					s.path = ";<Total>"
				}
				sums[of+" "+s.path[1:]] += value
			}
		}
		var want []string
		for key, value := range sums {
			if value != 0 {
				want = append(want, fmt.Sprintf("%s %d", key, value))
			}
		}
		slices.Sort(want)
		got := texts(t, narrow(t, f.Filter, "folded").DB, "SELECT printf('%s %s %s %s %d', experiment_id, mode, metric, stack, value) FROM folded WHERE value <> 0")
		slices.Sort(got)
		if len(want) < 100 || !slices.Equal(want, got) {
			t.Errorf("%s: got %d stacks, want %d, or others", describe(f.Filter), len(got), len(want))
		}
	}
}

// calls has the values of a call tree by path, and how many nodes have that path.
type calls map[string]struct {
	value float64
	nodes int
}

// apart matches the part of names in which gprofng's differ from ours: both choose different
// boundaries of static functions without symbols.
var apart = regexp.MustCompile(`@0x[0-9a-f]+`)

func (c calls) add(path []string, value float64) {
	key := apart.ReplaceAllString(strings.Join(path, " > "), "")
	sum := c[key]
	sum.value, sum.nodes = sum.value+value, sum.nodes+1
	c[key] = sum
}

// treeRow matches a line of gprofng's call tree: a value, the name and, for static functions, the
// library.
var treeRow = regexp.MustCompile(`^\s*([\d.]+)\s.*?\+-(.*?)(?: \(<.*>\))?(?: --  no functions found)?$`)

// gprofngCalls returns a call tree of gprofng. It adds the values of a hidden library's nodes to
// their callers, if they have any.
func gprofngCalls(t *testing.T, hidden string, args ...string) calls {
	t.Helper()
	all := calls{}
	first := 0
	var path []string
	for _, line := range output(t, "gprofng", append([]string{"display", "text"}, args...)...) {
		m := treeRow.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if m[2] == "<Total>" {
			first = strings.Index(line, "+-")
		}
		// A level is indented by a line to its further nodes, or by two blanks.
		above := line[first:strings.Index(line, "+-")]
		depth := (len(above) - strings.Count(above, "|")) / 2
		path = append(path[:depth], m[2])
		if m[2] == hidden && depth > 1 {
			continue
		}
		value, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		var shown []string
		for i, name := range path {
			// A function calls its cold part (S12).
			if whole, isCold := strings.CutSuffix(name, " [clone .cold]"); isCold {
				if shown = append(shown, whole); i == len(path)-1 {
					all.add(shown, value)
				}
			}
			if name != hidden || i == 1 {
				shown = append(shown, name)
			}
		}
		all.add(shown, value)
	}
	return all
}

// ourCalls returns a call tree of the store. Like gprofng, it ends stacks at the entry point of the
// library cut, unless that is the root.
func ourCalls(t *testing.T, db *queries.DB, experiment, metric, cut string) calls {
	t.Helper()
	type node struct {
		path  []string
		ended bool
	}
	all, nodes := calls{}, map[string]node{}
	for _, row := range texts(t, db.DB, fmt.Sprintf(`SELECT printf('%%s	%%s	%%s	%%s	%%s	%%d', node_id::VARCHAR, COALESCE(parent_id::VARCHAR, ''), f.gprofng_name, o.name, t.unit, t.attributed)
		FROM call_tree t JOIN functions_wide f USING (experiment_id, function_id) JOIN load_objects o USING (experiment_id, load_object_id)
		WHERE mode = 'user' AND experiment = '%s' AND metric = '%s' AND attributed > 0 ORDER BY depth`, experiment, metric)) {
		c := strings.Split(row, "\t")
		above := nodes[c[1]]
		n := node{path: append(slices.Clip(above.path), c[2])}
		n.ended = above.ended || c[3] == cut && len(n.path) > 2
		nodes[c[0]] = n
		value, _ := strconv.ParseFloat(c[5], 64)
		if c[4] == "ns" {
			value /= 1e9
		}
		if !above.ended {
			all.add(n.path, value)
		}
	}
	return all
}

// gprofng hides the same functions, and ends stacks at the same entry points. It prints rounded
// values.
func TestHiddenAsGprofng(t *testing.T) {
	for _, test := range []struct {
		experiment, metric, library string
		apiOnly                     bool
	}{
		{"recur.er", "totalcpu", "libc.so.6", false},
		{"cxx.er", "totalcpu", "libstdc++.so.6.0.30", false},
		{"cxx.er", "totalcpu", "libc.so.6", false},
		{"heap.er", "heapallocbytes", "libgp-heap.so", false},
		{"sync.er", "sync", "sync", false},
		{"cxx.er", "totalcpu", "libstdc++.so.6.0.30", true},
		{"recur.er", "totalcpu", "recur", true},
		{"sync.er", "sync", "sync", true},
		{"heap.er", "heapallocbytes", "libgp-heap.so", true},
	} {
		f, command, cut := queries.Filter{Hide: []string{test.library}}, "-object_hide", ""
		if test.apiOnly {
			f, command, cut = queries.Filter{APIOnly: []string{test.library}}, "-object_api", test.library
		}
		metrics := "e." + test.metric + ":name"
		if test.metric == "sync" {
			metrics = "i.sync:name"
		}
		want := gprofngCalls(t, "<"+test.library+">", "-metrics", metrics, command, test.library, "-calltree", filepath.Join(from, test.experiment))
		got := ourCalls(t, narrow(t, f, "call_tree"), test.experiment, test.metric, cut)
		if len(want) < 2 || len(want) != len(got) {
			t.Errorf("%s %s %s: %d paths, want %d", test.experiment, command, test.library, len(got), len(want))
		}
		for path, w := range want {
			if g := got[path]; math.Abs(g.value-w.value) > 0.0011*float64(w.nodes) {
				t.Errorf("%s %s %s: %s has %g, want %g", test.experiment, command, test.library, path, g.value, w.value)
			}
		}
	}
}
