package prove

import (
	"fmt"

	"stackmill/schema"
)

// proveModes proves that rows hold for some mode, and that each bit of theirs means something.
func (x *experiment) proveModes() error {
	for _, t := range schema.Tables {
		if !t.Has("modes") || x.rows[t].n == 0 {
			continue
		}
		for _, m := range x.col(t, "modes") {
			if m&^t.ModeBits() != 0 || m&schema.ShownModes == 0 {
				return fmt.Errorf("%s: modes %d", t.Name, m)
			}
		}
	}
	return nil
}

// imply adds the rows that the files leave out since others stand for them.
func (x *experiment) imply() {
	x.implyByFunctions()
	x.implyNodes()
	x.implyCallees()
	x.implySources()
	for _, t := range []*schema.Table{schema.FunctionValues, schema.CallValues, schema.LineValues} {
		modes := x.col(t, "modes")
		for i := range modes {
			modes[i] &= schema.ShownModes
		}
	}
}

// imply adds a row with these values, by column; experiment_id is another row's.
func (x *experiment) add(t *schema.Table, id int64, values map[string]int64) {
	r := x.rows[t]
	for i, c := range x.columns[t] {
		v, given := values[c.name]
		if !given {
			v = id
		}
		r.values[i] = append(r.values[i], v)
	}
	r.n++
}

// implyByFunctions adds what rows of functions stand for.
func (x *experiment) implyByFunctions() {
	t := schema.FunctionValues
	ids, modes, metrics, functions := x.col(t, "experiment_id"), x.col(t, "modes"), x.col(t, "metric"), x.col(t, "function_no")
	exclusive, inclusive := x.col(t, "exclusive"), x.col(t, "inclusive")
	files, lines := x.linesOf()
	modules := byNumber(x.col(schema.Functions, "function_no"), x.col(schema.Functions, "module_id"))
	locations := byNumber(x.col(schema.Locations, "function_no"), x.col(schema.Locations, "location"))
	for i, m := range modes {
		f := functions[i]
		if m&schema.ForSelf != 0 {
			x.add(schema.CallValues, ids[i], map[string]int64{"modes": m & schema.ShownModes, "metric": metrics[i],
				"function_no": f, "relation": hash("self"), "other_no": 0, "attributed": exclusive[i]})
		}
		sums := map[string]int64{"modes": m & schema.ShownModes, "metric": metrics[i], "exclusive": exclusive[i], "inclusive": inclusive[i]}
		if m&schema.ForLine != 0 {
			sums["function_no"], sums["file"], sums["line"] = f, files[f], lines[f]
			if m&schema.ForLineSource != 0 {
				sums["modes"] |= schema.ForSource
			}
			x.add(schema.LineValues, ids[i], sums)
		}
		if sums["modes"] = m & 7; m&7 == 0 {
			continue
		}
		if m&schema.ForModule != 0 {
			for _, sums["module_id"] = range modules[f] {
				x.add(schema.ModuleValues, ids[i], sums)
			}
		}
		if m&schema.ForPC != 0 {
			for _, sums["location"] = range locations[f] {
				x.add(schema.PCValues, ids[i], sums)
			}
		}
	}
}

// implyNodes adds what rows of functions stand for with nodes that are alone.
func (x *experiment) implyNodes() {
	t, nodes := schema.FunctionValues, schema.CallNodes
	ids, modes, metrics, inclusive, exclusive := x.col(t, "experiment_id"), x.col(t, "modes"), x.col(t, "metric"), x.col(t, "inclusive"), x.col(t, "exclusive")
	alone, up, functions := x.col(nodes, "alone"), x.col(nodes, "up"), x.col(nodes, "function_no")
	places := make([]int64, len(functions))
	for n := range places {
		places[n] = int64(n)
	}
	of := byNumber(functions, places)
	for i, f := range x.col(t, "function_no") {
		for _, n := range of[f] {
			m := modes[i] & alone[n]
			caller := n - up[n]
			if m == 0 || caller < 0 || caller >= n {
				continue
			}
			g := functions[caller]
			x.add(schema.TreeValues, ids[i], map[string]int64{"modes": m, "metric": metrics[i], "call_node": x.col(nodes, "call_node")[n], "attributed": inclusive[i], "exclusive": exclusive[i]})
			x.add(schema.CallValues, ids[i], map[string]int64{"modes": m, "metric": metrics[i], "function_no": f, "relation": hash("caller"), "other_no": g - f, "attributed": inclusive[i]})
			x.add(schema.CallValues, ids[i], map[string]int64{"modes": m, "metric": metrics[i], "function_no": g, "relation": hash("callee"), "other_no": f - g, "attributed": inclusive[i]})
		}
	}
}

// linesOf returns a line of each function, by number.
func (x *experiment) linesOf() (files, lines map[int64]int64) {
	files, lines = map[int64]int64{}, map[int64]int64{}
	for _, t := range []*schema.Table{schema.Locations, schema.InlineFrames} {
		file, line := x.col(t, "file"), x.col(t, "line")
		for i, f := range x.col(t, "function_no") {
			files[f], lines[f] = file[i], line[i]
		}
	}
	return files, lines
}

// byNumber lists values by numbers of functions.
func byNumber(numbers, values []int64) map[int64][]int64 {
	m := make(map[int64][]int64, len(numbers))
	for i, n := range numbers {
		m[n] = append(m[n], values[i])
	}
	return m
}

// implyCallees adds what rows of callers stand for.
func (x *experiment) implyCallees() {
	t := schema.CallValues
	ids, modes, metrics, functions := x.col(t, "experiment_id"), x.col(t, "modes"), x.col(t, "metric"), x.col(t, "function_no")
	others, attributed := x.col(t, "other_no"), x.col(t, "attributed")
	for i, m := range modes {
		if m&schema.ForCallee != 0 {
			x.add(t, ids[i], map[string]int64{"modes": m & schema.ShownModes, "metric": metrics[i],
				"function_no": functions[i] + others[i], "relation": hash("callee"), "other_no": -others[i], "attributed": attributed[i]})
		}
	}
}

// implySources adds what rows of lines stand for.
func (x *experiment) implySources() {
	t := schema.LineValues
	ids, modes, metrics, files, lines := x.col(t, "experiment_id"), x.col(t, "modes"), x.col(t, "metric"), x.col(t, "file"), x.col(t, "line")
	exclusive, inclusive := x.col(t, "exclusive"), x.col(t, "inclusive")
	for i, m := range modes {
		if m&schema.ForSource != 0 {
			x.add(schema.SourceValues, ids[i], map[string]int64{"modes": m & schema.ShownModes, "metric": metrics[i],
				"file": files[i], "line": lines[i], "exclusive": exclusive[i], "inclusive": inclusive[i]})
		}
	}
}
