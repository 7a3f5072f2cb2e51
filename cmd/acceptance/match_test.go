package acceptance

import (
	"slices"
	"strings"
	"testing"

	"stackmill/cmd/acceptance/golden"
)

// match pairs the functions of a golden with the functions of the store. They have the same start; static
// regions have the same sampled instructions. Functions that gprofng has swallowed into a `no
// functions found` row have no counterpart: they are blurred, on both sides, and only their
// instructions are compared.
type match struct {
	golden     *golden.Experiment
	model      *model
	ours       []int64                // function id in the store, by index of the golden's function
	theirs     map[int64]int          // index of the golden's function, by function id in the store
	byName     map[string][]int       // indexes of the golden's functions, by name
	blurred    map[int]bool           // blurred functions of the golden, by index
	blurredIDs map[int64]bool         // blurred functions of the store, by id
	byPC       map[int]map[int64]bool // by index of the golden's function: ids of the store's functions that have its PCs
}

func matchFunctions(t *testing.T, x *golden.Experiment, m *model) *match {
	t.Helper()
	a := &match{
		golden: x, model: m, ours: make([]int64, len(x.Functions)), theirs: map[int64]int{}, byName: map[string][]int{},
		blurred: map[int]bool{}, blurredIDs: map[int64]bool{}, byPC: map[int]map[int64]bool{},
	}
	starts := map[place]int64{}
	names := map[string]int64{}
	for id, f := range m.functions {
		if !strings.Contains(f.object, "/") {
			names[f.name] = id
		} else {
			starts[place{f.object, f.offset}] = id
		}
	}
	for i, g := range x.Functions {
		a.byName[g.Name] = append(a.byName[g.Name], i)
		if g.NoFunctions() {
			a.blurred[i] = true
		} else if id, ok := names[g.Name]; ok && !strings.Contains(g.LoadObject, "/") {
			a.pair(i, id)
		} else if id, ok := starts[place{g.LoadObject, g.Offset}]; ok {
			a.pair(i, id)
		}
	}
	a.followPCs(t)
	for i := range x.Functions {
		owners := a.byPC[i]
		if a.blurred[i] {
			for id := range owners {
				a.blurredIDs[id] = true
			}
			continue
		}
		if a.ours[i] == 0 && len(owners) == 1 {
			for id := range owners {
				if _, taken := a.theirs[id]; !taken {
					a.pair(i, id)
				}
			}
		}
	}
	for id := range a.blurredIDs {
		if i, ok := a.theirs[id]; ok {
			a.blurred[i] = true
		}
	}
	for i := range x.Functions {
		for id := range a.byPC[i] {
			if a.blurredIDs[id] {
				a.blurred[i] = true
			}
		}
	}
	return a
}

func (a *match) pair(i int, id int64) { a.ours[i], a.theirs[id] = id, i }

// followPCs finds the functions of the store that have the PCs of each of the golden's functions.
func (a *match) followPCs(t *testing.T) {
	for _, r := range a.golden.PCs.Rows {
		name, _, _, _, ok := golden.PC(r.Name)
		if !ok {
			continue
		}
		for _, p := range a.places(r.Name) {
			id, found := a.model.owners[p]
			if !found {
				if len(a.byName[name]) == 1 {
					t.Errorf("%s: the store has no instruction at %#x of %s", r.Name, p.offset, p.object)
				}
				continue
			}
			for _, i := range a.byName[name] {
				if a.golden.Functions[i].LoadObject == p.object || a.ours[i] == id {
					if a.byPC[i] == nil {
						a.byPC[i] = map[int64]bool{}
					}
					a.byPC[i][id] = true
				}
			}
		}
	}
}

// places returns the possible places of a row of PCs: in each function with its name.
func (a *match) places(row string) []place {
	name, offset, _, _, ok := golden.PC(row)
	if !ok {
		return nil
	}
	var ps []place
	for _, i := range a.byName[name] {
		g := a.golden.Functions[i]
		p := place{g.LoadObject, g.Offset + offset}
		if f := a.model.functions[a.ours[i]]; f != nil && !strings.Contains(f.object, "/") {
			p = place{f.object + ":" + f.name, offset} // code outside of files
		}
		if !slices.Contains(ps, p) {
			ps = append(ps, p)
		}
	}
	return ps
}

// checkNames reports pairs whose names contradict each other.
func (a *match) checkNames(t *testing.T) {
	for i, g := range a.golden.Functions {
		f := a.model.functions[a.ours[i]]
		if f == nil || a.blurred[i] {
			continue
		}
		if want := gprofngName(g, f); f.gprofng != want {
			t.Errorf("%s of %s is called %q by gprofng's choice, want %q", g.Name, g.LoadObject, f.gprofng, want)
		}
		want := expectedName(g, f)
		if names := append(slices.Clone(g.Aliases), g.Name); len(names) > 1 && g.Linkage == "" {
			want = slices.Max(names) // the manual's choice (S4)
		}
		if f.name != want {
			t.Errorf("%s of %s is called %q, want %q", g.Name, g.LoadObject, f.name, want)
		}
	}
}

// gprofngName returns the store's expected gprofng_name for a golden function: the golden's name,
// except that a region without symbols has no load object in its name (S6), and a trampoline is
// named after its purpose (S24).
func gprofngName(g golden.Function, f *function) string {
	name, _, static := strings.Cut(g.Name, " (<")
	if !static || !strings.HasPrefix(name, "<static>@") {
		return g.Name
	}
	if f.name == "__restore_rt" {
		return f.name
	}
	return name
}

// expectedName returns the store's expected name for a golden function: gprofng's, except that
// bodies are named after their function (S11), and clones have the same mark in C and C++ (S9).
func expectedName(g golden.Function, f *function) string {
	if f.kind == "body" { // named after its function and line (S11)
		if _, of, ok := strings.Cut(f.name, " from line "); ok && strings.HasSuffix(of, " ["+g.Name+"]") {
			return f.name
		}
		return "FUNCTION -- OMP parallel region from line N [" + g.Name + "]"
	}
	for _, suffix := range []string{".constprop.", ".isra.", ".part.", ".cold"} {
		if base, rest, ok := strings.Cut(g.Name, suffix); ok && g.Linkage == "" {
			return base + " [clone " + suffix + rest + "]"
		}
	}
	return gprofngName(g, f)
}
