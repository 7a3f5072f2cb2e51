package nights

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"stackmill/queries/rank"
)

// soak makes the tests draw as many series and fleets as the documentation states.
var soak = os.Getenv("STACKMILL_SOAK") != ""

// seriesNights is the length of a series in which nothing changes.
const seriesNights = 100

// distributions draw series of values around 100 in which nothing changes.
var distributions = []struct {
	name string
	draw func(random *rand.Rand, n int) []float64
}{
	{"normal", independent(func(r *rand.Rand) float64 { return 100 + 2*r.NormFloat64() })},
	{"lognormal", independent(func(r *rand.Rand) float64 { return 100 * math.Exp(0.2*r.NormFloat64()) })},
	{"heavy-tailed", independent(func(r *rand.Rand) float64 { return 100 + 2*student3(r) })},
	{"autocorrelated", func(r *rand.Rand, n int) []float64 {
		values, x := make([]float64, n), r.NormFloat64()
		for i := range values {
			values[i] = 100 + 2*x
			x = 0.3*x + math.Sqrt(1-0.3*0.3)*r.NormFloat64()
		}
		return values
	}},
	{"counts", independent(func(r *rand.Rand) float64 { return float64(poisson(r, 12)) })},
	{"few counts", independent(func(r *rand.Rand) float64 { return float64(poisson(r, 1)) })},
	{"equal", independent(func(r *rand.Rand) float64 { return math.Round(1000 + 0.4*r.NormFloat64()) })},
}

func independent(draw func(*rand.Rand) float64) func(*rand.Rand, int) []float64 {
	return func(r *rand.Rand, n int) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = draw(r)
		}
		return values
	}
}

// student3 draws from Student's distribution with three degrees of freedom.
func student3(r *rand.Rand) float64 {
	squares := 0.0
	for range 3 {
		x := r.NormFloat64()
		squares += x * x
	}
	return r.NormFloat64() / math.Sqrt(squares/3)
}

func poisson(r *rand.Rand, mean float64) (n int) {
	for at := r.ExpFloat64(); at < mean; at += r.ExpFloat64() {
		n++
	}
	return n
}

// alarms looks for changes in a series after every night. It counts the nights with sure changes, the
// places of sure changes, and the nights with a change that is maybe one.
func alarms(test *rank.Test, values []float64) (nights, changes, maybe int) {
	places := map[int]bool{}
	for n := range values {
		sure, possible := false, false
		for _, c := range test.Changes(values[:n+1]) {
			if c.State == rank.Sure {
				sure, places[c.At] = true, true
			} else {
				possible = true
			}
		}
		if sure {
			nights++
		}
		if possible {
			maybe++
		}
	}
	return nights, len(places), maybe
}

// TestQuietSeries checks that no change is found in series in which nothing changes.
func TestQuietSeries(t *testing.T) {
	series := 20
	if soak {
		series = 100
	}
	test := &rank.Test{}
	for _, d := range distributions {
		t.Run(d.name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(3, 4))
			nights, changes, maybe := 0, 0, 0
			for range series {
				n, c, m := alarms(test, d.draw(random, seriesNights))
				nights, changes, maybe = nights+n, changes+c, maybe+m
			}
			t.Logf("of %d nights, %d are called sure (%d changes), %d maybe", series*seriesNights, nights, changes, maybe)
			if changes > 10*series*seriesNights/10_000 {
				t.Error("that is too often")
			}
		})
	}
}

// TestFirstNight checks that a drop of 19 %, which separates all values, is a change in the state
// maybe on its first night, and sure within three nights.
func TestFirstNight(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	test := &rank.Test{}
	for _, noise := range []float64{0.5, 1, 2, 3} {
		missed, late, series := 0, 0, 0
		for series < 100 {
			values := make([]float64, 27)
			for i := range values {
				values[i] = 100 + noise*random.NormFloat64()
				if i >= 24 {
					values[i] *= 0.81
				}
			}
			if slices.Max(values[24:]) >= slices.Min(values[:24]) {
				continue
			}
			series++
			if state := lastState(test, values[:25], 24); state == "" {
				missed++
			}
			if state := lastState(test, values, 24); state != rank.Sure {
				late++
			}
		}
		t.Logf("noise of %g %%: of %d series, %d do not show it on the first night, %d are not sure on the third", noise, series, missed, late)
		if missed+late > 0 {
			t.Error("that is too many")
		}
	}
}

// near is the largest distance, in nights, between a change and the place where it is found:
// neighboring values may look like the other side.
const near = 2

// lastState returns the state of a change at a place, or near it.
func lastState(test *rank.Test, values []float64, at int) rank.State {
	for _, c := range test.Changes(values) {
		if c.At >= at-near && c.At <= at+near {
			return c.State
		}
	}
	return ""
}
