package attribute

import (
	"cmp"
	"math"
	"slices"

	"stackmill/stages/program"
)

// functionShares holds the largest share of each function in any metric and view.
type functionShares []share

type share struct{ exclusive, inclusive float64 }

func (s functionShares) add(v *MetricValues) {
	for n := range s {
		exclusive := v.Functions.Exclusive.row(n)
		inclusive := v.Functions.inclusive(n)
		for view, total := range v.Total {
			if total != 0 { // both may be negative in a difference of profiles
				s[n].exclusive = max(s[n].exclusive, math.Abs(float64(exclusive[view])/float64(total)))
				s[n].inclusive = max(s[n].inclusive, math.Abs(float64(inclusive[view])/float64(total)))
			}
		}
	}
}

// ranked returns the functions sorted by share, exclusive before inclusive.
func (s functionShares) ranked() []program.FunctionNo {
	order := make([]program.FunctionNo, len(s))
	for i := range order {
		order[i] = program.FunctionNo(i)
	}
	slices.SortStableFunc(order, func(a, b program.FunctionNo) int {
		return cmp.Or(cmp.Compare(s[b].exclusive, s[a].exclusive), cmp.Compare(s[b].inclusive, s[a].inclusive))
	})
	return order
}
