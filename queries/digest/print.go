package digest

import (
	"math"
	"slices"
	"strings"

	"stackmill/queries/compare"
	"stackmill/queries/rank"
	"stackmill/queries/result"
)

// The types of a digest in JSON. Unknown numbers are null.
type (
	digestJSON struct {
		Since       string         `json:"since"`
		First       string         `json:"first"`
		Last        string         `json:"last"`
		Older       int            `json:"older_nights"` // number of older nights, which are not read
		Order       string         `json:"order"`
		SeriesBy    []string       `json:"series_by"`
		Mode        string         `json:"mode"`
		Experiments int            `json:"experiments"`
		Sure        []findingJSON  `json:"sure"`
		Maybe       []findingJSON  `json:"maybe"`
		Common      []commonJSON   `json:"common"`
		Together    []togetherJSON `json:"together"`
		Quiet       int            `json:"quiet"`
		Short       int            `json:"too_few_nights"`
		Noise       float64        `json:"noise"` // median over the series
		MostNoise   float64        `json:"largest_noise"`
		FDR         float64        `json:"fdr"`
		Warnings    []string       `json:"warnings"`
	}
	findingJSON struct {
		Series   string       `json:"series"`
		Program  string       `json:"program"`
		Metric   string       `json:"metric"`
		Since    string       `json:"since"`     // the first night with the largest change
		LastGood string       `json:"last_good"` // the night before
		Noise    float64      `json:"noise"`
		Changes  []changeJSON `json:"changes"`
		*detailsJSON
	}
	detailsJSON struct {
		Differences []Difference         `json:"differences"`
		Environment []compare.Difference `json:"environment"`
		Carriers    []Carrier            `json:"carriers"`
		Between     []string             `json:"builds_between"`
		MoreNights  int                  `json:"more_nights"`
		MoreRuns    int                  `json:"more_runs"`
		Commands    []string             `json:"commands"`
	}
	changeJSON struct {
		Function   string     `json:"function"`
		LoadObject string     `json:"load_object"`
		Module     string     `json:"module"`
		Key        int64      `json:"function_key,string"`
		State      rank.State `json:"state"`
		Kind       string     `json:"kind"` // slower, faster, appeared or vanished
		Since      string     `json:"since"`
		LastGood   string     `json:"last_good"`
		Nights     int        `json:"nights"` // since the change, up to the next one
		Before     float64    `json:"before"`
		After      float64    `json:"after"`
		Ratio      *float64   `json:"ratio"`
		Low        *float64   `json:"low"`
		High       *float64   `json:"high"`
		Impact     float64    `json:"impact"`
		P          float64    `json:"p"`
		Rank       float64    `json:"p_ranks"`
		Q          float64    `json:"q"`
	}
	commonJSON struct {
		Host   string     `json:"host"`
		Series int        `json:"series"`
		Since  string     `json:"since"`
		State  rank.State `json:"state"`
		Before float64    `json:"before"`
		After  float64    `json:"after"`
	}
	togetherJSON struct {
		Since       string       `json:"since"`
		Series      int          `json:"series"`
		Perhaps     int          `json:"perhaps"` // how many more series may have changed
		Of          int          `json:"of"`
		Ratio       float64      `json:"ratio"` // median over the series
		Programs    []string     `json:"programs"`
		Differences []Difference `json:"differences"`
	}
)

// Object returns the digest for JSON.
func (r *Result) Object() any { return r.object() }

func (r *Result) object() digestJSON {
	out := digestJSON{
		Since: r.SinceNight, First: r.First, Last: r.Last, Older: r.Older, Order: r.Order, SeriesBy: r.Request.Series, Mode: r.Mode, Experiments: r.Experiments,
		Sure: findings(r.Sure), Maybe: findings(r.Maybe), Common: []commonJSON{}, Together: []togetherJSON{},
		Quiet: r.Quiet, Short: r.Short, Noise: r.Noise[0], MostNoise: r.Noise[1], FDR: r.FDR, Warnings: append([]string{}, r.Warnings...),
	}
	for _, c := range r.Common {
		out.Common = append(out.Common, commonJSON{c.Host, c.Series, c.From.Name, c.State, c.Before, c.After})
	}
	for _, t := range r.Together {
		programs := []string{}
		for _, f := range t.Most {
			programs = append(programs, f.Program)
		}
		out.Together = append(out.Together, togetherJSON{t.Night.Name, t.Series, t.Perhaps, t.Of, t.Middle, programs, append([]Difference{}, t.Differences...)})
	}
	return out
}

