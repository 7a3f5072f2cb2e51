package acceptance

import (
	"testing"

	"stackmill/cmd/acceptance/golden"
)

// totalFunction is the name of the root of everything (S19).
const totalFunction = "<Total>"

// For each metric, <Total> in the golden has the same value as in the store.
func TestTotals(t *testing.T) {
	for _, c := range withGolden(t) {
		t.Run(c, func(t *testing.T) {
			x, m := readGolden(t, c), load(t, shared.DB, experiment(c))
			x = corrected(t, c, x)
			for _, col := range x.List.Columns {
				v := m.values[col.Metric][m.total]
				if got, want := printed(m, col, v), cell(x.List, 0, col); got != want {
					t.Errorf("%s %s: %s, want %s", col.Flavor, col.Metric, got, want)
				}
			}
		})
	}
}

// Each function has the same value as in the golden, for each metric. The golden has all functions.
func TestFunctions(t *testing.T) {
	for _, c := range compared {
		t.Run(c, func(t *testing.T) {
			x, m := readGolden(t, c), load(t, shared.DB, experiment(c))
			x = corrected(t, c, x)
			a := matchFunctions(t, x, m)
			a.checkNames(t)
			for i, r := range x.List.Rows {
				if a.blurred[i] {
					continue
				}
				if a.ours[i] == 0 {
					t.Errorf("%s of %s at %#x is not in the store", r.Name, x.Functions[i].LoadObject, x.Functions[i].Offset)
					continue
				}
				for _, col := range x.List.Columns {
					v := m.values[col.Metric][a.ours[i]]
					if got, want := printed(m, col, v), cell(x.List, i, col); got != want {
						t.Errorf("%s %s of %s: %s, want %s", col.Flavor, col.Metric, r.Name, got, want)
					}
				}
			}
			for metric, values := range m.values {
				for id, v := range values {
					if _, ok := a.theirs[id]; !ok && !a.blurredIDs[id] {
						t.Errorf("%s of %s (%v) is not in the golden", metric, m.functions[id].name, v)
					}
				}
			}
		})
	}
}

// A load object's exclusive sum does not depend on how its text is divided
// into functions.
func TestLoadObjects(t *testing.T) {
	for _, c := range compared {
		t.Run(c, func(t *testing.T) {
			x, m := readGolden(t, c), load(t, shared.DB, experiment(c))
			x = corrected(t, c, x)
			a := matchFunctions(t, x, m)
			for _, col := range x.List.Columns {
				if col.Flavor != "Excl." {
					continue
				}
				want, rows, got := map[string]float64{}, map[string]int{}, map[string]float64{}
				for i, f := range x.Functions[1:] {
					v := number64(t, cell(x.List, i+1, col))
					object := f.LoadObject
					if id := a.ours[i+1]; id != 0 {
						object = m.functions[id].object // the golden has one load object for all code outside of files
					}
					want[object] += v
					rows[object]++
				}
				for id, v := range m.values[col.Metric] {
					if id != m.total {
						got[m.functions[id].object] += asPrinted(m.units[col.Metric], v.exclusive)
					}
				}
				for object := range union(want, got) {
					// Each printed time may be off by half a millisecond.
					slack := 0.0005*float64(rows[object]) + 1e-9
					if m.units[col.Metric] != "ns" {
						slack = 0
					}
					if d := got[object] - want[object]; d > slack || d < -slack {
						t.Errorf("%s of %s: %v, want %v", col.Metric, object, got[object], want[object])
					}
				}
			}
		})
	}
}

// printed formats a value as the golden's column does.
func printed(m *model, col golden.Column, v pair) string {
	if col.Flavor == "Excl." {
		return golden.Print(m.units[col.Metric], v.exclusive)
	}
	return golden.Print(m.units[col.Metric], v.inclusive)
}

func union[K comparable, V any](a, b map[K]V) map[K]bool {
	all := map[K]bool{}
	for k := range a {
		all[k] = true
	}
	for k := range b {
		all[k] = true
	}
	return all
}
