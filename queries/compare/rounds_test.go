package compare

import (
	_ "embed"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackmill/queries"
	"stackmill/queries/rank"
)

// realRounds has values of 60 rounds on a busy machine with two processors: in each, four builds of
// cmd/acceptance/compare/testdata/work.c ran one after the other, in random order, under `perf
// record -e cpu-clock:u -F 5000`. The builds are `base`, `again` (the same), `function` (search does
// 3 % more) and `total` (search does 7.5 % more, which is 3 % of the program). The columns are build,
// round, function and value.
//
//go:embed testdata/rounds.tsv
var realRounds string

// roundValues returns these values by build, round (from 0) and function.
func roundValues(t *testing.T) map[string][]map[string]float64 {
	builds := map[string][]map[string]float64{}
	for _, line := range strings.Split(strings.TrimSpace(realRounds), "\n") {
		f := strings.Split(line, "\t")
		round, err := strconv.Atoi(f[1])
		v, err2 := strconv.ParseFloat(f[3], 64)
		if err != nil || err2 != nil {
			t.Fatal(line)
		}
		for len(builds[f[0]]) < round {
			builds[f[0]] = append(builds[f[0]], map[string]float64{})
		}
		builds[f[0]][round-1][f[2]] = v
	}
	return builds
}

// testDesign is a design of comparisons: all runs with all, pairs, or blocks of two hosts that each
// have every second run.
type testDesign string

const (
	stored testDesign = "stored runs"
	paired testDesign = "pairs"
	hosts  testDesign = "hosts"
)

// gated judges runs as a gate does.
func gated(base, test []map[string]float64, design testDesign, limit float64) *Judgement {
	c := &comparison{Result: Result{Request: Defaults(), sampled: true}}
	c.MinShare, c.Level = 0.01, 1-2*0.05/9 // the level of a gate over 9 rows: no Reach is computed in each draw
	c.Result.Base.Runs, c.Result.Test.Runs = make([]queries.Experiment, len(base)), make([]queries.Experiment, len(test))
	items := map[string]*item{"<Total>": {names: []string{"<Total>"}, values: make([]float64, len(base)+len(test))}}
	c.items = []*item{items["<Total>"]}
	for n, run := range slices.Concat(base, test) {
		for f, v := range run {
			if items[f] == nil {
				items[f] = &item{names: []string{f}, values: make([]float64, len(base)+len(test))}
				c.items = append(c.items, items[f])
			}
			items[f].values[n] = v
		}
	}
	switch design {
	case paired:
		c.Design = Design{Key: "round", Paired: true, Blocks: len(base)}
		for n := range base {
			c.Design.base, c.Design.test = append(c.Design.base, []int{n}), append(c.Design.test, []int{n})
		}
	case hosts:
		c.Design = Design{Key: "host", Blocks: 2, base: make([][]int, 2), test: make([][]int, 2)}
		for n := range base {
			c.Design.base[n%2], c.Design.test[n%2] = append(c.Design.base[n%2], n), append(c.Design.test[n%2], n)
		}
		for _, it := range c.items { // the second host takes twice as long
			for n := range it.values {
				it.values[n] *= float64(1 + n%len(base)%2)
			}
		}
	}
	c.judge()
	j := &Judgement{Result: &c.Result, Outcome: Passed, Limit: limit}
	for i := range c.Rows {
		if row := &c.Rows[i]; row.Judged && row.BaseN > 0 {
			j.check(row, limit)
		}
	}
	for _, k := range j.Checks {
		if k.Outcome == Violated || k.Outcome == Undecided && j.Outcome == Passed {
			j.Outcome = k.Outcome
		}
	}
	return j
}

// drawRounds returns runs of two builds in n rounds that are drawn at random: the same rounds for
// both builds if paired, otherwise different ones.
func drawRounds(random *rand.Rand, values map[string][]map[string]float64, base, test string, n int, design testDesign) (runs [2][2][]map[string]float64) {
	at := random.Perm(len(values[base]))
	for k := range runs {
		for i := range n {
			other := at[(2*k+1)*n+i]
			if design == paired {
				other = at[2*k*n+i]
			}
			runs[k][0], runs[k][1] = append(runs[k][0], values[base][at[2*k*n+i]]), append(runs[k][1], values[test][other])
		}
	}
	return runs
}

