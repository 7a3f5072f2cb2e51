package attribute

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"stackmill/schema"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// inliningProgram is a program whose functions have several instructions: on one line, on several
// lines, in inlined functions.
func inliningProgram() *program.Program {
	p := letters()
	p.Modules, p.Objects = append(p.Modules, program.Module{ID: 2}), append(p.Objects, program.Object{ID: 2})
	for i := range p.Functions {
		p.Functions[i].Module, p.Functions[i].Object = program.ModuleNo(i%2), program.ObjectNo(i%2)
	}
	for i := range 5 {
		p.Locations.Add(program.Location{Function: program.FunctionNo(i / 2), Place: funcinfo.Place{File: "f.c", Line: int32(i%3 + 1)}})
	}
	p.Inlines = make([][]program.Level, p.Locations.Len())
	p.Inlines[2] = []program.Level{{Function: 3, Place: funcinfo.Place{File: "f.c", Line: 1}}, {Function: 2, Place: funcinfo.Place{File: "f.c", Line: 3}}} // c again
	p.Inlines[7] = []program.Level{{Function: 0, Place: funcinfo.Place{File: "h.h", Line: 9}}}
	return p
}

// thingSums holds values by thing.
type thingSums struct{ Exclusive, Inclusive map[any]int64 }

func newThingSums() thingSums { return thingSums{map[any]int64{}, map[any]int64{}} }

// stack adds a stack that passes things and ends at the last of them.
func (c thingSums) stack(things []any, value int64) {
	passed := map[any]bool{}
	for _, thing := range things {
		passed[thing] = true
	}
	for thing := range passed {
		c.Inclusive[thing] += value
	}
	if len(things) > 0 {
		c.Exclusive[things[len(things)-1]] += value
	}
}

// thingSumsOf returns the values of a tally of one column.
func thingSumsOf[N ~int32](t tally[N], key func(n int) any) thingSums {
	c := newThingSums()
	for n := range len(t.last) {
		c.Inclusive[key(n)] += t.inclusive(n)[0]
		c.Exclusive[key(n)] += t.Exclusive.values[n]
	}
	return c
}

// different compares values; a missing value equals 0.
func different(want, got thingSums) string {
	zero := func(_ any, v int64) bool { return v == 0 }
	for _, c := range []thingSums{want, got} {
		maps.DeleteFunc(c.Exclusive, zero)
		maps.DeleteFunc(c.Inclusive, zero)
	}
	return cmp.Diff(want, got)
}

// In all modes, each stack adds its value once to each thing that it passes, even if it passes the
// thing several times, and exclusively to the things at its leaf.
func TestModesByDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, recorded, sums := inliningProgram(), NewStacks(), NewSums([]schema.Metric{{Name: "m"}})
		var stacks []map[stacktree.Mode][]program.LocationNo
		for i := range rapid.IntRange(1, 8).Draw(t, "stacks") {
			frames := rapid.SliceOfN(rapid.Int32Range(0, int32(p.Locations.Len()-1)), 0, 6)
			shown := everyMode(drawStack(t, frames)...)
			if rapid.Bool().Draw(t, "other") {
				shown[stacktree.User] = drawStack(t, frames)
			}
			stacks = append(stacks, shown)
			addStack(recorded, shown)
			sums.At(RecordedStackNo(i), 0).Add(1 << i)
		}
		c := computeValues(p, recorded, sums)
		for view := range c.Views {
			v := &c.Views[view]
			functions, modules, objects, lines, source, pcs := newThingSums(), newThingSums(), newThingSums(), newThingSums(), newThingSums(), newThingSums()
			nodes := newThingSums()
			for i, shown := range stacks {
				x := passedThingsOf(p, shown[v.leaf], v.inlined)
				for to, of := range map[*thingSums][]any{&functions: x.functions, &modules: x.modules, &objects: x.objects, &lines: x.lines, &source: x.source, &pcs: x.locations, &nodes: x.paths} {
					to.stack(of, 1<<i)
				}
			}
			values, code := []*MetricValues{c.values}, c.code[view]
			for what, diff := range map[string]string{
				"functions": different(functions, thingSumsOf(c.functions(view), func(n int) any { return program.FunctionNo(n) })),
				"modules":   different(modules, thingSumsOf(inView(values, view, func(v *MetricValues) tally[program.ModuleNo] { return v.Modules }), func(n int) any { return program.ModuleNo(n) })),
				"objects":   different(objects, thingSumsOf(inView(values, view, func(v *MetricValues) tally[program.ObjectNo] { return v.Objects }), func(n int) any { return program.ObjectNo(n) })),
				"lines":     different(lines, thingSumsOf(code.Lines, func(n int) any { return c.LineKeys[n] })),
				"source":    different(source, thingSumsOf(code.Source, func(n int) any { return c.SourceKeys[n] })),
				"nodes":     different(nodes, c.nodes(view)),
			} {
				if diff != "" {
					t.Fatalf("view %d: %s: %s", view, what, diff)
				}
			}
			if !v.inlined {
				if diff := different(pcs, thingSumsOf(code.PCs, func(n int) any { return program.LocationNo(n) })); diff != "" {
					t.Fatalf("view %d: instructions: %s", view, diff)
				}
			}
		}
	})
}

func drawStack(t *rapid.T, frames *rapid.Generator[[]int32]) (list []program.LocationNo) {
	for _, n := range frames.Draw(t, "frames") {
		list = append(list, program.LocationNo(n))
	}
	return list
}

// passedThings are the things that a stack passes, by kind; a path is the functions from the root.
type passedThings struct{ functions, modules, objects, lines, source, locations, paths []any }

func passedThingsOf(p *program.Program, stack []program.LocationNo, inlined bool) (x passedThings) {
	path := ""
	at := func(function program.FunctionNo, file string, line int32) {
		path += name(function)
		x.functions = append(x.functions, function)
		x.modules, x.objects = append(x.modules, p.Functions[function].Module), append(x.objects, p.Functions[function].Object)
		x.lines, x.source = append(x.lines, LineKey{function, file, line}), append(x.source, SourceKey{file, line})
		x.paths = append(x.paths, path)
	}
	for _, location := range stack {
		l := p.Location(location)
		x.locations = append(x.locations, location)
		at(l.Function, l.File, l.Line)
		if inlined {
			for _, i := range p.InlinedAt(location) {
				at(i.Function, i.File, i.Line)
			}
		}
	}
	return x
}

// nodes returns the values of a view by path, except the root's.
func (c *testValues) nodes(view int) thingSums {
	values, paths := newThingSums(), []string{""}
	for n := 1; n < c.Len(); n++ {
		paths = append(paths, paths[c.Parent[n]]+name(c.Label[n]))
		values.Exclusive[paths[n]] += c.own.row(n)[view]
		values.Inclusive[paths[n]] += c.all.row(n)[view]
	}
	return values
}
