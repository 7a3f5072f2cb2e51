package dwarf

import (
	"cmp"
	"math"
	"slices"
)

// callSite says that the code from offset low up to high is charged to a line.
type callSite struct {
	low, high  uint64
	file, line int32
}

// call adds the call site of inlined code.
func (r *inlineReader) call(code span, file, line int32) {
	low, high, ok := r.offsets(code)
	if !ok {
		return
	}
	if len(r.sites) >= maxRows {
		r.full = true
		return
	}
	r.sites = append(r.sites, callSite{low, high, file, line})
}

// overlay puts call sites over the rows. Of sites that overlap, which compilers
// do not make, the one that starts first holds.
func overlay(rows []lineRow, sites []callSite) []lineRow {
	if len(sites) == 0 {
		return rows
	}
	slices.SortStableFunc(sites, func(a, b callSite) int { return cmp.Compare(a.low, b.low) })
	out := make([]lineRow, 0, len(rows)+len(sites))
	below := lineRow{file: -1} // the last row that was taken
	var end uint64             // of the last site
	take := func(until uint64) {
		if 0 < end && end < until {
			out = appendRow(out, lineRow{end, below.file, below.line})
		}
		for ; len(rows) > 0 && rows[0].offset < until; rows = rows[1:] {
			below = rows[0]
			out = appendRow(out, below)
		}
	}
	for _, s := range sites {
		low := max(s.low, end)
		if low >= s.high {
			continue
		}
		take(low)
		out = appendRow(out, lineRow{low, s.file, s.line})
		for end = s.high; len(rows) > 0 && rows[0].offset <= end; rows = rows[1:] {
			below = rows[0]
		}
	}
	take(math.MaxUint64)
	return out
}
