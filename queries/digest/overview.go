package digest

import (
	"context"
	"fmt"
	"slices"

	"stackmill/queries"
	"stackmill/queries/rank"
)

// The types of an overview in JSON.
type (
	overviewJSON struct {
		Nights      []string       `json:"nights"` // the nights of all series, in order
		Since       string         `json:"since"`
		Experiments int            `json:"experiments"`
		Programs    []programJSON  `json:"programs"`
		Common      []commonJSON   `json:"common"`
		Together    []togetherJSON `json:"together"`
		Warnings    []string       `json:"warnings"`
	}
	programJSON struct {
		Series  string     `json:"series"`
		Program string     `json:"program"`
		Metric  string     `json:"metric"`
		Unit    string     `json:"unit"`
		State   rank.State `json:"state"` // sure or maybe; empty: as usual
		Few     bool       `json:"few"`   // too few nights for a verdict
		// Nights are the indexes of the nights in which the program ran, Values its values then, and
		// Runs its numbers of runs.
		Nights []int     `json:"nights"`
		Values []float64 `json:"values"`
		Runs   []int     `json:"runs"`
		// Usual is the level before the reported change of <Total>. Without one, it is the level of the
		// nights since the newest older change, except for the last night. Deviation is its standard
		// deviation, Last the level since the change or in the last night, and Low and High are the
		// interval of Ratio.
		Usual     float64     `json:"usual"`
		Deviation float64     `json:"deviation"`
		Last      float64     `json:"last"`
		Ratio     *float64    `json:"ratio"`
		Low       *float64    `json:"low"`
		High      *float64    `json:"high"`
		Noise     float64     `json:"noise"`
		Problems  []reason    `json:"problems"`
		Finding   findingJSON `json:"finding"`
	}
	reason struct {
		Reason      string `json:"reason"`
		Severity    string `json:"severity"`
		Experiments int64  `json:"experiments"` // number of experiments in the last night
	}
)

// Overview is the digest with all series, their values and problems, for JSON.
func Overview(ctx context.Context, db *queries.DB, r Request) (any, error) {
	r.Brief = true
	d, err := follow(ctx, db, r)
	if err != nil {
		return nil, err
	}
	problems, err := d.problems()
	if err != nil {
		return nil, err
	}
	units, err := d.units()
	if err != nil {
		return nil, err
	}
	whole := d.object()
	out := overviewJSON{
		Nights: append([]string{}, d.nights...), Since: d.SinceNight, Experiments: d.Experiments, Programs: []programJSON{},
		Common: whole.Common, Together: whole.Together, Warnings: whole.Warnings,
	}
	done := map[*Verdict]bool{}
	for i, f := range slices.Concat(d.Sure, d.Maybe) {
		p := f.Verdict.overview(units)
		p.Finding = append(whole.Sure, whole.Maybe...)[i]
		out.Programs, done[f.Verdict] = append(out.Programs, p), true
	}
	for _, v := range d.Verdicts {
		if !done[v] {
			out.Programs = append(out.Programs, v.overview(units))
		}
	}
	for i := range out.Programs {
		p := &out.Programs[i]
		p.Problems = append([]reason{}, problems[[2]string{p.Series, p.Metric}]...)
	}
	return out, nil
}

// overview describes a series.
func (v *Verdict) overview(units map[string]string) programJSON {
	p := programJSON{Series: v.Series.Name, Program: v.Program, Metric: v.Metric, Unit: units[v.Metric], State: v.State, Few: v.Short, Noise: v.Noise}
	if v.Short { // the values have not been computed yet
		v.Items[0].level(v.Series, nil)
	}
	total := v.Items[0].nights
	for i, n := range v.Nights {
		p.Nights, p.Values, p.Runs = append(p.Nights, n.At), append(p.Values, total[i]), append(p.Runs, n.Runs)
	}
	p.Last = total[len(total)-1]
	if v.Short {
		return p
	}
	test, from, last := &rank.Test{}, 0, len(total)-1
	if found := test.Changes(total); len(found) > 0 && last-found[len(found)-1].At >= rank.LeastBefore {
		from = found[len(found)-1].At
	}
	step := test.Compare(total[from:last], total[last:])
	if i := slices.IndexFunc(v.Changes, func(c Change) bool { return c.Key == 0 }); i >= 0 {
		step = v.Changes[i].Step
	}
	low, high := step.Interval(0.95)
	p.Usual, p.Deviation, p.Last = step.Before, step.Deviation, step.After
	p.Ratio, p.Low, p.High = known(ratio(step)), known(low), known(high)
	return p
}

// problems returns the reasons of errors and warnings in the last night of each series.
func (d *digest) problems() (map[[2]string][]reason, error) {
	of := map[[2]string][]reason{}
	if len(d.nights) == 0 {
		return of, nil
	}
	records, err := d.db.Records(d.ctx, d.placed+fmt.Sprintf(`SELECT p.line, p.metric, b.reason, b.severity, count(DISTINCT p.experiment_id) AS experiments
FROM placed p JOIN problems b USING (experiment_id) WHERE p.night = %s AND b.severity <> 'info' GROUP BY ALL ORDER BY b.severity, experiments DESC, b.reason`, queries.Quote(d.Last)))
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		key := [2]string{r.Text("line"), r.Text("metric")}
		of[key] = append(of[key], reason{r.Text("reason"), r.Text("severity"), r.Number("experiments")})
	}
	return of, nil
}

// units returns the units of the metrics.
func (d *digest) units() (map[string]string, error) {
	metrics, err := d.db.Metrics(d.ctx)
	if err != nil {
		return nil, err
	}
	units := map[string]string{}
	for _, m := range metrics {
		units[m.Name] = m.Unit
	}
	return units, nil
}
