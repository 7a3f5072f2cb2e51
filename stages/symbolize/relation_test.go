package symbolize

import (
	"slices"
	"testing"

	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
)

// lined is a program whose functions, in module 1 by default, have instructions of the given lines.
func lined(functions []symtab.Function, lines [][]int32) (*Resolver, *Process) {
	for i := range functions {
		f := &functions[i]
		f.Name, f.Module = f.Linkage, max(f.Module, 1)
	}
	t := tableOf("aa", functions...)
	t.Files = []string{"/src/a.c"}
	var rows []symtab.Row
	for i, f := range slices.Collect(t.Functions.All()) {
		for j, line := range lines[i] {
			rows = append(rows, symtab.Row{Offset: f.Offset + uint64(4*j), Line: line})
		}
	}
	t.Lines = symtab.RowsOf(rows)
	r, _ := recording(tableMap{"/bin/p": t})
	return r, process(r, text("/bin/p", 0x401000))
}

func of(kind funcinfo.Kind, linkage string) symtab.Function {
	return symtab.Function{Kind: kind, Linkage: linkage}
}

func TestRelations(t *testing.T) {
	functions := []symtab.Function{
		of(funcinfo.Normal, "f"),
		of(funcinfo.Clone, "f.constprop.0.isra.0"),
		of(funcinfo.Body, "f._omp_cpyfn.3"),
		of(funcinfo.Body, "f._omp_fn.0"),
		of(funcinfo.Outline, "f._omp_fn.0.cold"),
		of(funcinfo.Body, ".omp_outlined."),
		of(funcinfo.Body, ".omp_outlined..2"),
		of(funcinfo.Normal, ".omp.reduction.reduction_func"),
		of(funcinfo.Normal, "main"), // has g and h inlined
		of(funcinfo.Normal, "g"),
		of(funcinfo.Body, "_$p1A21.g"),
		of(funcinfo.Clone, "gone.part.0"),
		of(funcinfo.Body, ".omp_outlined..9"), // of another module
		of(funcinfo.Body, "task_h._omp_fn.0"), // whose function is inlined everywhere
		of(funcinfo.Body, ".omp_task_entry."),
		of(funcinfo.Normal, "g.omp.reduction.reduction_func"),
	}
	functions[12].Module = 2
	lines := [][]int32{
		{10, 12, 14}, {10}, {12}, {12, 13}, {13}, {12, 13}, {21}, {21},
		{40, 20, 21, 30, 44}, {20, 22}, {21}, {1}, {12}, {30, 31}, {0, 12}, {21},
	}
	tests := []struct {
		function   string
		main, name string
		line       int32
	}{
		{"f", "", "f", 0},
		{"f.constprop.0.isra.0", "f", "f.constprop.0.isra.0", 0},
		{"f._omp_fn.0", "f", "f -- OMP parallel region from line 12 [f._omp_fn.0]", 12},
		{"f._omp_fn.0.cold", "f._omp_fn.0", "f._omp_fn.0.cold", 0},
		{".omp_outlined.", "f", "f -- OMP parallel region from line 12 [.omp_outlined.]", 12},
		// main has a row of the line itself, g has only rows around it.
		{".omp_outlined..2", "main", "main -- OMP parallel region from line 21 [.omp_outlined..2]", 21},
		{".omp.reduction.reduction_func", "main", "main -- OMP reduction from line 21 [.omp.reduction.reduction_func]", 21},
		{"_$p1A21.g", "g", "_$p1A21.g", 21},
		{"gone.part.0", "", "gone.part.0", 0},
		{".omp_outlined..9", "", ".omp_outlined..9", 0},
		{"task_h._omp_fn.0", "main", "main -- OMP parallel region from line 30 [task_h._omp_fn.0]", 30},
		{"g.omp.reduction.reduction_func", "g", "g -- OMP reduction from line 21 [g.omp.reduction.reduction_func]", 21},
		{"f._omp_cpyfn.3", "f", "f -- OMP task from line 12 [f._omp_cpyfn.3]", 12},
		{".omp_task_entry.", "", ".omp_task_entry.", 0},
	}
	r, pr := lined(functions, lines)
	p := r.Program
	for _, tt := range tests {
		t.Run(tt.function, func(t *testing.T) {
			var n program.FunctionNo
			for i, f := range functions {
				if f.Linkage == tt.function {
					n = p.Location(pr.Resolve(0x401000+uint64(i)*0x100, 0).Location).Function
				}
			}
			relation, ok := p.Relations[n]
			main := ""
			if ok {
				main = p.Functions[relation.Main].Linkage
			}
			if main != tt.main || relation.Line != tt.line || p.Functions[n].Name != tt.name {
				t.Errorf("%q was made from %q at line %d, want %q of %q at line %d", p.Functions[n].Name, main, relation.Line, tt.name, tt.main, tt.line)
			}
		})
	}
}

