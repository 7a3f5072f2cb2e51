package compare

import "math"

// Sides with one run do not show how runs differ. What is known then is the noise of
// sampling: the numbers of samples of two sides, of which each is random with a variance of
// its size (Poisson), are the parts of a sum, whose share is known with a binomial variance.

// shareOfTest returns the interval of the share that the test has in a sum of samples
// (Wilson, with the correction for whole numbers).
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

// shareP returns the probability that a sum of samples is divided as unevenly between the
// sides, or more, if the test is expected to have this share.
func shareP(base, test, expected float64) float64 {
	n := base + test
	off := math.Abs(test-n*expected) - 0.5
	if n == 0 || off <= 0 {
		return 1
	}
	return math.Erfc(off / math.Sqrt(2*n*expected*(1-expected)))
}

// dispersion is how many times as much the values of a side's runs vary as their sampling
// explains; at least 1.
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
