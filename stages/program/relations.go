package program

import "stackmill/stages/loadobject/funcinfo"

// Relation links a function to the one that a compiler made it from.
type Relation struct {
	Main FunctionNo
	Line int32 // of a body: its first source line, 0 if unknown
}

// longestChain bounds the steps from a part of a clone of a body to its main function: in a
// damaged object, aliases may form a cycle.
const longestChain = 8

// BodyOf returns the function that contains a parallel region, given the region's body, or a
// clone or outline function of the body (S11).
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
