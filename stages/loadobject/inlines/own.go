package inlines

import (
	"cmp"
	"math"
	"slices"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
)

// own notes that a function has code that is not inlined. The entry that both are made from
// says that they are one function. All parts of the code have the line of the declaration.
// It reports whether the function is the body of a parallel region: gcc's entries of these are
// within that of the function that holds the region (S11).
func (r *Reader) own(x *context, of subprogram) (body bool) {
	s, entry, copied := x.s.Target(x.u, of.origin)
	r.spans = x.ranges.Spans(r.spans[:0], x.u, of.code)
	for _, span := range r.spans {
		i, ok := r.functionAt(span.Low)
		if !ok {
			continue
		}
		r.start(x, i, of)
		if r.table.Functions[i].Kind == funcinfo.Body {
			if body = true; of.around != 0 {
				n := r.entryAt(x, x.s, of.around)
				r.scope(x, n)
				r.bodies[i] = n
			}
		}
		if !copied || r.table.Functions[i].Kind != funcinfo.Normal { // clones have the same origin
			continue
		}
		copied = false
		k := x.known
		if s != x.s {
			k = r.knownOf(s)
		}
		if _, several := k.symbols[entry]; several { // as constructors have
			continue
		}
		k.symbols[entry] = i
		if n, known := k.entries[entry]; known {
			r.symbols[n] = i
		}
	}
	return body
}

// functionAt returns the index of the table's function that starts at an address.
func (r *Reader) functionAt(address uint64) (int, bool) {
	off, ok := r.addresses.Offset(address)
	if !ok {
		return 0, false
	}
	return slices.BinarySearchFunc(r.table.Functions, off, func(f symtab.Function, off uint64) int { return cmp.Compare(f.Offset, off) })
}

// start notes where a function is declared, or which entry has that.
func (r *Reader) start(x *context, function int, of subprogram) {
	if of.line > 0 && of.line <= math.MaxInt32 {
		r.table.Functions[function].Line = int32(of.line)
		return
	}
	for _, ref := range []dwarf.Value{of.origin, of.specification} {
		if n := r.refer(x, ref); n != 0 {
			r.starts[function] = n
			return
		}
	}
}

// ownCode returns the index of the table's function whose code an entry has itself.
func (r *Reader) ownCode(x *context, code dwarf.Code) (int, bool) {
	for _, span := range x.ranges.Spans(nil, x.u, code) {
		if i, ok := r.functionAt(span.Low); ok && r.table.Functions[i].Kind == funcinfo.Normal {
			return i, true
		}
	}
	return 0, false
}
