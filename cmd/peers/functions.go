package main

import (
	"debug/elf"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"stackmill/cmd/acceptance/golden"
)

// checkFunctions compares the functions of gprofng and of the store.
func (p *peer) checkFunctions() {
	paired := map[*function]bool{}
	for i, f := range p.functions {
		v := &verdict{rules: map[string]int64{}}
		if f.ours != nil {
			paired[f.ours] = true
			p.checkPair(f, v)
			p.checkEdges(i, v)
		} else {
			p.checkDivision(f, v)
		}
		p.result.add(f.Name+" of "+filepath.Base(f.LoadObject), true, v)
	}
	for _, f := range p.content.functions {
		if paired[f] || !p.hasValues(f) {
			continue
		}
		v := &verdict{rules: map[string]int64{}}
		p.checkOwn(f, v)
		p.result.add(f.name+" of "+filepath.Base(f.object)+" in the store", true, v)
	}
}

func (p *peer) hasValues(f *function) bool {
	for _, values := range p.content.values {
		if values[f.id] != (pair{}) {
			return true
		}
	}
	return false
}

func (v *verdict) explain(rule, otherwise string) {
	if rule != "" {
		v.rules[rule]++
		return
	}
	v.unexplained++
	v.example = otherwise
}

// checkPair compares the name and values of a function that both sides have.
func (p *peer) checkPair(f *shownFunction, v *verdict) {
	p.checkName(f, v)
	for k, c := range p.columns {
		if got := p.value(c, p.content.values[c.Metric][f.ours.id]); got != f.values[k] {
			v.explain(p.ruled(f.ours, c, f.values[k]), fmt.Sprintf("%s %s is %s, gprofng has %s", c.Flavor, c.Metric, got, f.values[k]))
		}
	}
}

// checkName checks that the store predicts which name gprofng shows for a function.
func (p *peer) checkName(f *shownFunction, v *verdict) {
	linkage := f.Name
	if f.Linkage != "" {
		linkage = f.Linkage
	}
	switch g := f.ours; {
	case g.gprofng == f.Name, g.name == f.Name:
	case g.is(linkage) && len(g.aliases) > 1:
		v.explain("S4", "")
	case g.is(linkage): // gprofng shows the linkage name; the store marks what the function is (S9, S11)
	case g.kind == "static" && strings.HasPrefix(f.Name, g.name+" "): // gprofng adds the load object
	case strings.HasPrefix(f.Name, "<static>@"):
		for at := range f.places {
			v.explain(p.division(f, at), "is called "+g.gprofng+" in the store")
		}
	default:
		v.explain("", "is called "+g.gprofng+" in the store")
	}
}

// ruled returns the rules that explain why a function's value differs from gprofng's (shown); "" if
// they do not explain all of the difference.
func (p *peer) ruled(f *function, c golden.Column, shown string) string {
	if p.swallowed(f) {
		return textSize
	}
	if isLeak(c.Metric) && p.withLeaks(f, c) == shown {
		return "realloc"
	}
	var why []string
	for _, s := range p.content.stacks {
		if s.values[c.Metric] == 0 {
			continue
		}
		why = append(why, changes(s, f, c.Flavor == "Excl.")...)
	}
	return all(why)
}

// textSize explains functions that gprofng makes up. It mistakes the size of the text for the
// offset in the file at which the text ends, and shows code after that as unknown.
const textSize = "gprofng-text-size"

// swallowed reports whether a function overlaps one that gprofng has made up. Which of the two gets
// an instruction depends on the order of gprofng's lookups (gprofng-experiment 6.6).
func (p *peer) swallowed(f *function) bool {
	for _, g := range p.functions {
		if g.NoFunctions() && g.LoadObject == f.object && g.Offset <= f.offset && f.offset < g.Offset+g.Size {
			return true
		}
	}
	return false
}

