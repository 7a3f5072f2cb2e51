package prove

import (
	"fmt"
	"slices"

	"stackmill/schema"
)

// forms is the number of bits of `modes`: three for the representations, three for the
// same with inlined functions.
const forms = 2 * modes

// run is rows of a table with the same modes and metric, which follow each other.
type run struct {
	modes      int64
	metric     int32
	start, end int
}

// runs cuts a table's rows into runs.
func (x *experiment) runs(t *schema.Table) ([]run, error) {
	bits, metrics := x.col(t, "modes"), x.col(t, "metric")
	var list []run
	for i := range bits {
		if i > 0 && bits[i] == bits[i-1] && metrics[i] == metrics[i-1] {
			list[len(list)-1].end++
			continue
		}
		m, known := x.metrics[metrics[i]]
		if !known || bits[i] <= 0 || bits[i] >= 1<<forms {
			return nil, fmt.Errorf("%s: a metric or mode is unknown", t.Name)
		}
		list = append(list, run{bits[i], m, i, i + 1})
	}
	return list, nil
}

// of returns the runs of a metric in a form.
func of(runs []run, metric int32, form int) (list []run) {
	for _, r := range runs {
		if r.metric == metric && r.modes>>form&1 != 0 {
			list = append(list, r)
		}
	}
	return list
}

// kind is a kind of things that have values: what an instruction belongs to.
type kind struct {
	table *schema.Table
	// number returns the thing that a level of an instruction belongs to; -1 if none.
	number func(location int32, l level) int32
	stored func(row int) int32 // the thing of a row of the table; -1 if it is unknown
	levels bool                // whether inlined functions matter
	things func() int          // how many there are
}

// proveValues proves that values are those of the stacks that end in a thing, and of those
// that pass it, each once.
func (x *experiment) proveValues() error {
	x.keys = keys{}
	passing := x.passing()
	for _, k := range x.kinds() {
		if err := x.proveKind(k, passing); err != nil {
			return fmt.Errorf("%s: %w", k.table.Name, err)
		}
	}
	return nil
}

// kinds returns the kinds of things.
func (x *experiment) kinds() []kind {
	f := schema.Functions
	objects, modules := numbered(x.col(schema.LoadObjects, "load_object_id")), numbered(x.col(schema.Modules, "module_id"))
	ofObject, ofModule := x.col(f, "load_object_id"), x.col(f, "module_id")
	find := func(ids map[int64]int32, id int64) int32 {
		if n, known := ids[id]; known {
			return n
		}
		return -1
	}
	lines := func(t *schema.Table, function bool) kind {
		own := keys{}
		var at, file, line []int64
		if function {
			at = x.col(t, "function_no")
		}
		file, line = x.col(t, "file"), x.col(t, "line")
		of := func(function, file, line int64) int32 {
			if file == none {
				line = 0
			}
			return own.number(function, file, line)
		}
		return kind{t, func(_ int32, l level) int32 {
			if !function {
				return of(0, l.file, l.line)
			}
			return of(int64(l.function), l.file, l.line)
		}, func(row int) int32 {
			switch {
			case file[row] == none && line[row] != 0:
				return -1
			case !function:
				return of(0, file[row], line[row])
			}
			return of(int64(find(x.functions, at[row])), file[row], line[row])
		}, true, func() int { return len(own) }}
	}
	pcs, functionNos := x.col(schema.PCValues, "location"), x.col(schema.FunctionValues, "function_no")
	moduleIDs, objectIDs := x.col(schema.ModuleValues, "module_id"), x.col(schema.ObjectValues, "load_object_id")
	return []kind{
		{schema.PCValues, func(location int32, _ level) int32 { return location }, func(row int) int32 {
			if x.known(pcs[row]) {
				return int32(pcs[row])
			}
			return -1
		}, false, func() int { return len(x.location) }},
		{schema.FunctionValues, func(_ int32, l level) int32 { return l.function },
			func(row int) int32 { return find(x.functions, functionNos[row]) }, true, func() int { return x.len(f) }},
		lines(schema.LineValues, true),
		lines(schema.SourceValues, false),
		{schema.ModuleValues, func(_ int32, l level) int32 { return modules[ofModule[l.function]] },
			func(row int) int32 { return find(modules, moduleIDs[row]) }, false, func() int { return len(modules) }},
		{schema.ObjectValues, func(_ int32, l level) int32 { return objects[ofObject[l.function]] },
			func(row int) int32 { return find(objects, objectIDs[row]) }, false, func() int { return len(objects) }},
	}
}

func numbered(ids []int64) map[int64]int32 {
	m := make(map[int64]int32, len(ids))
	for i, id := range ids {
		m[id] = int32(i)
	}
	return m
}

