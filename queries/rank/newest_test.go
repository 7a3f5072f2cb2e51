package rank

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestStudent(t *testing.T) {
	for _, of := range []struct {
		t       float64
		degrees int
		p       float64
	}{{12.706, 1, 0.05}, {4.3027, 2, 0.05}, {3.1824, 3, 0.05}, {2.7764, 4, 0.05}, {2.5706, 5, 0.05}, {3.551, 23, 0.0017}, {2.0096, 49, 0.05}, {2.9467, 60, 0.00455}, {5.1106, 29, 1.857e-5}} {
		if p := student(of.t, of.degrees); math.Abs(p-of.p) > 0.01*of.p {
			t.Errorf("t %v with %d degrees of freedom: p %v, want %v", of.t, of.degrees, p, of.p)
		}
	}
}

// TestNoStep checks that hardly any night of a series without a step is reported as one, whatever
// the distribution.
func TestNoStep(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	last := 0.0
	following := func(share float64) func() float64 { // each value resembles the one before
		return func() float64 { last = share*last + random.NormFloat64(); return 100 + 2*last }
	}
	for _, distribution := range []struct { // in this order, so that the values are always the same
		name string
		draw func() float64
	}{
		{"normal", func() float64 { return 100 + 2*random.NormFloat64() }},
		{"heavy", func() float64 { // Student's t with 3 degrees of freedom
			a, b, c := random.NormFloat64(), random.NormFloat64(), random.NormFloat64()
			return 100 + 2*random.NormFloat64()/math.Sqrt((a*a+b*b+c*c)/3)
		}},
		{"skew", func() float64 { return 100 * math.Exp(0.3*random.NormFloat64()) }},
		{"rounded", func() float64 { return math.Round(20 + random.NormFloat64()) }},
		{"following", following(0.3)},
		{"outliers", func() float64 {
			if random.IntN(50) == 0 {
				return 150
			}
			return 100 + random.NormFloat64()
		}},
	} {
		for _, of := range [][2]int{{10, 2000}, {24, 10000}, {60, 2000}} {
			window, nights := of[0], of[1]
			u, sure, maybe := &Test{}, 0, 0
			var series []float64
			for range nights {
				if series = append(series, distribution.draw()); len(series) > window {
					series = series[1:]
				}
				if s, ok := u.Newest(series); ok && s.Sure(SureChance) {
					sure++
				} else if ok && s.Maybe() {
					maybe++
				}
			}
			if sure*1000 > nights || maybe*20 > nights {
				t.Errorf("%s, of the last %d nights: of %d nights, %d are told as sure and %d as perhaps", distribution.name, window, nights, sure, maybe)
			}
		}
	}
}

// TestStep checks that a step of 19 % after quiet nights is reported on the first night, and is
// certain within three nights.
func TestStep(t *testing.T) {
	random, u := rand.New(rand.NewPCG(3, 4)), &Test{}
	for range 200 {
		values := noisy(random, 0.02, [2]float64{24, 100}, [2]float64{3, 81})
		for nights := 1; nights <= 3; nights++ {
			changes := u.Changes(values[:24+nights])
			if len(changes) != 1 || changes[0].At != 24 || nights == 1 && changes[0].State != Maybe || nights == 3 && changes[0].State != Sure {
				t.Fatalf("after %d nights: %+v of %v", nights, changes, values)
			}
		}
		if s, _ := u.Newest(values[:25]); s.More(SureChance/mostNewest, 10) != 1 {
			t.Errorf("%d more nights make the step sure", s.More(SureChance/mostNewest, 10))
		}
	}
}