// TestRecipeRounds counts how often a gate of ten rounds fails, as recommended in docs/ci.md, which
// states these numbers.
func TestRecipeRounds(t *testing.T) {
	values := roundValues(t)
	const draws, limit = 300, 0.005
	page, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		build       string
		least, most [2]int // of stored runs, and of pairs
	}{{"total", [2]int{300, 300}, [2]int{300, 300}}, {"function", [2]int{285, 295}, [2]int{300, 300}}, {"again", [2]int{0, 0}, [2]int{12, 3}}} {
		var found [2]int
		for k, design := range []testDesign{stored, paired} {
			random := rand.New(rand.NewPCG(1, 2))
			red := 0
			for range draws {
				runs := drawRounds(random, values, "base", c.build, 10, design)
				if gated(runs[0][0], runs[0][1], design, limit).Outcome == Violated {
					red++
				}
			}
			t.Logf("%s, %s: red in %d of %d draws", c.build, design, red, draws)
			if red < c.least[k] || red > c.most[k] {
				t.Errorf("%s, %s: red in %d of %d draws, want %d to %d", c.build, design, red, draws, c.least[k], c.most[k])
			}
			found[k] = red
		}
		if cells := fmt.Sprintf("| %d of %d | %d of %d |\n", found[1], draws, found[0], draws); !strings.Contains(string(page), cells) {
			t.Errorf("docs/ci.md has no row with %s", cells)
		}
	}
}

// TestFalseAlarms compares runs of one build, in all designs: at most 5 % of the gates that allow no
// increase fail, and at most 3 % of the comparisons report a change.
func TestFalseAlarms(t *testing.T) {
	values := roundValues(t)
	const draws = 1000
	for _, n := range []int{8, 10, 15} {
		for _, design := range []testDesign{stored, paired, hosts} {
			random := rand.New(rand.NewPCG(3, uint64(n)))
			red, reported := 0, 0
			for range draws {
				runs := drawRounds(random, values, "base", "again", n, design)
				base, test := runs[0][0], runs[0][1]
				for i := range base { // choose at random which of the two runs of a round belongs to the base
					if design == paired && random.IntN(2) == 1 {
						base[i], test[i] = test[i], base[i]
					}
				}
				j := gated(base, test, design, 0)
				if j.Outcome == Violated {
					red++
				}
				if slices.ContainsFunc(j.Rows, func(r Row) bool { return r.Changed() }) {
					reported++
				}
			}
			t.Logf("%d rounds, %s: of %d, %d gates are red, %d comparisons report a change", n, design, draws, red, reported)
			if red > draws*65/1000 || reported > draws*45/1000 {
				t.Errorf("%d rounds, %s: that is too many", n, design)
			}
		}
	}
}

// TestDetectable plants increases into runs of one build, of the smallest size that a gate of other
// runs reports as detectable. The gate fails in about as many draws as rank.Power says.
func TestDetectable(t *testing.T) {
	values := roundValues(t)
	const draws, limit = 400, 0.01
	for _, n := range []int{5, 7, 10, 15} {
		for _, design := range []testDesign{stored, paired, hosts} {
			if design == paired && n < 8 {
				continue // too few pairs for bounds
			}
			random := rand.New(rand.NewPCG(5, uint64(n)))
			runs := drawRounds(random, values, "base", "again", n, design)
			reach := gated(runs[0][0], runs[0][1], design, limit).reachOf()
			red, sum := map[string]int{}, map[string]float64{}
			for range draws {
				runs := drawRounds(random, values, "base", "again", n, design)
				j := gated(runs[0][0], runs[0][1], design, limit)
				j.reach = reach
				for i := range j.Rows {
					name := j.Rows[i].Names[0]
					size := j.Detectable(&j.Rows[i])
					if name != "<Total>" && name != "search" && name != "sort" {
						continue
					}
					sum[name] += size
					var planted []map[string]float64
					for _, run := range runs[1][1] {
						planted = append(planted, map[string]float64{"<Total>": run["<Total>"], name: run[name] * size})
					}
					for _, c := range gated(runs[1][0], planted, design, limit).Checks {
						if c.Row == name && c.Outcome == Violated {
							red[name]++
						}
					}
				}
			}
			for name, n2 := range red {
				t.Logf("%d rounds, %s, %s: %.1f%% is detectable on average, and found in %d of %d", n, design, name, 100*(sum[name]/draws-1), n2, draws)
				if n2 < int(draws*rank.Power) {
					t.Errorf("%d rounds, %s, %s: that is too few", n, design, name)
				}
			}
		}
	}
}

// reachOf returns the reach of the judgement's intervals.
func (j *Judgement) reachOf() float64 {
	c := &comparison{Result: *j.Result}
	c.level = c.Level
	return rank.Reach(c.interval, len(j.Base.Runs), len(j.Test.Runs))
}
