//go:build cgo

package main

import (
	"database/sql"
	"errors"
	"math"

	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/result"
)

// answer is what a tool found out: a table, of which as many rows are shown as fit, and
// how much of the whole they are.
type answer struct {
	View         string      `json:"view,omitempty"`
	Mode         string      `json:"mode,omitempty"`
	Filter       []string    `json:"filter,omitempty"` // conditions of the samples: totals are of those
	Hidden       []string    `json:"hidden,omitempty"`
	Coverage     []*coverage `json:"coverage,omitempty"`
	CoverageMore int         `json:"coverage_more,omitempty"` // recordings and metrics that coverage does not list
	Warnings     []string    `json:"warnings,omitempty"`
	RowsTotal    int         `json:"rows_total"`
	RowsMore     bool        `json:"rows_more,omitempty"` // there are more than rows_total: not all were counted
	RowsShown    int         `json:"rows_shown"`
	Columns      []string    `json:"columns,omitempty"`
	Rows         [][]any     `json:"rows,omitempty"`
	Note         string      `json:"note,omitempty"`

	shares []share // of the rows, if they add up to the total
}

// coverage says of a metric of a recording how much there is, how much of it the rows
// show, and how much of it nobody can name.
type coverage struct {
	Experiment   string   `json:"experiment"`
	Metric       string   `json:"metric"`
	Unit         string   `json:"unit"`
	Total        any      `json:"total"`
	Left         *float64 `json:"filter_leaves_percent,omitempty"` // the total's part of that of all samples
	Shown        *float64 `json:"shown_percent,omitempty"`         // nil: the rows overlap
	Unattributed float64  `json:"unattributed_percent"`
	Reasons      []reason `json:"unattributed,omitempty"`
	ReasonsMore  int      `json:"unattributed_more,omitempty"`

	total int64
	key   [2]string // experiment id and metric
}

type reason struct {
	Reason     string  `json:"reason"`
	LoadObject string  `json:"load_object,omitempty"`
	Percent    float64 `json:"percent"`
}

// share is a row's part of a total.
type share struct {
	of    [2]string
	value int64
}

// envelope is how many bytes a response has around its text.
const envelope = 160

// The most that an answer lists besides its rows.
const (
	mostCoverage = 5
	mostReasons  = 5
	mostWarnings = 5
	longestName  = 200
	longestNote  = 400 // of what is left out
)

// Of the rows that are not shown, no more are counted.
const (
	mostCounted = 1 << 20
	mostSeen    = 64 << 20 // bytes of texts
)

// errCounted ends reading a result of which enough was seen.
var errCounted = errors.New("enough rows were counted")

// fit returns the answer as a text of JSON whose response does not have more bytes. What is left
// out of the store is among its warnings, however few bytes there are.
func (a *answer) fit(most int, leftOut []string) string {
	rows := a.Rows
	stay := min(len(leftOut), mostWarnings)
	a.Warnings = append(shortenedTo(longestNote, leftOut[:stay]), a.Warnings...)
	if n := len(a.Coverage) - mostCoverage; n > 0 {
		a.Coverage, a.CoverageMore = a.Coverage[:mostCoverage], n
	}
	for _, texts := range []*[]string{&a.Warnings, &a.Filter, &a.Hidden} {
		*texts = (*texts)[:min(len(*texts), mostWarnings)]
	}
	for n := len(rows); ; {
		a.Rows, a.RowsShown = rows[:n], n
		a.showShares()
		text := result.Marshal(a)
		size := len(result.Marshal(string(text))) + envelope
		switch {
		case size <= most:
			return string(text)
		case n > 0:
			n = min(n-1, n*most/size)
		case len(a.Coverage) > 0:
			a.Coverage = a.Coverage[:len(a.Coverage)-1]
			a.CoverageMore++
		case len(a.Warnings) > stay:
			a.Warnings = a.Warnings[:len(a.Warnings)-1]
		case stay > 1:
			stay = 1
			a.Warnings = []string{queries.LeftOutPrefix + "more than fits here (stackmill check lists it)"}
		default:
			a.Columns, a.Filter, a.Hidden, a.Note = nil, nil, nil, "nothing fits (ask for fewer columns, or give --max-bytes)"
		}
	}
}

// showShares works out how much of each total the shown rows are.
func (a *answer) showShares() {
	if a.shares == nil {
		return
	}
	sums := map[[2]string]int64{}
	for _, s := range a.shares[:a.RowsShown] {
		sums[s.of] += s.value
	}
	for _, c := range a.Coverage {
		p := percentOf(sums[c.key], c.total)
		c.Shown = &p
	}
}

// percentOf is a part of a total with two decimals.
func percentOf(part, total int64) float64 {
	if total == 0 {
		return 0
	}
	return math.Round(1e4*float64(part)/float64(total)) / 100
}

// collector takes the first rows of a result for an answer, and counts all.
type collector struct {
	*answer
	most   int
	fields []result.Field
	keep   []int // the columns that are shown
	drop   func(result.Field) bool
	seen   int // bytes of texts
	// each, if not nil, is given every row that is shown.
	each func(values []any)
}

func (c *collector) Header(fields []result.Field) error {
	c.fields = fields
	for i, f := range fields {
		if c.drop == nil || !c.drop(f) {
			c.keep = append(c.keep, i)
			c.Columns = append(c.Columns, terminal.Shorten(f.Name, longestName))
		}
	}
	return nil
}

func (c *collector) Row(values []any) error {
	for _, v := range values {
		if text, ok := v.(string); ok {
			c.seen += len(text)
		}
	}
	if c.RowsTotal++; c.RowsTotal > c.most {
		if c.RowsTotal == mostCounted || c.seen > mostSeen {
			c.RowsMore = true
			return errCounted
		}
		return nil
	}
	if c.each != nil {
		c.each(values)
	}
	shown := make([]any, len(c.keep))
	for k, i := range c.keep {
		shown[k] = brief(result.Plain(result.Exact(values[i], c.fields[i].Name), c.fields[i].Kind))
	}
	c.Rows = append(c.Rows, shown)
	return nil
}

func (c *collector) Close() error { return nil }

// print takes a result.
func (c *collector) print(rows *sql.Rows) error {
	if err := result.Print(c, rows); !errors.Is(err, errCounted) {
		return err
	}
	return nil
}

// brief shortens long texts, also those in lists.
func brief(v any) any {
	switch v := v.(type) {
	case string:
		return terminal.Shorten(v, longestName)
	case []any, map[string]any:
		if text := string(result.Marshal(v)); len(text) > longestName {
			return terminal.Shorten(text, longestName)
		}
	case float64:
		return math.Round(v*1e6) / 1e6
	}
	return v
}
