package dataspace

import (
	"fmt"

	"stackmill/stages/program"
)

// VariableAt returns the name of the variable at an address, with the element or member that it is
// part of; empty if no load object has one there.
func (p *Process) VariableAt(address uint64, time int64) string {
	w := p.memory.lookUp(address, time)
	switch {
	case w.object == nil:
		return ""
	case w.found:
		v := &w.object.types.Variables[w.variable]
		return v.Name + w.object.types.PartName(v.Type, w.offset)
	case w.symbol != program.None:
		x := &w.object.untypedVariables().List[w.symbol]
		name := x.Name
		if at := p.memory.objectAt(address, time); at != nil && address-at.Bias != x.Address {
			name += fmt.Sprintf("+%#x", address-at.Bias-x.Address)
		}
		return name
	}
	return ""
}
