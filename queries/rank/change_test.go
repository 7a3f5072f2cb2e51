package rank

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// noisy makes a series from steps of a number of values and their level, with relative noise.
func noisy(random *rand.Rand, noise float64, steps ...[2]float64) (values []float64) {
	for _, s := range steps {
		for range int(s[0]) {
			values = append(values, s[1]*math.Exp(noise*random.NormFloat64()))
		}
	}
	return values
}

func sure(changes []Change) (list []Change) {
	for _, c := range changes {
		if c.State == Sure {
			list = append(list, c)
		}
	}
	return list
}

// Steps are found where they were planted, and nothing else is.
func TestChanges(t *testing.T) {
	for _, of := range []struct {
		name  string
		noise float64
		steps [][2]float64 // values, and their level
		near  int          // how far from their place changes may be found
		least int          // so many of a hundred series must have exactly these steps
	}{
		{"none", 0.05, [][2]float64{{40, 100}}, 0, 99},
		{"one", 0.02, [][2]float64{{25, 100}, {15, 110}}, 1, 99},
		{"small", 0.02, [][2]float64{{60, 100}, {60, 103}}, 10, 95},
		{"the last five", 0.01, [][2]float64{{25, 100}, {5, 110}}, 0, 95},
		{"the last three", 0.001, [][2]float64{{25, 100}, {3, 200}}, 0, 99},
		{"up and down", 0.02, [][2]float64{{40, 100}, {20, 110}, {40, 100}}, 1, 95},
		{"stairs", 0.02, [][2]float64{{30, 100}, {30, 110}, {30, 121}, {30, 110}}, 1, 95},
		{"below the smallest", 0.0005, [][2]float64{{40, 1000}, {40, 1005}}, 0, 0},
		{"from nothing", 0.02, [][2]float64{{20, 0}, {20, 5}}, 0, 99},
		{"long", 0.05, [][2]float64{{300, 100}, {200, 105}}, 40, 98},
	} {
		t.Run(of.name, func(t *testing.T) {
			random, right, any := rand.New(rand.NewPCG(7, 8)), 0, 0
			u := &Test{}
			var places []int
			at := 0
			for _, s := range of.steps[:len(of.steps)-1] {
				at += int(s[0])
				places = append(places, at)
			}
			for range 100 {
				changes := sure(u.Changes(noisy(random, of.noise, of.steps...)))
				if len(changes) > 0 {
					any++
				}
				if slices.EqualFunc(changes, places, func(c Change, at int) bool { return c.At >= at-of.near && c.At <= at+of.near }) {
					right++
				}
			}
			if right < of.least || of.least == 0 && any > 0 {
				t.Errorf("%d of 100 series have the steps alone, %d have any", right, any)
			}
		})
	}
}

// Without steps, nearly nothing is found, however long the series and whatever its
// distribution.
func TestNoChanges(t *testing.T) {
	random := rand.New(rand.NewPCG(9, 10))
	const series = 1000
	for _, n := range []int{0, 1, 2, 8, 20, 60, 300} {
		for _, of := range []struct { // in this order, so that the values are always the same
			name string
			draw func() float64
		}{
			{"normal", func() float64 { return 100 + 5*random.NormFloat64() }},
			{"heavy", func() float64 { return math.Exp(3 * random.NormFloat64()) }},
			{"ties", func() float64 { return float64(random.IntN(4)) }},
			{"seldom", func() float64 { return max(0, random.NormFloat64()-1.5) }},
		} {
			found, u := 0, &Test{}
			for range series {
				values := make([]float64, n)
				for i := range values {
					values[i] = of.draw()
				}
				if len(sure(u.Changes(values))) > 0 {
					found++
				}
			}
			if found > series*Chance {
				t.Errorf("%d of %d series of %d values, %s, have changes", found, series, n, of.name)
			}
		}
	}
	if c := (&Test{}).Changes(slices.Repeat([]float64{7}, 50)); len(c) > 0 {
		t.Errorf("values that are all the same: %v", c)
	}
	outlier := noisy(random, 0.02, [2]float64{30, 100}, [2]float64{1, 1e6}, [2]float64{30, 100})
	if c := (&Test{}).Changes(outlier); len(c) > 0 {
		t.Errorf("an outlier: %v", c)
	}
}

// A change has the medians on its sides, and the p-value of the test between its neighbors.
func TestChange(t *testing.T) {
	values := slices.Concat(slices.Repeat([]float64{1, 2, 3}, 7), slices.Repeat([]float64{11, 12, 13}, 7), slices.Repeat([]float64{1, 2, 3}, 7))
	u := &Test{}
	changes := u.Changes(values)
	if len(changes) != 2 || changes[0].At != 21 || changes[1].At != 42 {
		t.Fatalf("%+v", changes)
	}
	if c, want := changes[0], Smallest(21, 21); c.Before != 2 || c.After != 12 || math.Abs(c.P-want) > 1e-20 {
		t.Errorf("%+v, p is %v", c, want)
	}
}
