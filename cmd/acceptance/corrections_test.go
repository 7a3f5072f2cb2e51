package acceptance

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackmill/cmd/acceptance/golden"
)

// correction changes a wrong part of a golden to what the manual's rule or the program's source
// says.
type correction struct {
	recording, reason string
	apply             func(*golden.Experiment) error
}

var corrections = []correction{
	{"cxx", "S12: the catch block is called from the function it was split from", outline("catcher() [clone .cold]", "catcher()", 0)},
	{"cxx", "S12: so is the landing pad", outline("throw_storm(int) [clone .cold]", "throw_storm(int)", 0x2e30)},
	{"all", "S12: the catch block is called from the function it was split from", outline("catcher() [clone .cold]", "catcher()", 0)},
	{"all", "S12: so is the landing pad", outline("throw_storm(int) [clone .cold]", "throw_storm(int)", 0x2e30)},
	{"all", "S12: so is the throwing of its message, below the function itself", outlineCall("thrower(int) [clone .cold]", "thrower(int)")},
	{"all", "S22: the instruction is in .plt.got, its time is that of the call instruction", movePC(
		"<static>@0x2c105 (<libgp-collector.so>) --  no functions found + 0x0001B99B", "__collector_check_segment_internal + 0x000001DB")},
	{"outline", "S12: the cold part is called from the function it was split from", outline("process.cold", "process", 0)},
	{"clones", "the call through the pointer is in line 38, as addr2line says", mergeLine(`host2, line 36 in "clones.c"`, `host2, line 38 in "clones.c"`)},
	{"entry", "S8: Fortran procedures have the names that the source gives them", rename(map[string]string{
		"MAIN__": "entries", "__mathmod_MOD_nested": "mathmod::nested", "inner.0": "mathmod::nested::inner",
		"body_": "body", "alt_": "alt", "master.0.body_": "master.0.body",
	})},
	{"heap", "realloc'ed blocks are not leaked: TestTruth has the leaks", without("heapleakbytes", "heapleakcnt")},
}

// corrected applies the corrections of a recording.
func corrected(t *testing.T, recording string, x *golden.Experiment) *golden.Experiment {
	t.Helper()
	for _, c := range corrections {
		if c.recording == recording {
			if err := c.apply(x); err != nil {
				t.Fatalf("correction of %s (%s): %v", recording, c.reason, err)
			}
		}
	}
	return x
}

// rename renames functions in every table, also in the names of instructions and lines.
func rename(names map[string]string) func(*golden.Experiment) error {
	return func(x *golden.Experiment) error {
		found := map[string]bool{}
		for i := range x.Functions {
			if name, ok := names[x.Functions[i].Name]; ok {
				found[x.Functions[i].Name] = true
				x.Functions[i].Name = name
			}
		}
		if len(found) != len(names) {
			return fmt.Errorf("only the functions %v", found)
		}
		for _, t := range append([]*golden.Table{&x.List, &x.Lines, &x.PCs, &x.Tree}, pointers(x.Blocks)...) {
			for i := range t.Rows {
				name := t.Rows[i].Name
				head := name[:strings.IndexAny(name+" ", ", ")]
				if to, ok := names[head]; ok {
					t.Rows[i].Name = to + name[len(head):]
				}
			}
		}
		return nil
	}
}

func pointers(tables []golden.Table) (list []*golden.Table) {
	for i := range tables {
		list = append(list, &tables[i])
	}
	return list
}

// without removes the columns of metrics.
func without(metrics ...string) func(*golden.Experiment) error {
	return func(x *golden.Experiment) error {
		tables := []*golden.Table{&x.List, &x.Lines, &x.PCs, &x.Tree, &x.Threads, &x.CPUs}
		for i := range x.Blocks {
			tables = append(tables, &x.Blocks[i])
		}
		for _, t := range tables {
			for k := len(t.Columns) - 1; k >= 0; k-- {
				if !slices.Contains(metrics, t.Columns[k].Metric) {
					continue
				}
				t.Columns = slices.Delete(t.Columns, k, k+1)
				for i := range t.Rows {
					t.Rows[i].Values = slices.Delete(t.Rows[i].Values, k, k+1)
				}
			}
		}
		return nil
	}
}

// outline inserts the call of an outline function by its main function (S12): callers of the part
// become callers of the main function. offset is where the main function begins, if the golden
// lacks it.
func outline(part, base string, offset int64) func(*golden.Experiment) error {
	return func(x *golden.Experiment) error {
		p := slices.IndexFunc(x.Functions, func(f golden.Function) bool { return f.Name == part })
		if p < 0 {
			return fmt.Errorf("no function %s", part)
		}
		b := slices.IndexFunc(x.Functions, func(f golden.Function) bool { return f.Name == base })
		if b < 0 {
			b = len(x.Functions)
			appendFunction(x, golden.Function{Name: base, Offset: offset, LoadObject: x.Functions[p].LoadObject}, p)
		}
		for k, c := range x.List.Columns {
			if c.Flavor == "Incl." {
				v := x.List.Rows[b].Values
				v[k] = add(c.Metric, v[k], x.List.Rows[p].Values[k])
			}
		}
		block, star := x.Blocks[p], starRow(x.Blocks[p])
		for _, caller := range block.Rows[:star] {
			addRow(&x.Blocks[b], caller, true)
			for i := range x.Blocks {
				if x.Functions[i].Name == caller.Name {
					moveCallee(&x.Blocks[i], part, base)
				}
			}
		}
		inclusive := golden.Row{Name: base}
		for _, c := range block.Columns {
			inclusive.Values = append(inclusive.Values, cell(x.List, p, golden.Column{Flavor: "Incl.", Metric: c.Metric}))
		}
		x.Blocks[p].Rows = append([]golden.Row{inclusive}, block.Rows[star:]...)
		inclusive.Name = part
		addRow(&x.Blocks[b], inclusive, false)
		x.Tree = golden.Table{} // checking callers and callees suffices
		return outlineCall(part, base)(x)
	}
}

