package inlines

import (
	"cmp"
	"math"
	"slices"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/lines"
	"stackmill/stages/loadobject/symtab"
)

// maxLevels bounds inline chains. Code that is inlined deeper is one more level.
const maxLevels = 256

// inlinedCode says that offsets from low up to high were inlined for a call.
type inlinedCode struct {
	low, high uint64
	call      int32
}

// inline adds a call and its code. It returns the call's number, or that of the call
// around it if the linker removed the code.
func (r *Reader) inline(c symtab.Call, code []dwarf.Span) int32 {
	in := &r.table.Inlines
	n := int32(len(in.Calls))
	known := len(r.inlined)
	for _, s := range code {
		low, high, ok := r.offsets(s)
		if !ok {
			continue
		}
		if len(r.inlined) >= lines.MaxRows {
			r.Full = true
			break
		}
		r.inlined = append(r.inlined, inlinedCode{low, high, n})
	}
	if len(r.inlined) == known {
		return c.Around
	}
	in.Calls = append(in.Calls, c)
	return n
}

// piece starts code with the same innermost call, -1 for none.
type piece struct {
	offset uint64
	call   int32
}

// flatten finds the innermost call of all code. Code that extends beyond the code
// around it, which compilers do not make, is cut off there.
func flatten(code []inlinedCode) []piece {
	slices.SortFunc(code, func(a, b inlinedCode) int {
		return cmp.Or(cmp.Compare(a.low, b.low), cmp.Compare(b.high, a.high), cmp.Compare(a.call, b.call))
	})
	var out []piece
	var open []inlinedCode
	start := func(off uint64) {
		p := piece{off, -1}
		if len(open) > 0 {
			p.call = open[len(open)-1].call
		}
		if n := len(out); n > 0 && out[n-1].offset == off {
			out[n-1] = p
		} else {
			out = append(out, p)
		}
	}
	end := func(until uint64) {
		for len(open) > 0 && open[len(open)-1].high <= until {
			high := open[len(open)-1].high
			open = open[:len(open)-1]
			start(high)
		}
	}
	for _, c := range code {
		end(c.low)
		if n := len(open); n > 0 {
			c.high = min(c.high, open[n-1].high)
		}
		open = append(open, c)
		start(c.low)
	}
	end(math.MaxUint64)
	return out
}

// chains stores which calls are inlined where, with the lines of the instructions
// themselves.
func (r *Reader) chains(rows []symtab.Row) {
	pieces := flatten(r.inlined)
	own := symtab.Row{File: -1}
	for i, p := range pieces {
		end := uint64(math.MaxUint64)
		if i+1 < len(pieces) {
			end = pieces[i+1].offset
		}
		for ; len(rows) > 0 && rows[0].Offset <= p.offset; rows = rows[1:] {
			own = rows[0]
		}
		r.chain(p, own)
		for ; p.call >= 0 && len(rows) > 0 && rows[0].Offset < end; rows = rows[1:] {
			own = rows[0]
			r.chain(piece{own.Offset, p.call}, own)
		}
	}
	r.table.Inlines.Rows = symtab.RowsOf(r.chained)
	r.inlined, r.chained = nil, nil
}

// chain adds a row after the others, unless it repeats the last one.
func (r *Reader) chain(p piece, own symtab.Row) {
	if p.call < 0 {
		own = symtab.Row{File: -1}
	}
	own.Offset, own.Call = p.offset, p.call
	if n := len(r.chained); n == 0 || !own.Repeats(r.chained[n-1]) {
		r.chained = append(r.chained, own)
	}
}
