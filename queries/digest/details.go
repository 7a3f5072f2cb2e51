package digest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/compare"
	"stackmill/queries/rank"
)

// Details describe where a change is, and what may explain it.
type Details struct {
	LastGood, FirstBad Night
	Differences        []Difference // between these two nights: builds and labels
	Environment        []compare.Difference
	Carriers           []Carrier // lines, paths and data objects that carry the change; the largest first
	Between            []string  // builds between the nights, in the order in which to try them
	MoreNights         int       // how many more nights like the newest would make a verdict sure
	MoreRuns           int       // how many runs these nights have
	Commands           []string  // what to run next
}

// Difference is a property that differs between the last good and the first bad night.
type Difference struct {
	What   string   `json:"what"`
	Before []string `json:"before"`
	After  []string `json:"after"`
}

// Carrier is a line, path or data object whose value changed.
type Carrier struct {
	By      string  `json:"by"` // line, path or data-object
	Name    string  `json:"name"`
	Change  float64 `json:"change"` // difference of the medians, in relation to <Total> before, or after if it was 0
	Verdict string  `json:"verdict"`
}

// Limits of the details.
const (
	mostCompared = 20 // runs of a side that are compared
	mostCarriers = 3  // carriers of each kind
	// mostMore is the largest number of further nights that is computed.
	mostMore = 30
	// detailed is the number of findings that get lines and paths; each costs about 0.1 s.
	detailed = 10
)

// explain adds details to the findings that are reported in full.
func (d *digest) explain() error {
	told := slices.Concat(d.Sure, d.Maybe)
	if d.Limit > 0 {
		told = told[:min(d.Limit, len(told))]
	}
	all := told
	for _, t := range d.Together {
		all = append(all, t.Most[0])
	}
	if len(all) == 0 {
		return nil
	}
	runs, err := d.runsOf(all)
	if err != nil {
		return err
	}
	for i := range d.Together {
		t := &d.Together[i]
		v := t.Most[0].Verdict
		from := slices.IndexFunc(v.Nights, func(n Night) bool { return n.At == t.Night.At })
		if t.Differences, err = d.differences(v, from, runs[v.Series]); err != nil {
			return err
		}
	}
	for i, f := range told {
		if err := d.explainOne(f, runs[f.Series], i < detailed && !d.Brief); err != nil {
			return err
		}
	}
	return nil
}

// nightRun is an experiment of a series.
type nightRun struct {
	id    string
	night int // index of the series' night
}

// runsOf returns the experiments of the series of findings, by night.
func (d *digest) runsOf(told []*Finding) (map[*Series][]nightRun, error) {
	var pairs []string
	for _, f := range told {
		pairs = append(pairs, "("+queries.Quote(f.Series.Name, f.Metric)+")")
	}
	records, err := d.db.Records(d.ctx, d.placed+"SELECT experiment_id, line, metric, night FROM placed WHERE (line, metric) IN ("+strings.Join(pairs, ", ")+") ORDER BY night, experiment_id")
	if err != nil {
		return nil, err
	}
	runs := map[*Series][]nightRun{}
	for _, r := range records {
		s := d.of[[2]string{r.Text("line"), r.Text("metric")}]
		if n := slices.IndexFunc(s.Nights, func(n Night) bool { return n.Name == r.Text("night") }); n >= 0 {
			runs[s] = append(runs[s], nightRun{r.Text("experiment_id"), n})
		}
	}
	for _, list := range runs {
		slices.SortStableFunc(list, func(a, b nightRun) int { return a.night - b.night })
	}
	return runs, nil
}

// explainOne adds the details of one finding.
func (d *digest) explainOne(f *Finding, runs []nightRun, whole bool) error {
	c := &f.Changes[0]
	f.Details = &Details{LastGood: f.Nights[c.From-1], FirstBad: f.Nights[c.From]}
	if c.State == rank.Maybe {
		f.MoreNights = max(1, c.More(chance/float64(c.tests), mostMore)) // 0: the other series decide
		f.MoreRuns = f.MoreNights * f.Nights[len(f.Nights)-1].Runs
	}
	var before, after []string
	for _, r := range runs {
		if r.night < c.From {
			before = append(before, r.id)
		} else if r.night < c.From+c.Newest {
			after = append(after, r.id)
		}
	}
	before, after = before[max(0, len(before)-mostCompared):], after[:min(mostCompared, len(after))]
	var err error
	if f.Differences, err = d.differences(f.Verdict, c.From, runs); err != nil {
		return err
	}
	if err := d.between(f); err != nil {
		return err
	}
	if err := d.commands(f, runs); err != nil {
		return err
	}
	if !whole || d.db.IsFiltered() {
		return nil
	}
	db, err := d.db.Subset(d.ctx, slices.Concat(before, after)...)
	if err != nil {
		return err
	}
	defer db.Close()
	for _, by := range []string{"line", "path", "data-object"} {
		if err := d.carriers(f, db, by, before, after); err != nil {
			return err
		}
	}
	return nil
}

