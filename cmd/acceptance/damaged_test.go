package acceptance

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackmill/queries"
)

// recurSamples is the number of clock samples in recur.er. All damaged recordings
// are copies of it.
const recurSamples = 1610

// damage says what must be left of a damaged recording.
type damage struct {
	name     string
	exits    []int    // allowed exit statuses of an ingest of only this recording
	least    int64    // minimum number of samples
	problem  string   // file in which a problem is expected; "": the recording itself
	offset   bool     // the problem has an offset
	has      []string // functions that must be there
	hasNot   []string
	allKnown bool // no samples in <Unknown>
}

var recurFunctions = []string{"fact", "is_even", "is_odd", "flat", "main"}

var damages = []damage{
	{name: "d_trunc_profile", exits: []int{3}, least: 357, problem: "profile", offset: true, has: []string{"fact", "main"}, allKnown: true},
	{name: "d_garbage_packet", exits: []int{3}, least: recurSamples * 9 / 10, problem: "profile", offset: true, has: recurFunctions, allKnown: true},
	{name: "d_zero_profile", exits: []int{1}, problem: "profile", offset: true},
	{name: "d_garbage_frames", exits: []int{3}, least: recurSamples, problem: "data.frameinfo", offset: true},
	{name: "d_no_frameinfo", exits: []int{3}, least: recurSamples, problem: "data.frameinfo", hasNot: recurFunctions},
	{name: "d_no_map", exits: []int{3}, least: recurSamples, problem: "map.xml", has: []string{unknownFunction}, hasNot: recurFunctions},
	{name: "d_zero_map", exits: []int{3}, least: recurSamples, problem: "map.xml", has: []string{unknownFunction}, hasNot: recurFunctions},
	{name: "d_map_cut", exits: []int{3}, least: recurSamples, problem: "map.xml", offset: true, has: recurFunctions},
	{name: "d_map_badattr", exits: []int{3}, least: recurSamples, problem: "map.xml", offset: true, has: []string{unknownFunction}},
	{name: "d_no_archives", exits: []int{0}, least: recurSamples, problem: "recur", hasNot: recurFunctions},
	{name: "d_archive_cut", exits: []int{0}, least: recurSamples, problem: "recur"},
	{name: "d_archive_swapped", exits: []int{0}, least: recurSamples, problem: "recur", hasNot: recurFunctions},
	{name: "d_log_cut", exits: []int{1, 3}, problem: "log.xml", offset: true},
	{name: "d_log_cut_end", exits: []int{0, 3}, least: recurSamples, problem: "log.xml", offset: true, has: recurFunctions, allKnown: true},
	{name: "d_zero_log", exits: []int{1}, problem: "log.xml"},
	{name: "d_no_log", exits: []int{1}, problem: "log.xml"},
	{name: "d_empty_dir", exits: []int{1}},
	{name: "d_file", exits: []int{1}},
}

func TestDamaged(t *testing.T) {
	binary := program(t)
	for _, d := range damages {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			store, cache := filepath.Join(t.TempDir(), "store"), t.TempDir()
			code, stderr := runProgram(t, binary, ingestArgs(store, cache, filepath.Join(recordings, "damaged", d.name+".er"))...)
			if !slices.Contains(d.exits, code) {
				t.Errorf("exit status %d, want one of %v\n%s", code, d.exits, stderr)
			}
			if code == 1 && !strings.Contains(stderr, d.name) {
				t.Errorf("nothing said about it: %s", stderr)
			}
			if strings.Contains(stderr, "goroutine ") {
				t.Errorf("a stack trace:\n%s", stderr)
			}
			db, err := queries.Open(context.Background(), store)
			if err != nil {
				if code == 1 {
					return // nothing could be read, nothing was stored
				}
				t.Fatal(err)
			}
			defer db.Close()
			d.check(t, db)
		})
	}
}

func (d damage) check(t *testing.T, db *queries.DB) {
	if n := number(t, db.DB, "SELECT count(*) FROM samples"); n < d.least || n > recurSamples {
		t.Errorf("%d samples, want %d to %d", n, d.least, recurSamples)
	}
	ofTotal := number(t, db.DB, "SELECT sum(inclusive) FROM function_metrics WHERE function = '<Total>' AND metric = 'totalcpu' AND mode = 'user'")
	if samples := number(t, db.DB, "SELECT sum(duration_ns) FROM clock_samples"); ofTotal != samples {
		t.Errorf("<Total> has %d ns, the samples %d", ofTotal, samples)
	}
	text := "SELECT count(*) FROM problems WHERE reason <> '' AND message <> '' AND contains(file, ?)"
	if d.offset {
		text += ` AND "offset" IS NOT NULL`
	}
	if number(t, db.DB, text, d.problem) == 0 {
		t.Errorf("no problem recorded for %s", d.problem)
	}
	const inclusive = "SELECT sum(inclusive) FROM function_metrics WHERE mode = 'user' AND function = ?"
	for _, f := range d.has {
		if number(t, db.DB, inclusive, f) == 0 {
			t.Errorf("nothing in %s", f)
		}
	}
	for _, f := range d.hasNot {
		if v := number(t, db.DB, inclusive, f); v != 0 {
			t.Errorf("%s has %d", f, v)
		}
	}
	if v := number(t, db.DB, inclusive, unknownFunction); d.allKnown && v != 0 {
		t.Errorf("<Unknown> has %d", v)
	}
	if n := number(t, db.DB, "SELECT count(*) FROM conservation"); n != 0 {
		t.Errorf("%d sums are broken", n)
	}
}

// An archived file that was swapped for another program must not name anything.
func TestSwappedArchive(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	if _, err := ingest(store, t.TempDir(), filepath.Join(recordings, "damaged", "d_archive_swapped.er")); err != nil {
		t.Fatal(err)
	}
	db, err := queries.Open(context.Background(), store)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	query(t, db.DB, func(r row) error {
		var name string
		err := r.Scan(&name)
		t.Errorf("named by another program's symbols: %s", name)
		return err
	}, `SELECT f.name FROM functions_wide f JOIN load_objects o USING (experiment_id, load_object_id)
		WHERE o.name = 'recur' AND f.linkage_name <> ''`)
}

// program builds the program once.
func program(t *testing.T) string {
	t.Helper()
	binary, err := buildOnce()
	if err != nil {
		t.Fatal(err)
	}
	return binary
}

// ingestArgs returns the program's arguments for the same ingest as by ingest.
func ingestArgs(store, cache string, more ...string) []string {
	return append([]string{"ingest", "--store", store, "--cache", cache, "--no-system-debug", "--debug-dir", scratch}, more...)
}

// runProgram runs the program and returns its exit status and standard error.
func runProgram(t *testing.T, binary string, args ...string) (code int, stderr string) {
	t.Helper()
	cmd := exec.Command(binary, args...)
	var errs strings.Builder
	cmd.Stderr = &errs
	err := cmd.Run()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), errs.String()
}
