package prove

import (
	"errors"
	"slices"

	"stackmill/schema"
)

var relations = map[int64]int64{hash("caller"): 0, hash("self"): 1, hash("callee"): 2}

// proveCalls proves that what callers attribute to a function sums to its inclusive value,
// and so do its own part and the callees'.
func (x *experiment) proveCalls() error {
	t := schema.CallValues
	runs, err := x.runs(t)
	if err != nil {
		return err
	}
	own, err := x.functionSums()
	if err != nil {
		return err
	}
	calls := make([]uint64, x.len(t)) // function, relation and neighbour
	relation, other := x.col(t, "relation"), x.col(t, "other_no")
	for i, no := range x.col(t, "function_no") {
		f, err := x.function(no)
		g, err2 := x.function(no + other[i])
		r, known := relations[relation[i]]
		if err := errors.Join(err, err2); err != nil || !known {
			return errors.New("call_values: a function or relation is unknown")
		}
		calls[i] = uint64(f)<<33 | uint64(r)<<31 | uint64(g)
	}
	for form := range forms {
		for m := range int32(len(x.metrics)) {
			if err := x.proveNeighbours(own[form][m], of(runs, m, form), calls); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *experiment) proveNeighbours(own functionSum, runs []run, calls []uint64) error {
	attributed := x.col(schema.CallValues, "attributed")
	callers, below := slices.Clone(own.inclusive), slices.Clone(own.inclusive)
	var together []uint64
	for _, r := range runs {
		together = append(together, calls[r.start:r.end]...)
		for i := r.start; i < r.end; i++ {
			f := int32(calls[i] >> 33)
			if f == x.total {
				continue
			}
			switch calls[i] >> 31 & 3 {
			case 0:
				callers[f] -= attributed[i]
			case 1:
				if own.there[f] && attributed[i] != own.exclusive[f] {
					return errors.New("call_values: a function's own part is not its exclusive value")
				}
				below[f] -= attributed[i]
			default:
				below[f] -= attributed[i]
			}
		}
	}
	for f := range callers {
		if callers[f] != 0 || below[f] != 0 {
			return errors.New("call_values: the parts do not sum to the inclusive value")
		}
	}
	if slices.Sort(together); len(slices.Compact(together)) < len(together) {
		return errors.New("call_values: a neighbour has two rows")
	}
	return nil
}
