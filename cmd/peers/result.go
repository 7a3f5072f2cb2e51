package main

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// result counts the functions of a recording by the result of their comparison.
type result struct {
	name            string
	functions, same int
	rules           map[string]int // number of differing functions, by the rules that explain the difference
	unexplained     int
	details, failed []string
}

// explained returns how many functions differ in a way that rules explain.
func (r *result) explained() (n int) {
	for _, v := range r.rules {
		n += v
	}
	return n
}

// plus adds the counts of another result.
func (r *result) plus(other *result) {
	r.functions += other.functions
	r.same += other.same
	r.unexplained += other.unexplained
	for k, n := range other.rules {
		r.rules[k] += n
	}
}

// result returns the counts of a comparison with perf.
func (c *comparison) result(recording string) *result {
	r := &result{name: recording, rules: map[string]int{}, failed: c.problems}
	order := slices.SortedFunc(maps.Keys(c.names), func(a, b eventName) int {
		return cmp.Or(strings.Compare(a.event, b.event), strings.Compare(a.name.String(), b.name.String()))
	})
	for _, k := range order {
		r.add(k.event+" "+k.name.String(), k.name.function != nil || k.name.symbol != unknown && k.name.symbol != "<Total>", c.names[k])
	}
	r.unexplained += len(c.problems)
	return r
}

// add counts the verdict on a function. A verdict on something else counts only if differences are
// unexplained.
func (r *result) add(name string, function bool, v *verdict) {
	if v.unexplained > 0 {
		r.functions++
		r.unexplained++
		r.details = append(r.details, fmt.Sprintf("%s: %v, the peer has %v: %d samples unexplained, %s", name, v.ours, v.theirs, v.unexplained, v.example))
		return
	}
	if !function {
		return
	}
	r.functions++
	if len(v.rules) == 0 {
		r.same++
		return
	}
	set := map[string]bool{}
	for why := range v.rules {
		for _, rule := range strings.Split(why, "+") {
			set[rule] = true
		}
	}
	r.rules[strings.Join(slices.Sorted(maps.Keys(set)), "+")]++
}

// print prints a line with the counts, and unexplained differences up to the limit.
func (r *result) print(w io.Writer, limit int) {
	var rules []string
	for _, k := range slices.Sorted(maps.Keys(r.rules)) {
		rules = append(rules, fmt.Sprintf("%s %d", k, r.rules[k]))
	}
	fmt.Fprintf(w, "%-24s %6d functions %6d equal %5d explained %3d unexplained  %s\n", r.name, r.functions, r.same, r.explained(), r.unexplained, strings.Join(rules, ", "))
	for i, text := range append(slices.Clone(r.failed), r.details...) {
		if i == limit {
			fmt.Fprintf(w, "    ... and %d more\n", len(r.failed)+len(r.details)-limit)
			break
		}
		fmt.Fprintf(w, "    %s\n", text)
	}
}
