package storetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Groups returns the description, for Build, of a store with two groups of experiments: base-0.er,
// ... and test-0.er, ... . base and test have the values in ms, by function, of each experiment's
// program app. The metric is m, of samples of the kind.
func Groups(kind string, base, test []map[string]int) string {
	var b strings.Builder
	all := map[string]bool{} // functions of all experiments, numbered together
	for _, values := range slices.Concat(base, test) {
		for name := range values {
			all[name] = true
		}
	}
	for n, values := range slices.Concat(base, test) {
		side, k := "base", n
		if n >= len(base) {
			side, k = "test", n-len(base)
		}
		fmt.Fprintf(&b, "batch %016x %s-%d.er /data/%s-%d.er\n", n+1, side, k, side, k)
		fmt.Fprintf(&b, "experiments experiment format duration_ns status\n  %s-%d.er gprofng 1000ms complete\n", side, k)
		fmt.Fprintf(&b, "metrics metric title unit kind\n  m M ns %s\n", kind)
		b.WriteString("load_objects load_object_id name path kind\n  901 <Total> <Total> artificial\n  903 app /bin/app elf\n")
		b.WriteString("modules module_id load_object_id name\n  801 901 (unknown)\n  803 903 a.c\n")
		functions := "functions function_no function_id load_object_id module_id name other_linkage_name kind\n  1 1 901 801 <Total> '' artificial\n"
		sums := "function_values modes metric function_no exclusive inclusive\n"
		tree, nodes := "tree_values modes metric call_node attributed exclusive\n", ""
		total, node := 0, 1
		for no, name := range slices.Sorted(maps.Keys(all)) {
			if _, has := values[name]; !has {
				continue
			}
			functions += fmt.Sprintf("  %d %d 903 803 %s %s normal\n", no+10, no+10, name, name)
			sums += fmt.Sprintf("  7 m %d %dms %dms\n", no+10, values[name], values[name])
			nodes += fmt.Sprintf("  %d %d 0 1 %d\n", node, node, no+10)
			tree += fmt.Sprintf("  7 m %d %dms %dms\n", node, values[name], values[name])
			node++
			total += values[name]
		}
		b.WriteString(functions + sums + fmt.Sprintf("  7 m 1 %dms %dms\n", total, total))
		fmt.Fprintf(&b, "call_nodes call_node up below depth function_no\n  0 0 %d 0 1\n%s%s  7 m 0 %dms 0ms\n", len(values), nodes, tree, total)
		fmt.Fprintf(&b, "stack_values stack metric value samples\n  0 m %dms %d\n", total, total)
	}
	return b.String()
}

// Vary returns n runs whose values differ from the given ones by up to 4.
func Vary(n int, values map[string]int) (runs []map[string]int) {
	for i := range n {
		run := map[string]int{}
		for name, v := range values {
			run[name] = v + (i*7+v)%5
		}
		runs = append(runs, run)
	}
	return runs
}

// Nights returns the description, for Build, of a store with experiments night-00.er, ..., one per
// day from 2026-01-01 on. of has the values in ms, by function, of each experiment's program app.
func Nights(of []map[string]int) string {
	var b strings.Builder
	for n, values := range of {
		name, day := fmt.Sprintf("night-%02d.er", n), time.Date(2026, 1, 1+n, 2, 0, 0, 0, time.UTC).Format(time.RFC3339)
		b.WriteString(strings.NewReplacer(
			"batch 0000000000000001 base-0.er /data/base-0.er", fmt.Sprintf("batch %016x %s /data/%s", n+1, name, name),
			"experiments experiment format duration_ns status\n  base-0.er gprofng 1000ms complete", "experiments experiment format host target started duration_ns status\n  "+name+" gprofng box app "+day+" 1000ms complete",
		).Replace(Groups("clock", []map[string]int{values}, nil)))
	}
	return b.String()
}
