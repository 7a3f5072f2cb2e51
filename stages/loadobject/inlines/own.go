package inlines

import (
	"bytes"
	debugdwarf "debug/dwarf"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
)

// addOwnCode records the code of a function that is not inlined, by its abstract origin, which
// inlined copies of the function have, too. All parts of the code get the line of the declaration.
// addOwnCode returns true for the body of a parallel region: gcc nests its entry in the entry of
// the function that contains the region (S11).
func (r *Reader) addOwnCode(x *unitContext, of subprogram) (body bool) {
	s, entry, hasOrigin := x.s.Target(x.u, of.Get(debugdwarf.AttrAbstractOrigin))
	r.scratch = x.ranges.Ranges(r.scratch[:0], x.u, of.Attrs)
	for _, code := range r.scratch {
		i, ok := r.functionAt(code.Low)
		if !ok {
			continue
		}
		r.setLine(x, i, of)
		if r.table.Functions[i].Kind == funcinfo.Body {
			if body = true; of.around != 0 {
				n := r.entryAt(x, x.s, of.around)
				r.requestScope(x, n)
				r.bodies[i] = n
			}
		}
		if !hasOrigin || r.table.Functions[i].Kind != funcinfo.Normal { // clones have the same origin
			continue
		}
		hasOrigin = false
		k := x.cache
		if s != x.s {
			k = r.cacheOf(s)
		}
		if _, several := k.symbols[entry]; several { // variants of one constructor
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
	return symtab.FindFunction(r.table.Functions, off)
}

// setLine sets the line on which a function is declared. If that is in another entry, it only
// records the entry.
func (r *Reader) setLine(x *unitContext, function int, of subprogram) {
	if line := number32(of.Get(debugdwarf.AttrDeclLine)); line > 0 {
		r.table.Functions[function].Line = line
		return
	}
	for _, ref := range []debugdwarf.Attr{debugdwarf.AttrAbstractOrigin, debugdwarf.AttrSpecification} {
		if n := r.refer(x, of.Get(ref)); n != 0 {
			r.starts[function] = n
			return
		}
	}
}

// ownCode returns the index of the table's function that starts with code of an entry.
func (r *Reader) ownCode(x *unitContext, code dwarf.Attrs) (int, bool) {
	for _, c := range x.ranges.Ranges(nil, x.u, code) {
		if i, ok := r.functionAt(c.Low); ok && r.table.Functions[i].Kind == funcinfo.Normal {
			return i, true
		}
	}
	return 0, false
}

// bodyName is part of clang's names for the body of a parallel region or task
// (`.omp_outlined._debug__`, `f.omp_outlined_debug__`, `.omp_outlined..6`). clang inlines the body
// into the function that the run-time library calls. The code belongs to that function (S11),
// because the source has no call of the body.
var bodyName = []byte(".omp_outlined")

// isBody reports whether an inlined subroutine with this origin is the body of a parallel region.
func (r *Reader) isBody(x *unitContext, origin dwarf.Value) bool {
	return x.cache.hasBodies() && bytes.Contains(x.s.NameOf(x.u, origin), bodyName)
}
