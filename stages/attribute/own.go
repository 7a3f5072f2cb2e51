package attribute

import (
	"stackmill/schema"
	"stackmill/stages/program"
)

// own tells what belongs to one function, so that the function's rows stand for its own.
type own struct {
	module   []bool // by module: it has one function
	location []bool // by function: it has one location
	line     []bool // by function: all its code is on one line
	source   []bool // by line of a file: one function has code there
	single   []bool // by function: its line is, and source is true of that
}

// ownership finds what belongs to one function.
func (s *Shape) ownership() own {
	p := s.program
	o := own{
		module:   single(len(p.Modules), len(p.Functions), func(n int) int { return int(p.Functions[n].Module) }),
		location: single(len(p.Functions), p.Locations.Len(), func(n int) int { return int(p.Location(program.LocationNo(n)).Function) }),
		source:   single(len(s.SourceKeys), len(s.LineKeys), func(n int) int { return int(s.source[n]) }),
		line:     onOneLine(p),
		single:   make([]bool, len(p.Functions)),
	}
	for n, k := range s.LineKeys {
		o.single[k.Function] = o.line[k.Function] && o.source[s.source[n]]
	}
	return o
}

// standing returns for which rows of its own those of a function stand.
func (o *own) standing(p *program.Program, function int) Mode {
	return given(o.module[p.Functions[function].Module], schema.ForModule) | given(o.location[function], schema.ForPC) |
		given(o.line[function], schema.ForLine) | given(o.single[function], schema.ForLineSource)
}

// given returns bits of modes if they are to be set.
func given(set bool, bits Mode) Mode {
	if set {
		return bits
	}
	return 0
}

// single tells which of some things have exactly one of n parts, given the thing of each.
func single(things, n int, of func(part int) int) []bool {
	counts := make([]int32, things)
	for i := range n {
		counts[of(i)]++
	}
	list := make([]bool, things)
	for i, c := range counts {
		list[i] = c == 1
	}
	return list
}

// onOneLine tells which functions have all their code on one line, by all locations and
// what was inlined there.
func onOneLine(p *program.Program) []bool {
	one, known, first := make([]bool, len(p.Functions)), make([]bool, len(p.Functions)), make([]SourceKey, len(p.Functions))
	at := func(f program.FunctionNo, line SourceKey) {
		if !known[f] {
			first[f], known[f], one[f] = line, true, true
		} else if first[f] != line {
			one[f] = false
		}
	}
	for n := range program.LocationNo(p.Locations.Len()) {
		l := p.Location(n)
		at(l.Function, SourceKey{l.File, l.Line})
		for _, i := range p.InlinedAt(n) {
			at(i.Function, SourceKey{i.File, i.Line})
		}
	}
	return one
}
