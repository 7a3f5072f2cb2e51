package inlines

import (
	"cmp"
	"math"
	"slices"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/lines"
	"stackmill/stages/loadobject/symtab"
)

// callSite says that the code from offset low up to high is charged to a line.
type callSite struct {
	low, high uint64
	at        symtab.Row // of which the offset says nothing
}

// call adds the call site of inlined code.
func (r *Reader) call(code dwarf.Span, at symtab.Row) {
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

// overlay replaces rows by call sites where these have code. Of overlapping sites,
// which compilers do not make, the one that starts first counts.
func overlay(rows []symtab.Row, sites []callSite) []symtab.Row {
	if len(sites) == 0 {
		return rows
	}
	slices.SortStableFunc(sites, func(a, b callSite) int { return cmp.Compare(a.low, b.low) })
	out := make([]symtab.Row, 0, len(rows)+len(sites))
	below := symtab.Row{File: -1} // the last row that was taken
	var end uint64                // of the last site
	take := func(until uint64) {
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
		take(low)
		s.at.Offset = low
		out = lines.AppendRow(out, s.at)
		for end = s.high; len(rows) > 0 && rows[0].Offset <= end; rows = rows[1:] {
			below = rows[0]
		}
	}
	take(math.MaxUint64)
	return out
}