// carriers compares the runs before and after a change, and adds the lines, paths or data objects
// that changed in its direction.
func (d *digest) carriers(f *Finding, db *queries.DB, by string, before, after []string) error {
	if by == "data-object" {
		some, err := db.Texts(d.ctx, "SELECT metric FROM metrics WHERE data_objects AND metric = ? LIMIT 1", f.Metric)
		if err != nil || some == nil {
			return err
		}
	}
	r := compare.Defaults()
	r.Base, r.Test, r.By, r.Metric, r.Mode = before, after, by, f.Metric, d.Mode
	result, err := compare.Run(d.ctx, db, r)
	if err != nil {
		return fmt.Errorf("%s of %s: %w", by, f.Program, err)
	}
	if f.Environment == nil {
		f.Environment = slices.DeleteFunc(result.Environment, func(e compare.Difference) bool { return strings.HasPrefix(e.What, "build of "+f.Program) })
	}
	n, total := 0, result.Rows[0].Base
	if total == 0 {
		total = result.Rows[0].Test
	}
	labels := compare.Labels(by, result.Rows)
	for i, row := range result.Rows[1:] {
		up := f.Changes[0].After > f.Changes[0].Before
		unnamed := strings.HasPrefix(row.Names[0], "(") // no line numbers, no text
		if !row.Changed() || (row.Difference > 0) != up || unnamed || n == mostCarriers {
			continue
		}
		n++
		f.Carriers = append(f.Carriers, Carrier{By: by, Name: cmp.Or(labels[i+1], carrierName(by, row.Names)), Change: row.Difference / total, Verdict: row.Verdict})
	}
	return nil
}

func carrierName(by string, names []string) string {
	if by == "line" {
		return names[0] + ":" + names[1]
	}
	return strings.TrimSpace(names[0])
}

// differences returns the builds, labels and machines that differ between a night of a series and
// the night before.
func (d *digest) differences(v *Verdict, from int, runs []nightRun) ([]Difference, error) {
	var ids [2][]string
	for _, r := range runs {
		switch r.night {
		case from - 1:
			ids[0] = append(ids[0], r.id)
		case from:
			ids[1] = append(ids[1], r.id)
		}
	}
	all := queries.Quote(slices.Concat(ids[0], ids[1])...)
	records, err := d.db.Records(d.ctx, `SELECT experiment_id, 'label ' || label AS what, value FROM experiment_labels WHERE experiment_id IN (`+all+`)
UNION ALL SELECT experiment_id, 'build of ' || e.target, left(COALESCE(NULLIF(o.build_id, ''), printf('%x', o.load_object_id)), 12) FROM load_objects o JOIN experiments e USING (experiment_id)
WHERE experiment_id IN (`+all+`) AND o.name = e.target AND o.kind <> 'artificial'
UNION ALL SELECT experiment_id, 'host', host FROM experiments WHERE experiment_id IN (`+all+`) AND host <> ''
UNION ALL SELECT experiment_id, 'operating system', os FROM experiments WHERE experiment_id IN (`+all+`) AND os <> ''`)
	if err != nil {
		return nil, err
	}
	var list []Difference
	found := map[string]*[2][]string{}
	for _, r := range records {
		side, what := 0, r.Text("what")
		if slices.Contains(ids[1], r.Text("experiment_id")) {
			side = 1
		}
		if found[what] == nil {
			found[what] = &[2][]string{}
		}
		found[what][side] = append(found[what][side], r.Text("value"))
	}
	for _, what := range sortedKeys(found) {
		values := found[what]
		for side := range values {
			slices.Sort(values[side])
			values[side] = slices.Compact(values[side])
		}
		if isNight(values, v.Nights[from-1], v.Nights[from]) || slices.Equal(values[0], values[1]) {
			continue
		}
		list = append(list, Difference{what, append([]string{}, values[0]...), append([]string{}, values[1]...)})
	}
	return list, nil
}