// withLeaks returns the value that a function has if leaks are counted as gprofng does.
func (p *peer) withLeaks(f *function, c golden.Column) string {
	var v pair
	for _, s := range p.content.stacks {
		if f.id == p.content.total || slices.ContainsFunc(s.machine, func(m frame) bool { return m.function == f }) {
			v.inclusive += s.leaks[c.Metric]
		}
		if f.id == p.content.total || len(s.machine) > 0 && s.machine[0].function == f {
			v.exclusive += s.leaks[c.Metric]
		}
	}
	return p.value(c, v)
}

// changes returns the rules that changed whether a stack counts for a function; [""] if none
// explains the change, and nil if there is none.
func changes(s *stack, f *function, exclusive bool) []string {
	frames, dropped := follow(s)
	has := func(n int, at func(i int) *function) bool {
		if exclusive {
			n = min(n, 1)
		}
		for i := range n {
			if at(i) == f {
				return true
			}
		}
		return false
	}
	before := has(len(s.raw), func(i int) *function { return s.raw[i].function })
	after := has(len(s.machine), func(i int) *function { return s.machine[i].function })
	switch {
	case before == after:
		return nil
	case exclusive && len(dropped) > 0 && dropped[0] != "":
		return []string{dropped[0]}
	case exclusive && len(frames) > 0 && frames[0].raw < 0:
		return []string{frames[0].reason}
	}
	for i, why := range dropped {
		if before && s.raw[i].function == f {
			return []string{why}
		}
	}
	for m, g := range frames {
		if after && s.machine[m].function == f {
			return []string{g.reason}
		}
	}
	return []string{""}
}

// checkDivision checks a function that gprofng has and the store does not, because it divides the
// code differently. Each of its instructions must prove why.
func (p *peer) checkDivision(f *shownFunction, v *verdict) {
	for at := range f.places {
		if g := p.owners[at]; g.offset == f.Offset {
			p.checkOwn(g, v) // gprofng shows a part of it as another function
		} else {
			v.explain(p.division(f, at), fmt.Sprintf("%x is in %s of the store", at.offset, g.name))
		}
	}
	if len(f.places) == 0 {
		v.explain("", "none of its instructions is on a stack of the store")
	}
}

// division returns the rule by which gprofng assigns an instruction to another function than the
// store does; "" for none.
func (p *peer) division(f *shownFunction, at place) string {
	o, g := p.files.object(at.object), p.owners[at]
	static := strings.HasPrefix(f.Name, "<static>@")
	own := func(s symbol) bool { return s.own && elf.ST_TYPE(s.Info) == elf.STT_FUNC }
	switch {
	case o == nil:
		return ""
	case f.NoFunctions():
		if f.Offset == o.textSize() {
			return textSize // where gprofng assumes that the text ends
		}
	case g.kind == "plt" && static && o.inTable(at.offset):
		return "S22"
	case g.name == "__restore_rt" && static && !o.covers(at.offset, own):
		return "S24"
	case static && !o.covers(at.offset, own):
		if g.kind == "static" {
			return "S6"
		}
		return "S3" // a symbol in a debug file or .gnu_debugdata, or of another type
	case g.kind == "static" && !o.covers(at.offset, typed):
		return "S6"
	}
	return ""
}

// checkOwn checks a function that only the store has: gprofng must show its instructions in other
// functions, or rules must have put it on stacks.
func (p *peer) checkOwn(f *function, v *verdict) {
	seen := false
	for at, owner := range p.owners {
		if owner != f {
			continue
		}
		for _, g := range p.functions {
			if g.places[at] && (g.LoadObject != f.object || g.Offset != f.offset) {
				seen = true
				v.explain(p.division(g, at), fmt.Sprintf("%x is in %s of gprofng", at.offset, g.Name))
			}
		}
	}
	for metric, values := range p.content.values {
		if values[f.id] == (pair{}) || seen {
			continue
		}
		if f.kind == "plt" {
			v.explain("S22", "") // gprofng shows stacks with only such frames as empty
			continue
		}
		v.explain(p.ruled(f, golden.Column{Flavor: "Incl.", Metric: metric}, "0"), fmt.Sprintf("%s is %v, gprofng has no such function", metric, values[f.id]))
	}
}