// outlineCall adds the instruction of the artificial call: the main function's first.
func outlineCall(part, base string) func(*golden.Experiment) error {
	return func(x *golden.Experiment) error {
		p := slices.IndexFunc(x.Functions, func(f golden.Function) bool { return f.Name == part })
		if p < 0 {
			return fmt.Errorf("no function %s", part)
		}
		row := golden.Row{Name: base + " + 0x00000000"}
		for _, c := range x.PCs.Columns {
			v := add(c.Metric, "0", "0")
			if c.Flavor == "Incl." {
				v = cell(x.List, p, c)
			}
			row.Values = append(row.Values, v)
		}
		x.PCs.Rows = append(x.PCs.Rows, row)
		return nil
	}
}

// movePC moves an instruction's exclusive time to the instruction that called it.
func movePC(from, to string) func(*golden.Experiment) error {
	return func(x *golden.Experiment) error {
		index := func(name string) int {
			return slices.IndexFunc(x.PCs.Rows, func(r golden.Row) bool { return r.Name == name })
		}
		i, j := index(from), index(to)
		if i < 0 || j < 0 {
			return fmt.Errorf("no instruction %s or %s", from, to)
		}
		for k, c := range x.PCs.Columns {
			if values := x.PCs.Rows[j].Values; c.Flavor == "Excl." {
				values[k] = add(c.Metric, values[k], x.PCs.Rows[i].Values[k])
			}
		}
		x.PCs.Rows = slices.Delete(x.PCs.Rows, i, i+1)
		return nil
	}
}

// mergeLine adds a line's values to another's; no stack has both.
func mergeLine(from, to string) func(*golden.Experiment) error {
	return func(x *golden.Experiment) error {
		index := func(name string) int {
			return slices.IndexFunc(x.Lines.Rows, func(r golden.Row) bool { return r.Name == name })
		}
		i, j := index(from), index(to)
		if i < 0 || j < 0 {
			return fmt.Errorf("no line %s or %s", from, to)
		}
		for k, c := range x.Lines.Columns {
			x.Lines.Rows[j].Values[k] = add(c.Metric, x.Lines.Rows[j].Values[k], x.Lines.Rows[i].Values[k])
		}
		x.Lines.Rows = slices.Delete(x.Lines.Rows, i, i+1)
		return nil
	}
}

// appendFunction adds a function without values, with the columns of another.
func appendFunction(x *golden.Experiment, f golden.Function, like int) {
	zeros := func(t golden.Table) (vs []string) {
		for _, c := range t.Columns {
			vs = append(vs, add(c.Metric, "0", "0"))
		}
		return vs
	}
	x.Functions = append(x.Functions, f)
	x.List.Rows = append(x.List.Rows, golden.Row{Name: f.Name, Values: zeros(x.List)})
	b := golden.Table{Columns: x.Blocks[like].Columns}
	b.Rows = []golden.Row{{Name: f.Name, Star: true, Values: zeros(b)}}
	x.Blocks = append(x.Blocks, b)
}

func starRow(b golden.Table) int {
	return slices.IndexFunc(b.Rows, func(r golden.Row) bool { return r.Star })
}

// addRow adds a caller or callee to a block, or its values to the row of its name.
func addRow(b *golden.Table, row golden.Row, caller bool) {
	star := starRow(*b)
	for i := range b.Rows {
		if b.Rows[i].Name == row.Name && i != star && (i < star) == caller {
			values := slices.Clone(b.Rows[i].Values)
			for k, c := range b.Columns {
				values[k] = add(c.Metric, values[k], row.Values[k])
			}
			b.Rows[i].Values = values
			return
		}
	}
	if caller {
		b.Rows = slices.Insert(b.Rows, star, row)
	} else {
		b.Rows = append(b.Rows, row)
	}
}

// moveCallee renames a callee.
func moveCallee(b *golden.Table, from, to string) {
	for i := starRow(*b) + 1; i < len(b.Rows); i++ {
		if r := b.Rows[i]; r.Name == from {
			b.Rows = slices.Delete(b.Rows, i, i+1)
			r.Name = to
			addRow(b, r, false)
			return
		}
	}
}

// tick is the interval of the clock-profiled recordings that are corrected, in seconds.
const tick = 0.000997

// add adds two printed values. Times are whole ticks, so that three decimals suffice.
func add(metric, a, b string) string {
	x, _ := strconv.ParseFloat(a, 64)
	y, _ := strconv.ParseFloat(b, 64)
	switch {
	case metric == "totalcpu":
		return golden.Print("ns", int64(math.Round(x/tick)+math.Round(y/tick))*997_000)
	case strings.HasSuffix(metric, "time") || metric == "sync":
		return golden.Print("ns", int64(math.Round((x+y)*1e9)))
	}
	return golden.Print("count", int64(x+y))
}

// objectName returns the base name of a load object's path.
func objectName(p string) string { return path.Base(p) }
