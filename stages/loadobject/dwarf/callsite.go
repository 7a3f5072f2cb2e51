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

// call adds the call site of inlined code. Code outside every executable region
// was removed by the linker.
func (l *lines) call(code span, file, line int32) {
	r, ok := l.addresses.Region(code.low)
	if !ok || code.high <= code.low {
		return
	}
	if len(l.sites) >= maxRows {
		l.full = true
		return
	}
	in := code.low - r.Address
	end := min(code.high-r.Address, r.Size)
	l.sites = append(l.sites, callSite{r.Offset + in, r.Offset + end, file, line})
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
