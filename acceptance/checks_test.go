package acceptance

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// The threads' and processes' parts of the time.
func TestTruthThreads(t *testing.T) {
	for _, test := range []struct {
		recording, by string
		units         []float64
	}{
		{"threads", "thread_id", []float64{15, 15, 15, 20}},
		{"threads_raw", "thread_id", []float64{1}},
		{"forkexec", "process", []float64{5, 10, 15, 20, 25}},
	} {
		t.Run(test.recording, func(t *testing.T) {
			var got []float64
			query(t, shared.DB, func(r row) error {
				var v float64
				err := r.Scan(&v)
				got = append(got, v)
				return err
			}, `SELECT sum(value)::DOUBLE FROM usage_values JOIN experiments USING (experiment_id)
				WHERE experiment = ? AND metric = 'totalcpu' GROUP BY `+test.by+` ORDER BY 1`, experiment(test.recording))
			closeTo(t, "parts", got, test.units)
		})
	}
}

// tolerance is how far a share of the time may be from the truth: the machine
// that recorded has noise, but the order of functions stays.
const tolerance = 0.06

func closeTo(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %v, want %d of %v", what, got, len(want), want)
		return
	}
	sum := func(vs []float64) (s float64) {
		for _, v := range vs {
			s += v
		}
		return s
	}
	for i := range want {
		if g, w := got[i]/sum(got), want[i]/sum(want); math.Abs(g-w) > tolerance || math.IsNaN(g) {
			t.Errorf("%s: share %d is %.3f, want %.3f", what, i, g, w)
		}
	}
}

// all returns the functions of a name that are in the function list.
func (m *model) all(name string) (fs []*function) {
	for id, f := range m.functions {
		for _, values := range m.values {
			if _, ok := values[id]; ok && f.name == name {
				fs = append(fs, f)
				break
			}
		}
	}
	return fs
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

// shares checks the exclusive times of functions against units of work, given
// in turn with the names.
func shares(units ...any) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		var got, want []float64
		for i := 0; i < len(units); i += 2 {
			want = append(want, float64(units[i].(int)))
			got = append(got, float64(m.sum(t, units[i+1].(string), "totalcpu").exclusive))
		}
		closeTo(t, "shares", got, want)
	}
}

// sums checks that a function's inclusive time is a factor of the sum of others' exclusive time.
func sums(name string, factor float64, parts ...string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		var want float64
		for _, p := range parts {
			want += factor * float64(m.sum(t, p, "totalcpu").exclusive)
		}
		got := float64(m.sum(t, name, "totalcpu").inclusive)
		if factor == 1 && got != want || math.Abs(got-want) > tolerance*want {
			t.Errorf("inclusive time of %s is %.0f ns, want %.0f", name, got, want)
		}
	}
}

// neighbours returns the names of a function's callers or callees with values, sorted.
func (m *model) neighbours(t *testing.T, name, relation string) (names []string) {
	t.Helper()
	fs := m.all(name)
	for _, edges := range m.edges {
		for e, v := range edges {
			if slices.ContainsFunc(fs, func(f *function) bool { return f.id == e.function }) && e.relation == relation && v != 0 {
				names = append(names, m.functions[e.other].name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func callers(name string, want ...string) func(*testing.T, *model) {
	return edges(name, "caller", want)
}
func callees(name string, want ...string) func(*testing.T, *model) {
	return edges(name, "callee", want)
}

func edges(name, relation string, want []string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		slices.Sort(want)
		if got := m.neighbours(t, name, relation); !slices.Equal(got, want) {
			t.Errorf("%ss of %s: %q, want %q", relation, name, got, want)
		}
	}
}

// attributed checks the ratio in which a function's time belongs to two callers.
func attributed(name, first string, a int, second string, b int) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		var got [2]float64
		for e, v := range m.edges["totalcpu"] {
			if m.functions[e.function].name == name && e.relation == "caller" {
				switch m.functions[e.other].name {
				case first:
					got[0] += float64(v)
				case second:
					got[1] += float64(v)
				}
			}
		}
		closeTo(t, "callers of "+name, got[:], []float64{float64(a), float64(b)})
	}
}

// objects checks in which load objects the functions of a name are.
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
		for _, f := range m.all(name) {
			if f.aliases != want {
				t.Errorf("linkage names of %s: %q, want %q", name, f.aliases, want)
			}
		}
		m.sum(t, name, "totalcpu")
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

// counts checks the inclusive values of a function, given in turn with the metrics.
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
			m.sum(t, name, "totalcpu")
		}
	}
}
