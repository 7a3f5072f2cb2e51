package digest

import (
	"math"
	"slices"

	"stackmill/queries/rank"
)

// leastOthers is the smallest number of other functions that show the pace of a program.
const leastOthers = 4

// keepPace divides the values of each function by the pace of the program in that night, if this
// makes them vary less. The pace is the median, over all other functions, of a function's value
// relative to its usual value. Noise that a program's functions have in common (other load on the
// machine, other addresses) then does not hide a change of one function. A change of one function
// does not look like a change of the others either, as it would in their shares of <Total>.
//
// The first function is <Total>, which stays as it is.
func (v *Verdict) keepPace(functions []*Function) {
	var known []*Function
	relative := map[*Function][]float64{}
	for _, f := range functions[1:] {
		if usual := rank.Median(slices.Sorted(slices.Values(f.nights))); usual > 0 {
			known = append(known, f)
			for _, value := range f.nights {
				relative[f] = append(relative[f], value/usual)
			}
		}
	}
	if len(known) <= leastOthers {
		return
	}
	paced := make([][]float64, len(known))
	all := make([]float64, len(known))
	for n := range v.Nights {
		for i, f := range known {
			all[i] = relative[f][n]
		}
		slices.Sort(all)
		for i, f := range known {
			pace := medianWithout(all, relative[f][n])
			if pace == 0 {
				return // most functions have no values in this night
			}
			paced[i] = append(paced[i], f.nights[n]/pace)
		}
	}
	for i, f := range known {
		if noise(paced[i]) < noise(f.nights) {
			f.measured, f.nights = f.nights, paced[i]
		}
	}
}

// medianWithout returns the median of sorted values without one of them.
func medianWithout(sorted []float64, value float64) float64 {
	left, _ := slices.BinarySearch(sorted, value)
	at := func(i int) float64 {
		if i >= left {
			i++
		}
		return sorted[i]
	}
	n := len(sorted) - 1
	return (at((n-1)/2) + at(n/2)) / 2
}

// contradicted reports whether the values before the division by the pace show that most other
// functions changed instead of this one: these values differ from the change by more than their
// noise explains, and are nearer to no change.
func (f *Function) contradicted(test *rank.Test, step rank.Step, from, at, to int) bool {
	if f.measured == nil {
		return false
	}
	measured := test.Compare(f.measured[from:at], f.measured[at:to])
	paced, difference := step.After-step.Before, measured.After-measured.Before
	uncertain := measured.Deviation * math.Sqrt(1/float64(at-from)+1/float64(to-at))
	return math.Abs(difference-paced) > 3*uncertain && difference*math.Copysign(1, paced) < math.Abs(paced)/2
}
