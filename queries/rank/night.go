package rank

import "slices"

// fewRuns is the smallest number of runs from which Middle leaves out the extreme ones.
const fewRuns = 5

// Middle returns one value for several runs: their mean, without the smallest and the largest value
// if there are at least five runs. Its arguments are the values' sum, extremes and number; a run
// without a value counts as 0.
func Middle(sum, least, most float64, values, runs int) float64 {
	if runs < fewRuns {
		return sum / float64(runs)
	}
	if values < runs {
		least = min(least, 0)
	}
	return (sum - least - most) / float64(runs-2)
}

// MiddleOf returns Middle of a list of values.
func MiddleOf(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return Middle(sum, slices.Min(values), slices.Max(values), len(values), len(values))
}

// LeastDates is the smallest number of dates with experiments for which the experiments of one date
// count as one night.
const LeastDates = 6
