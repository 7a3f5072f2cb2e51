package acceptance

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// part is a part of a whole: its recorded value in any unit, and the units of work that it should
// have according to the source.
type part struct {
	name      string
	got, want float64
}

// tolerance is how much a share may differ from what the source says, relative to that.
const tolerance = 0.1

// deviation has the parts of a recording that differ by more than the tolerance, and by how many
// percent.
type deviation struct {
	few   map[string]int // parts with few samples: within 3*sqrt(n) of the expected number n
	speed map[string]int // parts that differ more, because the speed of the machine changed during the recording
}

// proportion checks that the parts' values are proportional to their units of work.
func (m *model) proportion(t *testing.T, parts []part) {
	t.Helper()
	var got, want float64
	for _, p := range parts {
		got, want = got+p.got, want+p.want
	}
	if got <= 0 {
		t.Errorf("nothing in %v", parts)
		return
	}
	known := deviations[m.recording]
	for _, p := range parts {
		expected := got * p.want / want
		off := int(math.Round(100 * (p.got/expected - 1)))
		samples := expected / m.tick
		few := math.Abs(p.got-expected)/m.tick <= 3*math.Sqrt(samples)
		listed := known.speed[p.name]
		if few {
			listed = known.few[p.name]
		}
		if off != listed && (listed != 0 || math.Abs(float64(off)) > 100*tolerance) {
			t.Errorf("%s has %.1f %% of the sum, the truth is %.1f %%: %+d %% off, not %+d %% (%.1f samples expected, within 3*sqrt: %t)",
				p.name, 100*p.got/got, 100*p.want/want, off, listed, samples, few)
		}
	}
}

// shares checks the exclusive times of functions against units of work; units alternates names and
// units.
func shares(units ...any) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		m.proportion(t, named(units, func(name string) float64 { return float64(m.sum(t, name, "totalcpu").exclusive) }))
	}
}

// inclusives is shares for inclusive times.
func inclusives(units ...any) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		parts := named(units, func(name string) float64 { return float64(m.sum(t, name, "totalcpu").inclusive) })
		for i := range parts {
			parts[i].name = "inclusive " + parts[i].name
		}
		m.proportion(t, parts)
	}
}

// calledBy checks how a function's time is divided among its callers.
func calledBy(name string, units ...any) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		callee := m.ids(t, name)
		parts := named(units, func(caller string) (sum float64) {
			other := m.ids(t, caller)
			for e, v := range m.edges["totalcpu"] {
				if callee[e.function] && e.relation == "caller" && other[e.other] {
					sum += float64(v)
				}
			}
			return sum
		})
		for i := range parts {
			parts[i].name = name + " below " + parts[i].name
		}
		m.proportion(t, parts)
	}
}

// named makes parts from a list of names and units.
func named(units []any, value func(string) float64) (parts []part) {
	for i := 0; i < len(units); i += 2 {
		name := units[i+1].(string)
		parts = append(parts, part{name, value(name), float64(units[i].(int))})
	}
	return parts
}

// threads checks the threads' times, the shortest first; threadsIn, their times in a function.
func threads(units ...float64) func(*testing.T, *model) { return threadsIn("", units...) }

func threadsIn(leaf string, units ...float64) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		var parts []part
		query(t, shared.DB, func(r row) error {
			p := part{name: fmt.Sprintf("thread %d of %d", len(parts)+1, len(units))}
			err := r.Scan(&p.got)
			parts = append(parts, p)
			return err
		}, `SELECT sum(c.duration_ns)::DOUBLE FROM samples_wide s JOIN clock_samples c USING (experiment_id, sample) JOIN experiments USING (experiment_id)
			JOIN raw_stacks r USING (experiment_id, raw_stack_id) JOIN stacks k ON k.experiment_id = s.experiment_id AND k.stack_id = r.user_stack_id
			LEFT JOIN functions f ON f.experiment_id = s.experiment_id AND f.function_id = k.leaf_function_id
			WHERE experiment = ? AND (f.name = ? OR ? = '') GROUP BY s.thread_id ORDER BY 1`, experiment(m.recording), leaf, leaf)
		if len(parts) != len(units) {
			t.Fatalf("%d threads, want %d", len(parts), len(units))
		}
		for i := range parts {
			parts[i].want = units[i]
		}
		m.proportion(t, parts)
	}
}

// sums checks that a function's inclusive time is the sum of others' exclusive time.
func sums(name string, parts ...string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		var want int64
		for _, p := range parts {
			want += m.sum(t, p, "totalcpu").exclusive
		}
		if got := m.sum(t, name, "totalcpu").inclusive; got != want {
			t.Errorf("inclusive time of %s is %d ns, want %d", name, got, want)
		}
	}
}

// everything checks that functions have all of the time.
func everything(names ...string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		total := m.sum(t, totalFunction, "totalcpu").inclusive
		for _, n := range names {
			if got := m.sum(t, n, "totalcpu").inclusive; got != total {
				t.Errorf("inclusive time of %s is %d ns, want %d", n, got, total)
			}
		}
	}
}

// hardly checks that functions have next to no exclusive time.
func hardly(names ...string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		total := m.sum(t, totalFunction, "totalcpu").inclusive
		for _, n := range names {
			if got := m.sum(t, n, "totalcpu").exclusive; got*100 > total {
				t.Errorf("exclusive time of %s is %d ns of %d", n, got, total)
			}
		}
	}
}

// moreThan checks that a function has at least factor times another's exclusive time.
func moreThan(factor int64, name, other string) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		if a, b := m.sum(t, name, "totalcpu").exclusive, m.sum(t, other, "totalcpu").exclusive; a < factor*b {
			t.Errorf("%s has %d ns, %s %d", name, a, other, b)
		}
	}
}

// bothShares checks the exclusive times of functions with the same name, the shortest first.
func bothShares(name string, units ...float64) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		var values []int64
		for id := range m.ids(t, name) {
			values = append(values, m.values["totalcpu"][id].exclusive)
		}
		slices.Sort(values)
		var parts []part
		for i, v := range values {
			parts = append(parts, part{fmt.Sprintf("%s %d", name, i+1), float64(v), units[i]})
		}
		m.proportion(t, parts)
	}
}

// objectShares checks the exclusive times of load objects.
func objectShares(units ...any) func(*testing.T, *model) {
	return func(t *testing.T, m *model) {
		m.proportion(t, named(units, func(object string) (sum float64) {
			for id, v := range m.values["totalcpu"] {
				if objectName(m.functions[id].object) == object {
					sum += float64(v.exclusive)
				}
			}
			return sum
		}))
	}
}
