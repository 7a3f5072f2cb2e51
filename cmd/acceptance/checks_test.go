package acceptance

import (
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// all returns the functions in the list with a name: the one that is shown, or the symbol's.
// `object!` before the name selects a load object.
func (m *model) all(name string) (fs []*function) {
	object, bare, qualified := strings.Cut(name, "!")
	if !qualified {
		bare = name
	}
	for id, f := range m.functions {
		if f.name != bare && f.linkage != bare || qualified && objectName(f.object) != object {
			continue
		}
		for _, values := range m.values {
			if _, ok := values[id]; ok {
				fs = append(fs, f)
				break
			}
		}
	}
	return fs
}

// ids returns the ids of the functions with a name: at least one.
func (m *model) ids(t *testing.T, name string) map[int64]bool {
	t.Helper()
	ids := map[int64]bool{}
	for _, f := range m.all(name) {
		ids[f.id] = true
	}
	if len(ids) == 0 {
		t.Errorf("no function %s", name)
	}
	return ids
}

func (m *model) sum(t *testing.T, name, metric string) (p pair) {
	t.Helper()
	fs := m.all(name)
	if len(fs) == 0 {
		t.Errorf("no function %s", name)
	}
	for _, f := range fs {
		p.exclusive += m.values[metric][f.id].exclusive
		p.inclusive += m.values[metric][f.id].inclusive
	}
	return p
}

// callers and callees check a function's neighbors with values.
func callers(name string, want ...string) func(*testing.T, *model) {
	return neighbors(name, "caller", want)
}
func callees(name string, want ...string) func(*testing.T, *model) {
	return neighbors(name, "callee", want)
}

func neighbors(name, relation string, want []string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		of, missing := m.ids(t, name), map[int64]bool{}
		for _, w := range want {
			for id := range m.ids(t, w) {
				missing[id] = true
			}
		}
		expected := maps.Clone(missing)
		for _, edges := range m.edges {
			for e, v := range edges {
				if !of[e.function] || e.relation != relation || v == 0 && e.other != e.function {
					continue // a recursive function may be its own callee, with value 0
				}
				if f := m.functions[e.other]; v != 0 && !expected[e.other] {
					t.Errorf("%s of %s: %s of %s, want only %q", relation, name, f.name, f.object, want)
				}
				delete(missing, e.other)
			}
		}
		for id := range missing {
			t.Errorf("%s is no %s of %s", m.functions[id].name, relation, name)
		}
	}
}

// objects checks which load objects have functions with a name.
func objects(name string, want ...string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		var got []string
		for _, f := range m.all(name) {
			got = append(got, objectName(f.object))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s is in %q, want %q", name, got, want)
		}
	}
}

// aliases checks that a function has these linkage names.
func aliases(name, want string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		for id := range m.ids(t, name) {
			if f := m.functions[id]; f.name != name || f.aliases != want {
				t.Errorf("%s is shown with the linkage names %q, want %s with %q", f.name, f.aliases, name, want)
			}
		}
	}
}

func absent(names ...string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		for _, n := range names {
			for _, f := range m.all(n) {
				t.Errorf("%s of %s is in the list", n, f.object)
			}
		}
	}
}

// counts checks the inclusive values of a function. The arguments alternate between metrics and
// values.
func counts(name string, values ...any) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		for i := 0; i < len(values); i += 2 {
			metric, want := values[i].(string), int64(values[i+1].(int))
			if got := m.sum(t, name, metric).inclusive; got != want {
				t.Errorf("%s of %s: %d, want %d", metric, name, got, want)
			}
		}
	}
}

// shown checks that functions are in the list. The arguments alternate between symbols and shown
// names.
func shown(linkageNames ...string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		for i := 0; i < len(linkageNames); i += 2 {
			for id := range m.ids(t, linkageNames[i]) {
				if f := m.functions[id]; f.name != linkageNames[i+1] {
					t.Errorf("%s is shown as %s, want %s", f.linkage, f.name, linkageNames[i+1])
				}
			}
		}
	}
}

// modules checks which compilation units the functions with a name belong to.
func modules(name string, want ...string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		var got []string
		for id := range m.ids(t, name) {
			got = append(got, path.Base(m.functions[id].module))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s is in the modules %q, want %q", name, got, want)
		}
	}
}

// inOrder checks the order of functions in their load object.
func inOrder(names ...string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		last := int64(-1)
		for _, n := range names {
			for id := range m.ids(t, n) {
				f := m.functions[id]
				if f.offset <= last {
					t.Errorf("%s lies at %#x, before the one before it", n, f.offset)
				}
				last = f.offset
			}
		}
	}
}

// noCallees checks that functions have no callees.
func noCallees(names ...string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		for _, n := range names {
			callees(n)(t, m)
		}
	}
}

// onlyBelow checks that every value of a metric passes through a load object's functions.
func onlyBelow(metric, object string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		for e, v := range m.edges[metric] {
			if f := m.functions[e.other]; e.function == m.total && e.relation == "callee" && objectName(f.object) != object {
				t.Errorf("%d %s begin in %s of %s", v, metric, f.name, f.object)
			}
		}
	}
}

// noKind checks that no function of a kind is in the list.
func noKind(kind string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		for _, f := range m.listed() {
			if f.kind == kind {
				t.Errorf("%s is of kind %s", f.name, kind)
			}
		}
	}
}

// onlyIn checks that all exclusive values of a metric are in these functions.
func onlyIn(metric string, names ...string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		in := map[int64]bool{m.total: true}
		for _, n := range names {
			for id := range m.ids(t, n) {
				in[id] = true
			}
		}
		for id, v := range m.values[metric] {
			if v.exclusive != 0 && !in[id] {
				t.Errorf("%s of %s: %d, want only %q", metric, m.functions[id].name, v.exclusive, names)
			}
		}
	}
}

// fileLines checks that a function's own time is in these lines of a file.
func fileLines(file string, want map[string]int) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		for l, v := range m.lines["totalcpu"] {
			name := m.functions[l.function].name
			if n, ok := want[name]; ok && v.exclusive > 0 && (l.line != n || !strings.HasSuffix(l.file, file)) {
				t.Errorf("%s has time in line %d of %s, want line %d of %s", name, l.line, l.file, n, file)
			}
		}
		for name := range want {
			m.ids(t, name)
		}
	}
}

// linesOf checks in which lines of a file a function has inclusive time.
func linesOf(name, file string, want ...int) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		of := m.ids(t, name)
		var got []int
		for l := range m.lines["totalcpu"] {
			if of[l.function] && l.file == file {
				got = append(got, l.line)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%s has time in lines %v of %s, want %v", name, got, file, want)
		}
	}
}
