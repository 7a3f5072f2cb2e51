package acceptance

import (
	"fmt"
	"slices"
	"testing"

	"stackmill/cmd/acceptance/golden"
)

// Each instruction has the same values as in the golden, even if the golden has it in the wrong
// function: its offset in the load object identifies it.
func TestPCs(t *testing.T) {
	for _, c := range compared {
		t.Run(c, func(t *testing.T) {
			x, m := readGolden(t, c), load(t, shared.DB, experiment(c))
			x = corrected(t, c, x)
			a := matchFunctions(t, x, m)
			// Rows with equal names share their places, and are compared as a set; as a sum if the
			// golden has an instruction more than once.
			group := map[place]string{}
			rows := map[string][]int{}
			split := map[string]bool{}
			for i, r := range x.PCs.Rows {
				ps := a.places(r.Name)
				if len(ps) == 0 {
					continue
				}
				key := fmt.Sprint(ps)
				rows[key] = append(rows[key], i)
				split[key] = len(rows[key]) > len(ps)
				for _, p := range ps {
					group[p] = key
				}
			}
			for _, col := range x.PCs.Columns {
				want, got := map[string][]string{}, map[string][]string{}
				for key, is := range rows {
					for _, i := range is {
						if v := cell(x.PCs, i, col); !isZero(v) {
							want[key] = append(want[key], v)
						}
					}
				}
				for p, v := range m.places[col.Metric] {
					if id := m.owners[p]; m.functions[id] == nil || m.functions[id].kind == "artificial" {
						continue
					}
					key := group[p]
					if key == "" {
						key = fmt.Sprint([]place{p})
					}
					if s := printed(m, col, v); !isZero(s) {
						got[key] = append(got[key], s)
					}
				}
				for key, is := range rows {
					if split[key] && closeSums(t, want[key], got[key], 0.0005*float64(len(is)+1)) {
						delete(want, key)
						delete(got, key)
					}
				}
				compareSets(t, col.Flavor+" "+col.Metric, want, got)
			}
		})
	}
}

// closeSums compares the sums of printed values, which may each be rounded.
func closeSums(t *testing.T, want, got []string, slack float64) bool {
	t.Helper()
	d := 0.0
	for _, s := range want {
		d += number64(t, s)
	}
	for _, s := range got {
		d -= number64(t, s)
	}
	return -slack <= d && d <= slack
}

// Each line has the same values as in the golden, if the golden has lines.
func TestLines(t *testing.T) {
	for _, c := range compared {
		if noLines[c] {
			continue
		}
		t.Run(c, func(t *testing.T) {
			x, m := readGolden(t, c), load(t, shared.DB, experiment(c))
			x = corrected(t, c, x)
			a := matchFunctions(t, x, m)
			for _, col := range x.Lines.Columns {
				want, got := map[string][]string{}, map[string][]string{}
				for i, r := range x.Lines.Rows {
					f, l, file := golden.Line(r.Name)
					if v := cell(x.Lines, i, col); !a.anyBlurred(f) && !isZero(v) && f != totalFunction {
						key := fmt.Sprintf("%s, line %d of %q", f, l, file)
						want[key] = append(want[key], v)
					}
				}
				for l, v := range m.lines[col.Metric] {
					f := a.theirName(l.function)
					if s := printed(m, col, v); f != blurredName && !isZero(s) && f != totalFunction {
						key := fmt.Sprintf("%s, line %d of %q", f, l.line, l.file)
						got[key] = append(got[key], s)
					}
				}
				compareSets(t, col.Flavor+" "+col.Metric, want, got)
			}
		})
	}
}

// compareSets reports elements that only one side has; order within a key does not matter.
func compareSets(t *testing.T, what string, want, got map[string][]string) {
	t.Helper()
	for key := range union(want, got) {
		w, g := want[key], got[key]
		slices.Sort(w)
		slices.Sort(g)
		if !slices.Equal(w, g) {
			t.Errorf("%s of %s: %v, want %v", what, key, g, w)
		}
	}
}