// Functions of one name in two modules are one only if the linker merged them.
func TestCloneOfOtherModule(t *testing.T) {
	for _, c := range []struct {
		clone, main string
		related     bool
	}{
		{"g.isra.0", "g", false}, // of a static g that is inlined everywhere
		{"_ZL1g.isra.0", "_ZL1g", false},
		{"_Z1g.isra.0", "_Z1g", true},
	} {
		functions := []symtab.Function{of(funcinfo.Clone, c.clone), of(funcinfo.Normal, c.main)}
		functions[1].Module = 2
		r, pr := lined(functions, [][]int32{{1}, {1}})
		_, ok := r.Program.Relations[r.Program.Location(pr.Resolve(0x401000, 0).Location).Function]
		if ok != c.related {
			t.Errorf("%s of another module's %s: %v", c.clone, c.main, ok)
		}
	}
}

// In user mode, an instruction of a body, or of a part of a body, belongs to the main function: a
// location with the same offset and line, but its own identifier.
func TestFold(t *testing.T) {
	functions := []symtab.Function{of(funcinfo.Normal, "f"), of(funcinfo.Body, "f._omp_fn.0"), of(funcinfo.Outline, "f._omp_fn.0.cold")}
	r, pr := lined(functions, [][]int32{{10}, {12}, {13}})
	for i, want := range []bool{false, true, true} {
		l := pr.Resolve(0x401008+uint64(i)*0x100, 0).Location
		folded, ok := r.Fold(l)
		a, b := *r.Program.Location(l), *r.Program.Location(folded)
		if ok != want || r.Program.Functions[b.Function].Linkage != "f" || a.Offset != b.Offset || a.Line != b.Line || (r.Program.LocationID(l) == r.Program.LocationID(folded)) == want {
			t.Errorf("%s: %v, %+v became %+v", functions[i].Linkage, ok, a, b)
		}
		if again, _ := r.Fold(l); again != folded {
			t.Errorf("%s: another location the second time", functions[i].Linkage)
		}
	}
}

// Two names at one address are one function, not a clone of itself.
func TestCloneOfItself(t *testing.T) {
	r, pr := lined([]symtab.Function{{Kind: funcinfo.Clone, Linkage: "f.part.0", Aliases: "f\tf.part.0"}}, [][]int32{{1}})
	n := r.Program.Location(pr.Resolve(0x401000, 0).Location).Function
	if relation, ok := r.Program.Relations[n]; ok {
		t.Errorf("made from %s", r.Program.Functions[relation.Main].Name)
	}
}

// The parts of a coroutine are clones of the function that starts it (S9).
func TestCoroutineParts(t *testing.T) {
	functions := []symtab.Function{
		of(funcinfo.Normal, "_Z3barv"),
		of(funcinfo.Clone, "_Z3barPZ3barvE13_Z3barv.Frame.actor"),
		of(funcinfo.Outline, "_Z3barPZ3barvE13_Z3barv.Frame.actor.cold"),
		of(funcinfo.Clone, "_Z3barv.resume"),
		of(funcinfo.Clone, "_Z3gonPZ3gonvE13_Z3gonv.Frame.actor"),
	}
	r, pr := lined(functions, [][]int32{{1}, {1}, {1}, {1}, {1}})
	p := r.Program
	for i, want := range []string{"", "_Z3barv", "_Z3barPZ3barvE13_Z3barv.Frame.actor", "_Z3barv", ""} {
		n := p.Location(pr.Resolve(0x401000+uint64(i)*0x100, 0).Location).Function
		main := ""
		if relation, ok := p.Relations[n]; ok {
			main = p.Functions[relation.Main].Linkage
		}
		if main != want {
			t.Errorf("%s was made from %q, want %q", p.Functions[n].Linkage, main, want)
		}
	}
}