func findings(list []*Finding) []findingJSON {
	out := []findingJSON{}
	for _, f := range list {
		j := findingJSON{Series: f.Series.Name, Program: f.Program, Metric: f.Metric, Noise: f.Noise}
		for _, c := range f.Changes {
			j.Changes = append(j.Changes, changeJSON{
				c.Name, c.Object, c.Module, c.Key, c.State, c.Kind(), f.Nights[c.From].Name, f.Nights[c.From-1].Name, c.Newest,
				c.Before, c.After, known(c.Ratio), known(c.Low), known(c.High), c.Impact, c.P, c.Rank, c.Q,
			})
		}
		j.Since, j.LastGood = j.Changes[0].Since, j.Changes[0].LastGood
		if d := f.Details; d != nil {
			j.detailsJSON = &detailsJSON{append([]Difference{}, d.Differences...), append([]compare.Difference{}, d.Environment...), append([]Carrier{}, d.Carriers...),
				append([]string{}, d.Between...), d.MoreNights, d.MoreRuns, append([]string{}, d.Commands...)}
		}
		out = append(out, j)
	}
	return out
}

// known returns a pointer to a number, nil if it is not finite.
func known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// Kind returns the kind of a change, with the words that comparisons use for verdicts.
func (c *Change) Kind() string {
	switch {
	case c.Before == 0:
		return compare.Appeared
	case c.After == 0:
		return compare.Vanished
	case c.After > c.Before:
		return compare.Slower
	}
	return compare.Faster
}

// Print prints the changes as a table: one row for each function of a series that changed, the sure
// ones first.
func (r *Result) Print(p result.Printer) error {
	var fields []result.Field
	for _, name := range []string{"series", "program", "metric", "state", "kind", "function", "load_object", "since", "last_good"} {
		fields = append(fields, result.Field{Name: name, Kind: "VARCHAR"})
	}
	fields = append(fields, result.Field{Name: "nights", Kind: "BIGINT", Numeric: true})
	for _, name := range []string{"before", "after", "ratio", "low", "high", "impact", "noise", "q"} {
		fields = append(fields, result.Field{Name: name, Kind: "DOUBLE", Numeric: true})
	}
	fields = append(fields, result.Field{Name: "differences", Kind: "VARCHAR"}, result.Field{Name: "next", Kind: "VARCHAR"})
	if err := p.Header(fields); err != nil {
		return err
	}
	for _, f := range slices.Concat(r.Sure, r.Maybe) {
		for i := range f.Changes {
			if err := p.Row(f.row(&f.Changes[i])); err != nil {
				return err
			}
		}
	}
	return p.Close()
}

// row returns the cells of a change, in the order of the fields of Print.
func (f *Finding) row(c *Change) []any {
	cells := []any{
		f.Series.Name, f.Program, f.Metric, string(c.State), c.Kind(), c.Name, c.Object, f.Nights[c.From].Name, f.Nights[c.From-1].Name, int64(c.Newest),
		c.Before, c.After,
	}
	for _, v := range []float64{c.Ratio, c.Low, c.High, c.Impact, f.Noise, c.Q} {
		if known(v) == nil {
			cells = append(cells, nil)
		} else {
			cells = append(cells, v)
		}
	}
	if f.Details == nil {
		return append(cells, nil, nil)
	}
	var differences []string
	for _, d := range f.Differences {
		differences = append(differences, d.What+": "+compare.Few(d.Before)+" -> "+compare.Few(d.After))
	}
	var next any
	if f.Commands != nil {
		next = f.Commands[0]
	}
	return append(cells, strings.Join(differences, "; "), next)
}
