package inlines

import (
	"cmp"
	"math"
	"slices"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/lines"
	"stackmill/stages/loadobject/symtab"
)

// maxLevels bounds the length of inline chains. All code that is inlined deeper gets one more
// level.
const maxLevels = 256

// inlinedCode is code of an inlined call, at offsets [low, high).
type inlinedCode struct {
	low, high uint64
	call      int32
}

// addCall adds a call with its code, and returns the call's number. If the linker removed all of
// the code, it adds nothing and returns the number of the enclosing call.
func (r *Reader) addCall(c symtab.Call, code []dwarf.Range) int32 {
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

// callStart says that from the given offset on, call is the innermost call; -1: no call.
type callStart struct {
	offset uint64
	call   int32
}

// flatten returns the innermost call for all code, by offset. It limits a call's code to the code
// of the enclosing call; compilers do not write calls that extend beyond.
func flatten(code []inlinedCode) []callStart {
	slices.SortFunc(code, func(a, b inlinedCode) int {
		return cmp.Or(cmp.Compare(a.low, b.low), cmp.Compare(b.high, a.high), cmp.Compare(a.call, b.call))
	})
	var out []callStart
	var open []inlinedCode
	start := func(off uint64) {
		p := callStart{off, -1}
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

// storeCalls stores, for all inlined code, the innermost call and the line of the inlined source.
// rows have these lines.
func (r *Reader) storeCalls(rows []symtab.Row) {
	starts := flatten(r.inlined)
	own := symtab.Row{File: -1}
	for i, p := range starts {
		end := uint64(math.MaxUint64)
		if i+1 < len(starts) {
			end = starts[i+1].offset
		}
		for ; len(rows) > 0 && rows[0].Offset <= p.offset; rows = rows[1:] {
			own = rows[0]
		}
		r.addCallRow(p, own)
		for ; p.call >= 0 && len(rows) > 0 && rows[0].Offset < end; rows = rows[1:] {
			own = rows[0]
			r.addCallRow(callStart{own.Offset, p.call}, own)
		}
	}
	r.table.Inlines.Rows = symtab.RowsOf(r.callRows)
	r.inlined, r.callRows = nil, nil
}

// addCallRow appends a row for the code from p on, unless it repeats the last row. own has the
// line.
func (r *Reader) addCallRow(p callStart, own symtab.Row) {
	if p.call < 0 {
		own = symtab.Row{File: -1}
	}
	own.Offset, own.Call = p.offset, p.call
	if n := len(r.callRows); n == 0 || !own.Repeats(r.callRows[n-1]) {
		r.callRows = append(r.callRows, own)
	}
}
