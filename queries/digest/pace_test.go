package digest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// pacedSeries returns 40 nights of a program whose functions share some noise and have another 0.5 %
// each. From night 36 on, some functions take 5 % more.
func pacedSeries(noise float64, functions int, more ...int) *Series {
	random := rand.New(rand.NewPCG(9, 9))
	s := &Series{Name: "program", Program: "program", Items: make([]Function, functions+1)}
	s.Items[0].Name = "<Total>"
	for n := range 40 {
		s.Nights = append(s.Nights, Night{Name: fmt.Sprint(n), At: n, Runs: 1})
		s.Groups = append(s.Groups, Group{Night: n, Host: "box", Runs: 1})
		pace, sum := 1+noise*random.NormFloat64(), 0.0
		for i := range functions {
			v := 1e9 * pace * (1 + 0.005*random.NormFloat64())
			if n >= 36 && slices.Contains(more, i) {
				v *= 1.05
			}
			f := &s.Items[i+1]
			f.Name, f.Key, f.Values = fmt.Sprint("f", i), int64(i+1), append(f.Values, v)
			sum += v
		}
		s.Items[0].Values = append(s.Items[0].Values, sum)
	}
	return s
}

// TestPace checks that a change of one function is found although the noise that all functions have
// in common is nearly as large, and that no other function is reported.
func TestPace(t *testing.T) {
	r := &Result{Request: Defaults()}
	r.Find([]*Series{pacedSeries(0.04, 8, 3)}, 33)
	if got, want := fmt.Sprint(told(r.Sure)), "[program f3 slower since 36]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	r = &Result{Request: Defaults()}
	r.Find([]*Series{pacedSeries(0.04, 4, 3)}, 33) // too few others
	if r.Sure != nil {
		t.Errorf("%v", told(r.Sure))
	}
}

// TestPaceOfMost checks that if most functions take more, the others are not reported as faster.
func TestPaceOfMost(t *testing.T) {
	r := &Result{Request: Defaults()}
	r.Find([]*Series{pacedSeries(0.01, 8, 0, 1, 2, 3, 4, 5)}, 33)
	for _, list := range [][]*Finding{r.Sure, r.Maybe} {
		for _, f := range list {
			for _, c := range f.Changes {
				if c.Ratio < 1 {
					t.Errorf("%v", told(list))
				}
			}
		}
	}
}

func TestMedianWithout(t *testing.T) {
	sorted := []float64{1, 2, 2, 4, 9}
	for value, want := range map[float64]float64{1: 3, 2: 3, 4: 2, 9: 2} {
		if got := medianWithout(sorted, value); got != want {
			t.Errorf("without %g: %g, want %g", value, got, want)
		}
	}
	if got := medianWithout(sorted[:4], 4); got != 2 {
		t.Error(got)
	}
}
