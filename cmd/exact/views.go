package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"stackmill/queries"
)

// metric counts the recorded page faults; each sample has the value 1.
const metric = "page-faults:u"

// values has two values for each row of a view, by the row's key: an exclusive or attributed one,
// and an inclusive one.
type values map[string][2]int64

func (v values) add(key string, exclusive, inclusive int64) {
	x := v[key]
	v[key] = [2]int64{x[0] + exclusive, x[1] + inclusive}
}

// view is a view to check. Its SQL returns key and two values of each row; add computes them, by
// adding a sample's stack.
type view struct {
	name, sql string
	add       func(to values, s *sample, levels []step)
	inlined   bool
}

// step is a function in a stack: that of a frame, or one inlined there. Steps are in order from the
// root.
type step struct {
	*frame
	level
	leaf bool // it is the innermost function of its frame
}

func steps(s *stack, inlined bool) (list []step) {
	for _, f := range slices.Backward(s.frames) {
		levels := f.levels
		if !inlined {
			levels = levels[:1]
		}
		for i, l := range levels {
			list = append(list, step{f, l, i == len(levels)-1})
		}
	}
	return list
}

// once returns an add function for views whose rows are functions, lines and the like: if several
// steps have the same key, the sample counts once.
func once(key func(step) string) func(values, *sample, []step) {
	return func(to values, _ *sample, list []step) {
		seen := map[string]bool{}
		for i, s := range list {
			k := key(s)
			if k == "" {
				continue
			}
			var exclusive, inclusive int64
			if i == len(list)-1 {
				exclusive = 1
			}
			if !seen[k] {
				inclusive = 1
			}
			seen[k] = true
			to.add(k, exclusive, inclusive)
		}
	}
}

// alone returns an add function for views in which a sample belongs to a single row.
func alone(key func(*sample) string) func(values, *sample, []step) {
	return func(to values, s *sample, _ []step) { to.add(key(s), 1, 0) }
}

func number(n int64) string { return strconv.FormatInt(n, 10) }

// addCalls adds a sample to the callers and callees of the functions on its stack. A recursive
// function counts once, where it is nearest to the leaf.
func addCalls(to values, _ *sample, list []step) {
	seen := map[int64]bool{}
	for i, s := range slices.Backward(list) {
		if seen[s.id] {
			continue
		}
		seen[s.id] = true
		caller := "<Total>"
		if i > 0 {
			caller = number(list[i-1].id)
		}
		to.add(number(s.id)+" caller "+caller, 1, 0)
		if i == len(list)-1 {
			to.add(number(s.id)+" self "+number(s.id), 1, 0)
		} else {
			to.add(number(s.id)+" callee "+number(list[i+1].id), 1, 0)
		}
	}
}

// addTree adds a sample to the nodes of the call tree, whose keys are paths of function ids.
func addTree(to values, _ *sample, list []step) {
	path := ""
	for i, s := range list {
		path += "/" + number(s.id)
		var exclusive int64
		if i == len(list)-1 {
			exclusive = 1
		}
		to.add(path, exclusive, 1)
	}
}

func addFolded(to values, _ *sample, list []step) {
	var names []string
	for _, s := range list {
		names = append(names, strings.ReplaceAll(s.function, ";", ":"))
	}
	if len(names) == 0 {
		names = []string{"<Total>"}
	}
	to.add(strings.Join(names, ";"), 1, 0)
}

// sourceLine returns the file and line of a step; "" for code without a file.
func sourceLine(s step) string {
	if s.file == "" {
		return ""
	}
	return fmt.Sprintf("%s:%d", s.file, s.line)
}

const noTotal = ` AND NOT (function = '<Total>' AND kind = 'artificial')`

