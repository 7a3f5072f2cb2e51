package compare

import "math"

// Largest returns the row that changed most, by the size of the difference: among the violated rows
// if there are any, otherwise among all judged rows. It returns <Total> only if there is no other
// row, and nil if no row has a bound.
func (j *Judgement) Largest() *Row {
	violated := func(r *Row) bool { return !math.IsNaN(j.Limit) && r.Low > 1+j.Limit }
	return largest(j.Rows, func(r *Row) bool { return r.BaseN > 0 && !math.IsNaN(r.Low) }, violated)
}

// Largest returns the row that changed most, by the size of the difference: among the rows that are
// called different if there are any, otherwise among all judged rows. It returns <Total> only if
// there is no other row, and nil if no row is judged.
func (r *Result) Largest() *Row {
	return largest(r.Rows, func(r *Row) bool { return r.Judged }, (*Row).Changed)
}

func largest(rows []Row, eligible, first func(*Row) bool) (found *Row) {
	better := func(r *Row) bool {
		switch {
		case found == nil:
			return true
		case first(r) != first(found):
			return first(r)
		case found == &rows[0]:
			return true
		}
		return math.Abs(r.Difference) > math.Abs(found.Difference)
	}
	for i := range rows {
		if r := &rows[i]; eligible(r) && better(r) {
			found = r
		}
	}
	return found
}
