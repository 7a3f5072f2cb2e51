package compare

import "math"

// With a single run on a side, the variation between runs is unknown, but not the noise of
// sampling: sample counts are Poisson distributed, so the share of one side in the sum of both is
// binomial.

// shareInterval returns the confidence interval of the test's share in a sum of samples (Wilson
// score, with continuity correction).
func shareInterval(base, test, level float64) (low, high float64) {
	n := base + test
	if n == 0 {
		return 0, 1
	}
	p, z := test/n, math.Sqrt2*math.Erfinv(level)
	bound := func(sign float64) float64 {
		inside := z*z - 1/n + 4*n*p*(1-p) - sign*(4*p-2)
		return (2*n*p + z*z + sign*(z*math.Sqrt(math.Max(inside, 0))+1)) / (2 * (n + z*z))
	}
	low, high = math.Max(0, bound(-1)), math.Min(1, bound(1))
	if test == 0 {
		low = 0
	}
	if base == 0 {
		high = 1
	}
	return low, high
}

// shareP returns the probability that a sum of samples is divided as unevenly between the sides or
// more, if the test's expected share is given.
func shareP(base, test, expected float64) float64 {
	n := base + test
	off := math.Abs(test-n*expected) - 0.5
	if n == 0 || off <= 0 {
		return 1
	}
	return math.Erfc(off / math.Sqrt(2*n*expected*(1-expected)))
}

// dispersion is the ratio of the variance of a side's runs to the variance that sampling explains;
// at least 1.
func dispersion(counts []float64) float64 {
	n := float64(len(counts))
	if n < 3 {
		return 1
	}
	sum, squares := 0.0, 0.0
	for _, c := range counts {
		sum += c
	}
	if sum == 0 {
		return 1
	}
	mean := sum / n
	for _, c := range counts {
		squares += (c - mean) * (c - mean)
	}
	return math.Max(1, squares/(n-1)/mean)
}
