package compare

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"stackmill/internal/lazyregexp"
	"stackmill/queries/rank"
)

// Difference is a difference between the sides that is not one of values: of machines, programs or
// options.
type Difference struct {
	What   string   `json:"what"`
	Base   []string `json:"base"` // distinct values, sorted
	Test   []string `json:"test"`
	Unfair bool     `json:"unfair"` // whether it, and not the code, may be the cause of differences
}

// surroundings are the columns of experiments that describe a run, with their names for people, in
// display order.
var surroundings = []struct {
	what, sql string
	unfair    bool
}{
	{"program", "target", false},
	{"host", "host", true},
	{"operating system", "os", true},
	{"architecture", "arch", true},
	{"CPUs", "cpus::VARCHAR", true},
	{"clock rate", "clock_mhz || ' MHz'", true},
	{"page size", "page_size::VARCHAR", true},
	{"recorded with", "concat_ws(' ', format, format_version, collector)", true},
	{"command", "command", true},
	{"status", "status", true},
}

// environment finds differences between the sides that are not differences of values.
func (c *comparison) environment() error {
	columns := make([]string, len(surroundings))
	for i, s := range surroundings {
		columns[i] = "COALESCE(" + s.sql + ", '')"
	}
	records, err := c.db.Records(c.ctx, "WITH "+c.runTable()+" SELECT n, ["+strings.Join(columns, ", ")+"] AS texts FROM experiments JOIN runs USING (experiment_id)")
	if err != nil {
		return err
	}
	for i, s := range surroundings {
		var values [2][]string
		for _, r := range records {
			text, _ := r["texts"].([]any)[i].(string)
			if s.what == "command" {
				text = options(text)
			}
			side := c.side(r.Number("n"))
			values[side] = append(values[side], text)
		}
		c.differ(s.what, values, s.unfair)
	}
	for _, more := range []func() error{c.events, c.periods, c.builds} {
		if err := more(); err != nil {
			return err
		}
	}
	return nil
}

// side returns 0 for the number of a run of the base, 1 for a run of the test.
func (c *comparison) side(run int64) int {
	if run < int64(len(c.Result.Base.Runs)) {
		return 0
	}
	return 1
}

// differ adds a condition and, if the sides have different sets of values, a difference. values has a
// value for each run.
func (c *comparison) differ(what string, values [2][]string, unfair bool) {
	d := newCondition(what, values, unfair)
	if d.known() {
		c.Conditions = append(c.Conditions, d)
	}
	if !d.Same {
		c.Environment = append(c.Environment, Difference{what, valuesOf(d.Base), valuesOf(d.Test), unfair})
	}
}

// output matches the option of recorders that names their output file.
var output = lazyregexp.New(`(^|\s)(-o|--output)(\s+|=)\S+`)

// options returns a command line without the name of the recording, which differs from run to run,
// and without the directories of programs.
func options(command string) string {
	words := strings.Fields(output().ReplaceAllString(command, "$1"))
	for i, w := range words {
		if strings.Contains(w, "/") && !strings.HasPrefix(w, "-") {
			words[i] = path.Base(w)
		}
	}
	return strings.Join(words, " ")
}

// events compares which events were recorded, because recording more events makes a run slower.
func (c *comparison) events() error {
	records, err := c.db.Records(c.ctx, "WITH "+c.runTable()+` SELECT n, array_to_string(list_sort(list(DISTINCT CASE WHEN kind IN ('perf', 'hwc') THEN metric ELSE kind END)), ', ') AS what
		FROM metrics JOIN runs USING (experiment_id) WHERE NOT ends_with(metric, '.samples') GROUP BY n`)
	if err != nil {
		return err
	}
	var values [2][]string
	for _, r := range records {
		side := c.side(r.Number("n"))
		values[side] = append(values[side], r.Text("what"))
	}
	c.differ("recorded events", values, true)
	return nil
}

// periods compares the sampling periods of the sides. It allows for the mean value of a sample
// varying a little between runs with the same period.
func (c *comparison) periods() error {
	var means [2][]float64
	for n, r := range c.runs {
		if r.weight > 0 {
			means[c.side(int64(n))] = append(means[c.side(int64(n))], r.weight)
		}
	}
	if means[0] == nil || means[1] == nil {
		return nil
	}
	b, t := rank.Median(slices.Sorted(slices.Values(means[0]))), rank.Median(slices.Sorted(slices.Values(means[1])))
	show := func(v float64, runs int) []string {
		return slices.Repeat([]string{fmt.Sprintf("%.3g %s", v, c.Unit)}, runs)
	}
	if math.Abs(t-b) <= 0.05*b {
		t = b
	}
	c.differ("value of a sample", [2][]string{show(b, len(means[0])), show(t, len(means[1]))}, true)
	return nil
}

// builds compares the builds of load objects that have values of the metric, and records the build
// of each run's program.
func (c *comparison) builds() error {
	records, err := c.db.Records(c.ctx, "WITH "+c.runTable()+`, used AS (SELECT DISTINCT experiment_id, load_object_id FROM object_values WHERE metric = ?)
		SELECT r.n, o.name, COALESCE(NULLIF(o.build_id, ''), printf('%x', o.load_object_id)) AS build
		FROM used u JOIN runs r USING (experiment_id) JOIN load_objects o ON o.experiment_id = u.experiment_id AND o.load_object_id = u.load_object_id
		WHERE o.kind <> 'artificial'`, c.Metric)
	if err != nil {
		return err
	}
	found := map[string]*[2][]string{}
	for _, r := range records {
		n, name := r.Number("n"), r.Text("name")
		if name == c.targets[n] {
			c.programs[n] = r.Text("build")
		}
		if found[name] == nil {
			found[name] = &[2][]string{}
		}
		build := r.Text("build") // its beginning distinguishes builds
		found[name][c.side(n)] = append(found[name][c.side(n)], build[:min(len(build), 12)])
	}
	for _, name := range slices.SortedFunc(maps.Keys(found), func(a, b string) int {
		return cmp.Or(-cmp.Compare(count([]bool{slices.Contains(c.targets, a)}), count([]bool{slices.Contains(c.targets, b)})), cmp.Compare(a, b))
	}) {
		if f := found[name]; f[0] != nil && f[1] != nil { // values in one side's load objects only may be chance
			c.differ("build of "+name, *f, name == "[kernel.kallsyms]")
		}
	}
	return nil
}

// Few lists some of the values, for people.
func Few(values []string) string {
	const few = 3
	if len(values) <= few {
		return strings.Join(values, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(values[:few], ", "), len(values)-few)
}
