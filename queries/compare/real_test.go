package compare

import (
	_ "embed"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"stackmill/queries"
)

// realRuns has the values of 40 runs of a program, and of 40 of a build in which `search`
// does 5 % more, recorded with perf on a busy machine: the side, the run, the function and
// its value. TestPlanted of cmd/acceptance/compare records such runs (-runs 40 -keep FILE).
//
//go:embed testdata/runs.tsv
var realRuns string

// TestRealRuns compares halves of these runs, drawn by chance.
func TestRealRuns(t *testing.T) {
	values := map[string]map[string]float64{} // by run and function
	var builds [2][]string
	for _, line := range strings.Split(strings.TrimSpace(realRuns), "\n") {
		f := strings.Split(line, "\t")
		if values[f[1]] == nil {
			values[f[1]] = map[string]float64{}
			side := slices.Index([]string{"base", "test"}, f[0])
			builds[side] = append(builds[side], f[1])
		}
		v, err := strconv.ParseFloat(f[3], 64)
		if err != nil {
			t.Fatal(err)
		}
		values[f[1]][f[2]] = v
	}
	const draws = 100
	found, wrong, reported := 0, 0, 0
	random := rand.New(rand.NewPCG(1, 2))
	for range draws {
		for _, b := range builds {
			random.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
		}
		for _, r := range judged(values, builds[0][:20], builds[1][:20]) {
			switch {
			case r.Names[0] == "search" && r.Verdict == Slower:
				found++
			case r.Names[0] != "<Total>" && r.Changed():
				wrong++
			}
		}
		if slices.ContainsFunc(judged(values, builds[0][:20], builds[0][20:]), func(r Row) bool { return r.Changed() }) {
			reported++
		}
	}
	t.Logf("the planted change was found in %d of %d draws, others in %d; of one build, something was reported in %d", found, draws, wrong, reported)
	if len(builds[0]) != 40 || found < 95 || wrong > 5 || reported > 5 {
		t.Error("that is too few, or too many")
	}
}

// judged compares runs with known values.
func judged(values map[string]map[string]float64, base, test []string) []Row {
	c := &comparison{Result: Result{Request: Defaults(), sampled: true}}
	c.Result.Base.Runs, c.Result.Test.Runs = make([]queries.Experiment, len(base)), make([]queries.Experiment, len(test))
	items := map[string]*item{"<Total>": {names: []string{"<Total>"}, values: make([]float64, 40)}}
	c.items = []*item{items["<Total>"]}
	for n, run := range slices.Concat(base, test) {
		for f, v := range values[run] {
			if items[f] == nil {
				items[f] = &item{names: []string{f}, values: make([]float64, 40)}
				c.items = append(c.items, items[f])
			}
			items[f].values[n] = v
		}
	}
	c.judge()
	return c.Rows
}