// isNight reports whether a label names the nights themselves.
func isNight(values *[2][]string, before, after Night) bool {
	return slices.Equal(values[0], []string{before.Name}) && slices.Equal(values[1], []string{after.Name})
}

// buildLabels are the labels that name builds.
var buildLabels = []string{"commit", "build", "revision", "version"}

// between finds builds of other series in the nights in which the finding's series has no runs.
func (d *digest) between(f *Finding) error {
	if f.FirstBad.At-f.LastGood.At < 2 {
		return nil
	}
	nights := d.nights[f.LastGood.At+1 : f.FirstBad.At]
	records, err := d.db.Records(d.ctx, d.placed+`SELECT DISTINCT night, l.label, l.value FROM placed p JOIN experiment_labels l USING (experiment_id)
WHERE l.label IN (`+queries.Quote(buildLabels...)+`) AND night IN (`+queries.Quote(nights...)+`) ORDER BY ALL`)
	if err != nil {
		return err
	}
	var list []string
	for _, r := range records {
		if name := r.Text("label") + "=" + r.Text("value"); !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	f.Between = bisected(list)
	return nil
}

// bisected returns items in the order in which a binary search may need them: the middle one, then
// the middles of the halves, and so on.
func bisected(list []string) (order []string) {
	parts := [][]string{list}
	for len(parts) > 0 {
		part := parts[0]
		parts = parts[1:]
		if len(part) == 0 {
			continue
		}
		middle := len(part) / 2
		order = append(order, part[middle])
		parts = append(parts, part[:middle], part[middle+1:])
	}
	return order
}

// commands adds the commands that a user may run next. They select experiments by night and program,
// or by identifier if night and program would also select other experiments: a series may have several
// programs, and a program several series.
func (d *digest) commands(f *Finding, runs []nightRun) error {
	if d.db.IsFiltered() { // a request does not have the filter's options
		return nil
	}
	program, condition := "", ""
	if f.Program != "" {
		program, condition = ",target="+f.Program, " AND program = "+queries.Quote(f.Program)
	}
	if len(d.Selected) == 1 {
		program += "," + d.Selected[0]
	}
	selected, err := d.db.Records(d.ctx, d.placed+"SELECT experiment_id, night FROM placed WHERE night IN ("+queries.Quote(d.nights...)+")"+condition)
	if err != nil {
		return err
	}
	c := &f.Changes[0]
	metric := ""
	if d.Metric != "" {
		metric = " --metric " + terminal.ShellQuote(d.Metric)
	}
	text := "stackmill compare" + metric
	from, to := max(0, c.From-comparedNights), min(c.From+comparedNights, c.From+c.Newest)
	side := func(night int) string {
		if night < c.From {
			return " --base "
		}
		return " --test "
	}
	several := len(d.Selected) > 1 // each selects experiments: no selector is both
	if !several && sameRuns(selected, runs, f.Nights, from, to) {
		for n := from; n < to; n++ {
			text += side(n) + terminal.ShellQuote(strings.TrimPrefix(d.Order, labelPrefix)+"="+f.Nights[n].Name+program)
		}
	} else {
		for _, r := range runs {
			if r.night >= from && r.night < to {
				text += side(r.night) + r.id
			}
		}
	}
	f.Commands = append(f.Commands, text)
	i := slices.IndexFunc(f.Changes, func(c Change) bool { return c.Key != 0 })
	if i < 0 || several || !sameRuns(selected, runs, f.Nights, 0, len(f.Nights)) {
		return nil
	}
	text = "stackmill trend --function " + terminal.ShellQuote(f.Changes[i].Name) + metric
	if program != "" {
		text += " " + terminal.ShellQuote(program[1:])
	}
	f.Commands = append(f.Commands, text)
	return nil
}

// sameRuns reports whether the experiments that are selected in a range of a series' nights are the
// series' runs in these nights.
func sameRuns(selected []queries.Record, runs []nightRun, nights []Night, from, to int) bool {
	of := map[string]bool{}
	for _, n := range nights[from:to] {
		of[n.Name] = true
	}
	var a, b []string
	for _, r := range selected {
		if of[r.Text("night")] {
			a = append(a, r.Text("experiment_id"))
		}
	}
	for _, r := range runs {
		if r.night >= from && r.night < to {
			b = append(b, r.id)
		}
	}
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// comparedNights is the number of nights on each side of the suggested comparison.
const comparedNights = 3
