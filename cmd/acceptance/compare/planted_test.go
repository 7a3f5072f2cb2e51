package compare

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"stackmill/cmd/acceptance/suite"
	"stackmill/pipeline"
	"stackmill/queries"
	"stackmill/queries/compare"
)

var (
	runs = flag.Int("runs", 0, "record so many runs of each build for TestPlanted (40 take two minutes)")
	keep = flag.String("keep", "", "write the values of these runs to this file, as queries/compare/testdata has them")
)

const draws = 100

// TestPlanted records runs of two builds of a program. A function of the second build does 5 % more
// work. Random halves of the runs are compared. Nearly always, this function is found, and nothing
// between runs of the same build. queries/compare has a test with the values of such runs.
func TestPlanted(t *testing.T) {
	if *runs == 0 {
		t.Skip("takes minutes (-runs 40)")
	}
	need(t, "gcc", "perf")
	dir := t.TempDir()
	db, err := suite.Open(pipeline.Options{Store: filepath.Join(dir, "store"), Cache: filepath.Join(dir, "cache")}, recordRuns(t, dir)...)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if *keep != "" {
		keepValues(t, db)
	}
	var builds [2][]string
	for _, e := range db.Experiments() {
		side := 0
		if e.Name[:4] == "test" {
			side = 1
		}
		builds[side] = append(builds[side], e.ExperimentID)
	}
	found, wrong, reported := 0, 0, 0
	random := rand.New(rand.NewPCG(7, 8))
	half := *runs / 2
	for range draws {
		for _, b := range builds {
			random.Shuffle(len(b), func(i, j int) { b[i], b[j] = b[j], b[i] })
		}
		for _, row := range compared(t, db, builds[0][:half], builds[1][:half]) {
			if row.Names[0] == "search" && row.Verdict == compare.Slower {
				found++
			} else if row.Names[0] != "<Total>" && row.Changed() {
				wrong++
			}
		}
		for _, row := range compared(t, db, builds[0][:half], builds[0][half:2*half]) {
			if row.Changed() {
				reported++
				break
			}
		}
	}
	t.Logf("%d against %d of %d runs: the planted change was found in %d of %d draws, others in %d; of one build, something was reported in %d", half, half, *runs, found, draws, wrong, reported)
	if found < 95 || reported > 5 {
		t.Error("that is too few, or too many")
	}
}

func compared(t *testing.T, db *queries.DB, base, test []string) []compare.Row {
	t.Helper()
	r := compare.Defaults()
	r.Base, r.Test = base, test
	result, err := compare.Run(t.Context(), db, r)
	if err != nil {
		t.Fatal(err)
	}
	return result.Rows
}

// recordRuns records both builds alternately, so that other load affects both alike.
func recordRuns(t *testing.T, dir string) (recordings []string) {
	t.Helper()
	source, err := filepath.Abs("testdata/work.c")
	if err != nil {
		t.Fatal(err)
	}
	plant := map[string]string{"base": "-DPLANT=100", "test": "-DPLANT=105"}
	for build, option := range plant {
		if err := os.Mkdir(filepath.Join(dir, build), 0o777); err != nil {
			t.Fatal(err)
		}
		do(t, dir, "gcc", "-O1", "-g", option, "-o", filepath.Join(build, "work"), source)
	}
	for n := range *runs {
		for _, build := range []string{"base", "test"} {
			recording := filepath.Join(dir, fmt.Sprintf("%s-%d.data", build, n))
			do(t, dir, "perf", "record", "-q", "-e", "cpu-clock", "-F", "5000", "-o", recording, "./"+build+"/work")
			recordings = append(recordings, recording)
		}
	}
	return recordings
}

// keepValues writes the values of all runs to a file.
func keepValues(t *testing.T, db *queries.DB) {
	t.Helper()
	records, err := db.Records(t.Context(), `SELECT left(n.experiment, 4) AS side, n.experiment, "function", exclusive FROM function_rollup JOIN experiment_names n USING (experiment_id)
		WHERE metric = 'cpu-clock' AND in_user AND exclusive > 0 ORDER BY ALL`)
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for _, r := range records {
		text += fmt.Sprintf("%s\t%s\t%s\t%d\n", r.Text("side"), r.Text("experiment"), r.Text("function"), r.Number("exclusive"))
	}
	if err := os.WriteFile(*keep, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}
