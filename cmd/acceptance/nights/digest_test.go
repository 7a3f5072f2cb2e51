package nights

import (
	"fmt"
	"hash/fnv"
	"slices"
	"testing"

	"stackmill/queries/digest"
	"stackmill/queries/rank"
)

// history holds the values of a fleet's programs by night, as a digest reads them from a store.
type history struct {
	fleet  *Fleet
	series []digest.Series // with all nights
}

// newHistory computes the values of all nights, which are the means of the runs without the smallest
// and the largest value.
func newHistory(f *Fleet) *history {
	h := &history{fleet: f}
	for i, p := range f.Programs {
		s := digest.Series{Name: p.Name, Program: p.Name}
		items := map[string]int{}
		add := func(night int, name string, runs []float64) {
			at, known := items[name]
			if !known {
				at = len(s.Items)
				items[name] = at
				s.Items = append(s.Items, digest.Function{Name: name, Object: p.Name, Key: key(p.Name, name), Values: make([]float64, f.Nights)})
			}
			s.Items[at].Values[night] = rank.MiddleOf(runs)
		}
		for n := range f.Nights {
			s.Nights = append(s.Nights, digest.Night{Name: fmt.Sprint(n), At: n, Runs: f.Runs})
			s.Groups = append(s.Groups, digest.Group{Night: n, Host: "bench1", Runs: f.Runs})
			runs := make([][]float64, len(p.Functions))
			totals := make([]float64, f.Runs)
			for run := range f.Runs {
				for k, v := range f.Values(i, n, run) {
					runs[k] = append(runs[k], v)
					totals[run] += v
				}
			}
			add(n, total, totals)
			for k, values := range runs {
				if name := f.FunctionName(i, k, n); name != "" {
					add(n, name, values)
				}
			}
		}
		h.series = append(h.series, s)
	}
	return h
}

func key(object, name string) int64 {
	h := fnv.New64()
	fmt.Fprint(h, object, name)
	return int64(h.Sum64())
}

// until returns the series as they are after a night, without functions that did not exist yet.
func (h *history) until(night int) (all []*digest.Series) {
	for _, s := range h.series {
		s.Nights, s.Groups = s.Nights[:night+1], s.Groups[:night+1]
		var items []digest.Function
		for _, item := range s.Items {
			item.Values = item.Values[:night+1]
			if slices.Max(item.Values) > 0 {
				items = append(items, item)
			}
		}
		s.Items = items
		all = append(all, &s)
	}
	return all
}

// since is the number of nights whose changes a digest reports.
const since = 7

// digestOf returns the digest after a night.
func (h *history) digestOf(night int) *digest.Result {
	r := &digest.Result{Request: digest.Defaults()}
	r.Find(h.until(night), max(0, night+1-since))
	return r
}

// isPlanted reports whether a finding says that the planted function takes more time, and that no
// other function of the program changed more.
func (h *history) isPlanted(f *digest.Finding) bool {
	p := h.fleet.Planted
	if f.Name != h.fleet.Programs[p.Program].Name {
		return false
	}
	for _, c := range f.Changes {
		if c.Name != total {
			return c.Name == h.fleet.FunctionName(p.Program, p.Function, p.From) && c.State == rank.Sure && c.Ratio > 1
		}
	}
	return false
}

// total is the name of the values of a whole program.
const total = "<Total>"

