package symbolize

import "stackmill/stages/program"

// nearFunction is a function that PCs near each other were in.
type nearFunction struct {
	object     program.ObjectNo
	number     program.FunctionNo
	from, size uint64 // offsets in the file
}

// nearFunctions is how many of them are remembered, by where PCs are: a call and where it
// returns to are next to each other.
const nearFunctions = 1 << 12

// functionAt returns the function at an offset of an object that has a symbol table.
func (r *Resolver) functionAt(object program.ObjectNo, offset uint64, kernel bool) (program.FunctionNo, bool) {
	near := &r.near[(offset>>7^uint64(object))%nearFunctions]
	if near.object == object && offset-near.from < near.size {
		return near.number, true
	}
	f, ok := r.symbols[object].table.Function(offset)
	if !ok {
		return program.None, false
	}
	if kernel {
		f.Kind = program.Kernel
	}
	*near = nearFunction{object, r.tableFunction(object, f), f.Offset, f.Size}
	return near.number, true
}