func viewList() []view {
	function := once(func(s step) string { return number(s.id) })
	line := once(func(s step) string { return fmt.Sprintf("%d %s:%d", s.id, s.file, s.line) })
	source := once(sourceLine)
	pc := once(func(s step) string { return number(s.location) })
	var list []view
	for _, prefix := range []string{"", "inline_"} {
		inlined := prefix != ""
		list = append(list,
			view{"function_metrics", `SELECT function_id::VARCHAR, exclusive, inclusive FROM ` + prefix + `function_metrics WHERE true` + noTotal, function, inlined},
			view{"callers_callees", `SELECT function_id || ' ' || relation || ' ' || CASE other WHEN '<Total>' THEN other ELSE other_id::VARCHAR END, attributed, 0 FROM ` + prefix + `callers_callees WHERE function <> '<Total>'`, addCalls, inlined},
			view{"call_tree", `SELECT node_id::VARCHAR, exclusive, attributed FROM ` + prefix + `call_tree WHERE depth > 0`, addTree, inlined},
			view{"line_metrics", `SELECT function_id || ' ' || file || ':' || line, exclusive, inclusive FROM ` + prefix + `line_metrics WHERE function <> '<Total>'`, line, inlined},
			view{"source", `SELECT file || ':' || line, exclusive, inclusive FROM ` + prefix + `source WHERE (exclusive <> 0 OR inclusive <> 0)`, source, inlined},
			view{"pc_metrics", `SELECT location_id::VARCHAR, exclusive, inclusive FROM ` + prefix + `pc_metrics WHERE function <> '<Total>'`, pc, inlined})
	}
	thread := func(s *sample) string { return fmt.Sprintf("%d %d %s", s.process, s.tid, s.name) }
	return append(list,
		view{"load_object_metrics", `SELECT load_object_id::VARCHAR, exclusive, inclusive FROM load_object_metrics WHERE load_object <> '<Total>'`, once(func(s step) string { return number(s.object) }), false},
		view{"module_metrics", `SELECT module_id::VARCHAR, exclusive, inclusive FROM module_metrics WHERE load_object <> '<Total>'`, once(func(s step) string { return number(s.module) }), false},
		view{"stack_metrics", `SELECT stack_id::VARCHAR, value, 0 FROM stack_metrics WHERE true`, nil, false},
		view{"folded", `SELECT stack, value, 0 FROM folded WHERE true`, addFolded, false},
		view{"thread_metrics", `SELECT process || ' ' || thread_id || ' ' || COALESCE(thread_name, ''), value, 0 FROM thread_metrics WHERE true`, alone(thread), false},
		view{"thread_name_metrics", `SELECT COALESCE(thread_name, ''), value, 0 FROM thread_name_metrics WHERE true`, alone(func(s *sample) string { return s.name }), false},
		view{"process_metrics", `SELECT process::VARCHAR, value, 0 FROM process_metrics WHERE true`, alone(func(s *sample) string { return number(int64(s.process)) }), false},
		view{"cpu_metrics", `SELECT cpu::VARCHAR, value, 0 FROM cpu_metrics WHERE true`, alone(func(s *sample) string { return number(s.cpu) }), false},
		view{"second_metrics", `SELECT (t0_ns // 1000000000)::VARCHAR, value, 0 FROM second_metrics WHERE true`, alone(func(s *sample) string { return number(s.second) }), false},
		view{"timeline", `SELECT thread_id || ' ' || COALESCE(thread_name, '') || ' ' || (t0_ns // 1000000000), value, 0 FROM timeline WHERE true`,
			alone(func(s *sample) string { return fmt.Sprintf("%d %s %d", s.tid, s.name, s.second) }), false},
	)
}

// row identifies a row of a view.
type row struct{ experiment, mode, key string }

// compareViews computes all views from the samples' stacks, which were compared with the truth
// before, and reports where the store's views differ.
func compareViews(ctx context.Context, db *queries.DB, list map[string]*experiment, found func(experiment, text string)) error {
	paths, err := treePaths(ctx, db)
	if err != nil {
		return err
	}
	for _, v := range viewList() {
		name := v.name
		if v.inlined {
			name = "inline_" + name
		}
		got := map[string]map[string]values{}
		var r row
		var a, b int64
		text := strings.Replace(v.sql, "SELECT ", "SELECT experiment, mode, ", 1) + " AND metric = '" + metric + "'"
		err := each(ctx, db, text, []any{&r.experiment, &r.mode, &r.key, &a, &b}, func() {
			if got[r.experiment] == nil {
				got[r.experiment] = map[string]values{}
			}
			if got[r.experiment][r.mode] == nil {
				got[r.experiment][r.mode] = values{}
			}
			key := r.key
			if v.name == "call_tree" {
				key = paths[name][r]
			}
			got[r.experiment][r.mode].add(key, a, b)
		})
		if err != nil {
			return err
		}
		for name0, e := range list {
			for i, mode := range modes {
				want := values{}
				for _, s := range e.samples {
					if v.add == nil {
						want.add(number(s.stacks[i].id), 1, 0)
						continue
					}
					v.add(want, s, steps(s.stacks[i], v.inlined))
				}
				if text := different(want, got[name0][mode]); text != "" {
					found(name0, fmt.Sprintf("%s, %s mode: %s", name, mode, text))
				}
			}
		}
	}
	return nil
}

func different(want, got values) string {
	var list []string
	for k, w := range want {
		if g := got[k]; g != w {
			list = append(list, fmt.Sprintf("%s is %d, want %d", k, g, w))
		}
	}
	for k, g := range got {
		// Rows without a value are no difference: a recursive function counts only at one of its
		// callers or callees.
		if _, expected := want[k]; !expected && g != [2]int64{} {
			list = append(list, fmt.Sprintf("%s is %d, want none", k, g))
		}
	}
	slices.Sort(list)
	if len(list) > 3 {
		list = append(list[:3], fmt.Sprintf("and %d more", len(list)-3))
	}
	return strings.Join(list, "; ")
}

// treePaths returns, for each row of the views of call trees, the path of function ids by which addTree
// identifies the node.
func treePaths(ctx context.Context, db *queries.DB) (map[string]map[row]string, error) {
	all := map[string]map[row]string{}
	for _, name := range []string{"call_tree", "inline_call_tree"} {
		paths := map[row]string{}
		var r, parent row
		var function string
		err := each(ctx, db, `SELECT experiment, mode, node_id::VARCHAR, COALESCE(parent_id, 0)::VARCHAR, function_id::VARCHAR FROM `+name+
			` WHERE metric = '`+metric+`' ORDER BY depth`, []any{&r.experiment, &r.mode, &r.key, &parent.key, &function}, func() {
			if parent.key == "0" {
				paths[r] = ""
				return
			}
			parent.experiment, parent.mode = r.experiment, r.mode
			paths[r] = paths[parent] + "/" + function
		})
		if err != nil {
			return nil, err
		}
		all[name] = paths
	}
	return all, nil
}
