package inlines

import (
	"cmp"
	"math"
	"slices"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/lines"
	"stackmill/stages/loadobject/symtab"
)

// callSite says that the code at offsets [low, high) was inlined at a call, whose line it gets.
type callSite struct {
	low, high uint64
	at        symtab.Row // the call's position; its Offset is unused
}

func (r *Reader) addCallSite(code dwarf.Range, at symtab.Row) {
	low, high, ok := r.offsets(code)
	if !ok {
		return
	}
	if len(r.sites) >= lines.MaxRows {
		r.Full = true
		return
	}
	r.sites = append(r.sites, callSite{low, high, at})
}

// overlay replaces the rows of inlined code by rows with the lines of call sites. Where call sites
// overlap, which compilers do not write, the one that starts first is used.
func overlay(rows []symtab.Row, sites []callSite) []symtab.Row {
	if len(sites) == 0 {
		return rows
	}
	slices.SortStableFunc(sites, func(a, b callSite) int { return cmp.Compare(a.low, b.low) })
	out := make([]symtab.Row, 0, len(rows)+len(sites))
	below := symtab.Row{File: -1} // the last row so far
	var end uint64                // end of the last site
	copyRows := func(until uint64) {
		if 0 < end && end < until {
			below.Offset = end
			out = lines.AppendRow(out, below)
		}
		for ; len(rows) > 0 && rows[0].Offset < until; rows = rows[1:] {
			below = rows[0]
			out = lines.AppendRow(out, below)
		}
	}
	for _, s := range sites {
		low := max(s.low, end)
		if low >= s.high {
			continue
		}
		copyRows(low)
		s.at.Offset = low
		out = lines.AppendRow(out, s.at)
		for end = s.high; len(rows) > 0 && rows[0].Offset <= end; rows = rows[1:] {
			below = rows[0]
		}
	}
	copyRows(math.MaxUint64)
	return out
}
