package main

import (
	"slices"
	"strings"
)

// proven returns rule, which inserted machine frame m, if machine code and symbol tables confirm
// it; otherwise "".
func (c *comparison) proven(s *stack, m int, rule string) string {
	f := s.machine[m]
	ok := true
	switch rule {
	case "S12": // the function was split: the name of the part begins with its name, and no call goes to the part
		if m == 0 {
			return ""
		}
		part := s.machine[m-1].function
		ok = slices.ContainsFunc(part.aliases, func(a string) bool {
			return slices.ContainsFunc(f.function.aliases, func(b string) bool { return strings.HasPrefix(a, b+".") })
		}) && !c.calls(s, m+1, part)
	case "S18":
		ok = s.reason != ""
	case "S22 inferred": // the caller calls the inserted function, not the one above it
		ok = !c.callsInner(s, m) && c.mayCall(s, m+1, f.function)
	case "S22 missing":
		ok = !c.callsInner(s, m)
	}
	if !ok {
		return ""
	}
	return rule
}

// callsInner reports whether the caller of machine frame m calls the frame above m, so that m is
// not missing between them. Rules may have inserted two frames. If m is the leaf, the call must go
// to a procedure linkage table, whose frame is not shown.
func (c *comparison) callsInner(s *stack, m int) bool {
	outer, inner := m+1, m-1
	for outer < len(s.machine) && strings.HasPrefix(s.machine[outer].rule, "S22 ") {
		outer++
	}
	for inner >= 0 && strings.HasPrefix(s.machine[inner].rule, "S22 ") {
		inner--
	}
	if inner >= 0 {
		return c.calls(s, outer, s.machine[inner].function)
	}
	o, target := c.callOf(s, outer)
	return o != nil && target != -1 && o.inTable(target)
}

// restored returns the recorded frames above which a rule has inserted a frame that the machine
// code confirms.
func (c *comparison) restored(s *stack) map[int]bool {
	found := map[int]bool{}
	frames, _ := follow(s)
	put := false
	for m, f := range frames {
		switch {
		case f.raw < 0:
			put = put || strings.HasPrefix(f.reason, "S22 ") && c.proven(s, m, f.reason) != ""
		case put:
			found[f.raw], put = true, false
		}
	}
	return found
}

// callOf returns the target of the call instruction at machine frame m, or -1 if it is indirect.
func (c *comparison) callOf(s *stack, m int) (o *object, target int64) {
	if m >= len(s.machine) {
		return nil, -1
	}
	o = c.files.object(s.machine[m].object)
	if o == nil {
		return nil, -1
	}
	if target, ok := o.call(s.machine[m].offset + 1); ok { // a caller's frame is at the last byte of its call
		return o, target
	}
	return o, -1
}

// calls reports whether the call instruction at machine frame m calls a function directly.
func (c *comparison) calls(s *stack, m int, f *function) bool {
	o, target := c.callOf(s, m)
	return o != nil && s.machine[m].object == f.object && target == f.offset
}

// mayCall reports whether the call instruction at machine frame m may lead to a function.
func (c *comparison) mayCall(s *stack, m int, f *function) bool {
	o, target := c.callOf(s, m)
	switch {
	case o == nil:
		return false
	case s.machine[m].object == f.object:
		return o.reaches(target, f.offset, f.end)
	}
	return target == -1 || o.reaches(target, -1, -1)
}

// provenDrop returns the rule that dropped recorded frame i, if the machine code confirms it;
// otherwise "". For S22, the next frame must call a procedure linkage table, or a rule must have
// inserted the called function.
func (c *comparison) provenDrop(s *stack, i int, dropped map[int]string) string {
	rule := dropped[i]
	if rule == "" {
		return c.provenEnd(s, i, dropped)
	}
	if rule != "S22" {
		return rule
	}
	leaf := s.raw[i]
	o := c.files.object(leaf.object)
	if o == nil || !o.inTable(leaf.offset) {
		return ""
	}
	if i+1 == len(s.raw) || slices.ContainsFunc(s.machine, func(f frame) bool { return strings.HasPrefix(f.rule, "S22 ") }) {
		return rule
	}
	caller := c.files.object(s.raw[i+1].object)
	if caller == nil {
		return ""
	}
	target, ok := caller.call(s.raw[i+1].offset)
	if !ok || target != -1 && !caller.inTable(target) && !caller.reaches(target, -1, -1) {
		return ""
	}
	return rule
}

// provenEnd returns S26 if recorded frame i is in the dropped end of a frame pointer chain, and the
// machine code confirms that the first dropped frame is not a caller.
func (c *comparison) provenEnd(s *stack, i int, dropped map[int]string) string {
	for next := i; next < len(s.raw); next++ {
		if why, drop := dropped[next]; !drop || why != "" {
			return ""
		}
	}
	for {
		if why, drop := dropped[i-1]; !drop || why != "" {
			break
		}
		i--
	}
	if c.unwound || c.isCaller(s, i) {
		return ""
	}
	return "S26"
}

// lowestCode is the lowest address that code can have: Linux does not map the first page.
const lowestCode = 4096

// starts are functions in which threads begin. Only functions of this list call them.
var starts = []string{
	"_start", "__libc_start_main", "__libc_start_main_impl", "__libc_start_call_main",
	"start_thread", "clone", "clone3", "__clone", "__clone3",
}

// isCaller reports whether recorded frame i may have called the frame above it. It returns true if
// that cannot be checked.
func (c *comparison) isCaller(s *stack, i int) bool {
	if i == 0 || s.raw[i].word < lowestCode {
		return i == 0
	}
	caller := s.raw[i].function
	if slices.Contains(starts, s.raw[i-1].function.name) && caller.kind != "static" && !slices.Contains(starts, caller.name) {
		return false
	}
	o := c.files.object(s.raw[i].object)
	if o == nil || c.trampoline(s.raw[i]) || injected(s.raw[i-1].function) {
		return true
	}
	_, ok := o.call(s.raw[i].offset)
	return ok
}
