package symbolize

import "stackmill/stages/program"

// functionRange is a cached function.
type functionRange struct {
	object     program.ObjectNo
	number     program.FunctionNo
	from, size uint64 // offsets in the file
}

// functionCacheSize is the number of cached functions, by the offset of PCs: a call and its return
// address are neighbors.
const functionCacheSize = 1 << 12

// functionAt returns the function at an offset of an object with a symbol table.
func (r *Resolver) functionAt(object program.ObjectNo, offset uint64, kernel bool) (program.FunctionNo, bool) {
	near := &r.functionCache[(offset>>7^uint64(object))%functionCacheSize]
	if near.object == object && offset-near.from < near.size {
		return near.number, true
	}
	f, ok := r.loadObjects[object].table.Function(offset)
	if !ok {
		return program.None, false
	}
	if kernel {
		f.Kind = program.Kernel
	}
	*near = functionRange{object, r.tableFunction(object, f), f.Offset, f.Size}
	return near.number, true
}
