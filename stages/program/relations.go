package program

import "stackmill/stages/loadobject/funcinfo"

// Relation says what a compiler made a function from.
type Relation struct {
	Main FunctionNo // the function it was made from
	Line int32      // of a body: its first source line, 0 if unknown
}

// longestChain bounds the steps from a part of a clone of a body to its main
// function: aliases of a damaged object could lead round in a circle.
const longestChain = 8

// BodyOf returns the function whose source a function's instructions come from
// if it is the body of a parallel region, or was cut out of or cloned from one
// (S11).
func (p *Program) BodyOf(function FunctionNo) (main FunctionNo, ok bool) {
	for range longestChain {
		relation, related := p.Relations[function]
		if !related {
			break
		}
		if p.Functions[function].Kind == funcinfo.Body {
			return relation.Main, true
		}
		function = relation.Main
	}
	return 0, false
}
