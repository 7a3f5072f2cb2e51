package program

import "stackmill/stages/loadobject/funcinfo"

// Inlined is the kind of functions that exist as inlined code only.
const Inlined funcinfo.Kind = "inlined"

// Level is one level of an instruction's inline chain (S10).
type Level struct {
	Function       FunctionNo
	funcinfo.Place // in the function
}

// InlinedAt returns the inline chain of a location, the outermost function first.
func (p *Program) InlinedAt(location LocationNo) []Level {
	if p.Inlines == nil {
		return nil
	}
	return p.Inlines[location]
}
