package nights

import (
	"cmp"
	"compress/gzip"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackmill/cmd/acceptance/suite"
	"stackmill/pipeline"
	"stackmill/queries"
)

var recordings = flag.String("recordings", "", "folder of recordings by testdata/record.sh, for TestNoise, which writes testdata/noise.txt.gz")

// most is the number of functions to keep of each program: the ones with the highest values.
const most = 30

// TestNoise checks that the recorded runs can be read and vary. With -recordings, it first extracts
// them from recordings.
func TestNoise(t *testing.T) {
	if *recordings != "" {
		keepNoise(t)
	}
	programs, err := readNoise()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		if len(p.runs) < 50 || len(p.functions) > most {
			t.Errorf("%s has %d runs and %d functions", p.name, len(p.runs), len(p.functions))
		}
		for i := range min(3, len(p.functions)) {
			values := map[float64]bool{}
			for _, run := range p.runs {
				values[run[i]] = true
			}
			if len(values) < len(p.runs)/10 {
				t.Errorf("%s: %s has only %d different values in %d runs", p.name, p.functions[i], len(values), len(p.runs))
			}
		}
	}
}

// keepNoise writes the values of recordings to the file that readNoise reads.
func keepNoise(t *testing.T) {
	dir := t.TempDir()
	files, err := filepath.Glob(filepath.Join(*recordings, "*", "*.data"))
	if err != nil || files == nil {
		t.Fatal(err, "no recordings")
	}
	db, err := suite.Open(pipeline.Options{Store: filepath.Join(dir, "store"), Cache: filepath.Join(dir, "cache")}, files...)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	records, err := db.Records(t.Context(), `SELECT path, "function", sum(exclusive)::BIGINT AS ns FROM function_rollup JOIN experiments USING (experiment_id)
		WHERE metric = 'cpu-clock:ppp' AND in_user AND exclusive > 0 AND "function" <> '<Total>' GROUP BY ALL`)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join("testdata", "noise.txt.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	zipped := gzip.NewWriter(out)
	for _, line := range noiseLines(records) {
		fmt.Fprintln(zipped, line)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
}

// noiseLines returns the lines of the file of recorded runs.
func noiseLines(records []queries.Record) (lines []string) {
	values := map[string]map[string]map[string]int64{} // by program, round and function
	for _, r := range records {
		path := r.Text("path")
		program, round := strings.TrimSuffix(filepath.Base(path), ".data"), filepath.Base(filepath.Dir(path))
		if values[program] == nil {
			values[program] = map[string]map[string]int64{}
		}
		if values[program][round] == nil {
			values[program][round] = map[string]int64{}
		}
		values[program][round][r.Text("function")] += r.Number("ns")
	}
	for _, program := range sortedKeys(values) {
		sums := map[string]int64{}
		for _, run := range values[program] {
			for function, v := range run {
				sums[function] += v
			}
		}
		functions := sortedKeys(sums)
		slices.SortStableFunc(functions, func(a, b string) int { return cmp.Compare(sums[b], sums[a]) })
		functions = functions[:min(most, len(functions))]
		lines = append(lines, "program "+program+"\t"+strings.Join(functions, "\t"))
		for _, round := range sortedKeys(values[program]) {
			var texts []string
			for _, function := range functions {
				texts = append(texts, fmt.Sprint(values[program][round][function]/recordedUnit))
			}
			lines = append(lines, strings.Join(texts, "\t"))
		}
	}
	return lines
}

func sortedKeys[V any](m map[string]V) (keys []string) {
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