// passing returns the value of the stacks that pass each node, by metric.
func (x *experiment) passing() [][]int64 {
	node := x.col(schema.RecordedStacks, "node")
	values := make([][]int64, len(x.metrics))
	for m := range values {
		sums := make([]int64, len(x.tree.parent))
		for s, v := range x.stacks.value[m] {
			sums[node[s]] += v
		}
		for i := len(sums) - 1; i > 0; i-- {
			sums[x.tree.parent[i]] += sums[i]
		}
		values[m] = sums
	}
	return values
}

// held are the things that each instruction belongs to.
type held struct {
	all  [][]int32 // each once
	leaf []int32   // where a stack ends that ends at the instruction; -1 for nowhere
}

// hold finds the things of all instructions, with or without inlined functions.
func (x *experiment) hold(k kind, inlined bool) held {
	h := held{make([][]int32, len(x.location)), make([]int32, len(x.location))}
	flat := make([]int32, 0, len(x.location))
	for i := range x.location {
		levels := x.location[i].levels
		if !inlined {
			levels = levels[:1]
		}
		start := len(flat)
		for n, l := range levels {
			thing := k.number(int32(i), l)
			if n == len(levels)-1 {
				h.leaf[i] = thing
			}
			if thing >= 0 && !slices.Contains(flat[start:], thing) {
				flat = append(flat, thing)
			}
		}
		h.all[i] = flat[start:len(flat):len(flat)]
	}
	return h
}

// sums are the values of things in one form and metric.
type sums struct{ exclusive, inclusive []int64 }

func (x *experiment) proveKind(k kind, passing [][]int64) error {
	runs, err := x.runs(k.table)
	if err != nil {
		return err
	}
	stored := make([]int32, x.len(k.table))
	for i := range stored {
		if stored[i] = k.stored(i); stored[i] < 0 {
			return fmt.Errorf("a row is of something unknown")
		}
	}
	plain := x.hold(k, false)
	inlined := plain
	if k.levels && x.len(schema.InlineFrames) > 0 {
		inlined = x.hold(k, true)
	}
	s := sums{make([]int64, k.things()), make([]int64, k.things())}
	seen := make([]int32, k.things())
	for form := range forms {
		h := plain
		if form >= modes && !k.levels {
			break
		}
		if form >= modes {
			h = inlined
		}
		outer := x.outermost(form%modes, h, k.things())
		for m := range int32(len(x.metrics)) {
			x.sum(s, form%modes, m, h, outer, passing[m])
			if err := x.compare(k.table, of(runs, m, form), stored, s, seen, int32(form)*int32(len(x.metrics))+m+1); err != nil {
				return err
			}
		}
	}
	return nil
}

// pass is a node at which stacks enter a thing.
type pass struct{ node, thing int32 }

// outermost returns the nodes of things that have none of the same thing above them.
func (x *experiment) outermost(mode int, h held, things int) (list []pass) {
	until := make([]int32, things) // the last node below the last one of a thing
	shown := x.tree.shown[mode]
	for i, f := range x.tree.frame {
		if shown[f] < 0 {
			continue
		}
		for _, t := range h.all[shown[f]] {
			if int32(i) > until[t] {
				list = append(list, pass{int32(i), t})
				until[t] = x.tree.last[i]
			}
		}
	}
	return list
}

// sum computes the values of all things from the stacks.
func (x *experiment) sum(s sums, mode int, metric int32, h held, outer []pass, passing []int64) {
	clear(s.exclusive)
	clear(s.inclusive)
	for _, p := range outer {
		s.inclusive[p.thing] += passing[p.node]
	}
	for stack, v := range x.stacks.value[metric] {
		leaf := x.stacks.leaf[mode][stack]
		if leaf == 0 || v == 0 {
			continue
		}
		if t := h.leaf[x.tree.shown[mode][x.tree.frame[leaf]]]; t >= 0 {
			s.exclusive[t] += v
		}
	}
}

// compare proves that the rows of some runs are those sums, each thing's once.
func (x *experiment) compare(t *schema.Table, runs []run, stored []int32, s sums, seen []int32, mark int32) error {
	exclusive, inclusive := x.col(t, "exclusive"), x.col(t, "inclusive")
	for _, r := range runs {
		for i := r.start; i < r.end; i++ {
			n := stored[i]
			if t == schema.FunctionValues && n == x.total {
				continue
			}
			if seen[n] == mark {
				return fmt.Errorf("something has two rows")
			}
			seen[n] = mark
			if s.inclusive[n] == 0 && !x.signed {
				return fmt.Errorf("something without a value has a row")
			}
			if exclusive[i] != s.exclusive[n] || inclusive[i] != s.inclusive[n] {
				return fmt.Errorf("a value is not that of the stacks")
			}
			s.exclusive[n], s.inclusive[n] = 0, 0
		}
	}
	for n := range s.exclusive {
		if s.exclusive[n] != 0 || s.inclusive[n] != 0 {
			return fmt.Errorf("a value is missing")
		}
	}
	return nil
}