// TestPlanted checks that the digest finds a planted change within four nights: its program is the
// first one, and the function is named. With STACKMILL_SOAK=1, the test also logs how often the
// digest finds changes of noisier functions.
func TestPlanted(t *testing.T) {
	for _, noise := range [][2]float64{{0, 0.25}, {0.25, 0.5}, {0.5, 1}, {1, 4}} {
		draws, first := 4, 0
		switch {
		case noise[0] > 0 && !soak:
			continue
		case noise[0] > 0:
			draws = 20
		case soak:
			draws = 100
		}
		for draw := range draws {
			plan := Benchmarks(uint64(draw))
			plan.Noise = noise
			f, err := NewFleet(plan)
			if err != nil {
				t.Fatal(err)
			}
			h := newHistory(f)
			found := h.foundAfter()
			if found != 0 {
				first++
			}
			p := f.Planted
			fn := f.Programs[p.Program].Functions[p.Function]
			t.Logf("draw %d: %s %s (noise %.2f) in night %d (slow %d, compiler %d): first on night %d", draw, f.Programs[p.Program].noise.name, f.Programs[p.Program].noise.functions[p.Function], fn.noise/(plan.Factor-1), p.From, f.SlowFrom, f.CompilerFrom, found)
		}
		t.Logf("the change is first in %d of %d draws, if the noise of the function is %g to %g of the change", first, draws, noise[0], noise[1])
		if noise[0] == 0 && draws-first > max(1, draws/20) {
			t.Error("that is too few")
		}
	}
}

// foundAfter returns the largest number of nights with the planted change, up to window, after which
// this change is first in the digest; 0 if it never is.
func (h *history) foundAfter() int {
	for n := window; n > 0; n-- {
		if r := h.digestOf(h.fleet.Planted.From + n - 1); len(r.Sure) > 0 && h.isPlanted(r.Sure[0]) {
			return n
		}
	}
	return 0
}

// TestFalseFindings makes the digest of every night, including the slow week and the nights after the
// change of the compiler, which changes all programs, and checks that it has hardly any false findings.
func TestFalseFindings(t *testing.T) {
	plan, fleets := Benchmarks(0), 1
	plan.Programs = 40
	if soak {
		plan.Programs, fleets = 200, 5
	}
	programNights, wrong := 0, 0
	for range fleets {
		plan.Seed++
		f, err := NewFleet(plan)
		if err != nil {
			t.Fatal(err)
		}
		h := newHistory(f)
		for night := 20; night < f.Nights; night++ {
			r := h.digestOf(night)
			programNights += len(f.Programs)
			for _, finding := range r.Sure {
				if c := h.mistake(finding); c != nil {
					wrong++
					t.Logf("fleet %d (slow %d, compiler %d) night %d: %s (%s): %s since %d, %+.1f %%, q %.2g", plan.Seed, f.SlowFrom, f.CompilerFrom, night, finding.Name, h.recorded(finding.Name), c.Name, finding.Nights[c.From].At, 100*(c.Ratio-1), c.Q)
				}
			}
		}
	}
	t.Logf("%d false findings in %d nights of programs", wrong, programNights)
	if wrong*1000 > programNights {
		t.Error("that is too many")
	}
}

// mistake returns a sure change in a finding that did not happen in the fleet; nil if there is none.
func (h *history) mistake(finding *digest.Finding) *digest.Change {
	for i, c := range finding.Changes {
		if c.State == rank.Sure && !h.real(finding.Name, c.Name, c.Ratio, finding.Nights[c.From].At) {
			return &finding.Changes[i]
		}
	}
	return nil
}

// late is the largest number of nights after which a change of the compiler may be found. If the
// machine is slow in these nights, functions that are slowed more than others hide the change.
const late = slowNights + near

// real reports whether a function of a program, or its total, changed near a night.
func (h *history) real(program, function string, ratio float64, night int) bool {
	f := h.fleet
	if p := f.Planted; p.Program >= 0 && program == f.Programs[p.Program].Name && abs(night-p.From) <= near {
		return true
	}
	if abs(night-f.CompilerFrom) <= near {
		return true
	}
	for _, p := range f.Programs {
		for _, fn := range p.Functions {
			if p.Name == program && fn.Renamed == function && night > f.CompilerFrom && night <= f.CompilerFrom+late {
				return (fn.rebuilt > 1) == (ratio > 1)
			}
		}
	}
	return false
}

// recorded returns the name of the recorded program whose noise a program has.
func (h *history) recorded(name string) string {
	for _, p := range h.fleet.Programs {
		if p.Name == name {
			return p.noise.name
		}
	}
	return ""
}

func abs(n int) int { return max(n, -n) }
