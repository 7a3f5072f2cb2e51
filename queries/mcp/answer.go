//go:build cgo

package mcp

import (
	"database/sql"
	"errors"
	"math"

	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/result"
)

// answer is the answer of a tool: a table with as many rows as fit, and how much of the total the
// rows hold.
type answer struct {
	View         string      `json:"view,omitempty"`
	Mode         string      `json:"mode,omitempty"`
	Filter       []string    `json:"filter,omitempty"` // conditions on samples; totals cover only samples that meet them
	Hidden       []string    `json:"hidden,omitempty"`
	Coverage     []*coverage `json:"coverage,omitempty"`
	CoverageMore int         `json:"coverage_more,omitempty"` // number of entries left out of Coverage
	Warnings     []string    `json:"warnings,omitempty"`
	RowsTotal    int         `json:"rows_total"`
	RowsMore     bool        `json:"rows_more,omitempty"` // RowsTotal is too low: counting stopped at a limit
	RowsShown    int         `json:"rows_shown"`
	Columns      []string    `json:"columns,omitempty"`
	Rows         [][]any     `json:"rows,omitempty"`
	Note         string      `json:"note,omitempty"`

	shares []share // parallel to Rows; nil if the rows' values do not add up to the total
}

// coverage describes one metric of one recording: its total, and the percentages of the total that
// the rows show and that has no function or data object.
type coverage struct {
	Experiment   string   `json:"experiment"`
	Metric       string   `json:"metric"`
	Unit         string   `json:"unit"`
	Total        any      `json:"total"`
	Left         *float64 `json:"filter_leaves_percent,omitempty"` // Total in percent of the value without a filter
	Shown        *float64 `json:"shown_percent,omitempty"`         // nil if values of rows overlap
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

// share is a row's part of the total of a metric.
type share struct {
	of    [2]string
	value int64
}

// envelopeBytes is the size of a JSON-RPC response without the text of the answer.
const envelopeBytes = 160

// The limits on the other parts of an answer.
const (
	maxCoverage = 5
	maxReasons  = 5
	maxWarnings = 5
	maxName     = 200 // characters of a name or value
	maxRemark   = 400 // characters of a remark about experiments that are left out
)

// Counting of rows that are not shown stops at these limits.
const (
	maxCounted   = 1 << 20
	maxTextBytes = 64 << 20
)

// errCounted ends the reading of rows when a limit on counting is reached.
var errCounted = errors.New("enough rows were counted")

// fit returns the answer as JSON. It drops rows and other parts until the response has at most
// maxBytes bytes, but keeps a warning about experiments that are left out.
func (a *answer) fit(maxBytes int, leftOut []string) string {
	rows := a.Rows
	stay := min(len(leftOut), maxWarnings)
	a.Warnings = append(shortenedTo(maxRemark, leftOut[:stay]), a.Warnings...)
	if n := len(a.Coverage) - maxCoverage; n > 0 {
		a.Coverage, a.CoverageMore = a.Coverage[:maxCoverage], n
	}
	for _, texts := range []*[]string{&a.Warnings, &a.Filter, &a.Hidden} {
		*texts = (*texts)[:min(len(*texts), maxWarnings)]
	}
	for n := len(rows); ; {
		a.Rows, a.RowsShown = rows[:n], n
		a.showShares()
		text := terminal.MarshalJSON(a)
		size := len(terminal.MarshalJSON(string(text))) + envelopeBytes
		switch {
		case size <= maxBytes:
			return string(text)
		case n > 0:
			n = min(n-1, n*maxBytes/size)
		case len(a.Coverage) > 0:
			a.Coverage = a.Coverage[:len(a.Coverage)-1]
			a.CoverageMore++
		case len(a.Warnings) > stay:
			a.Warnings = a.Warnings[:len(a.Warnings)-1]
		case stay > 1:
			stay = 1
			a.Warnings = []string{queries.LeftOutPrefix + "more than fits here (stackmill check lists it)"}
		default:
			a.Columns, a.Filter, a.Hidden, a.Note = nil, nil, nil, "no row fits into the answer (ask for fewer columns, or start the server with a higher --max-bytes)"
		}
	}
}

// showShares sets the percentage of each total that the shown rows hold.
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

// percentOf returns part in percent of total, rounded to two decimals.
func percentOf(part, total int64) float64 {
	if total == 0 {
		return 0
	}
	return math.Round(1e4*float64(part)/float64(total)) / 100
}

// collector is a result.Printer that keeps the first rows for an answer, and counts the others.
type collector struct {
	*answer
	limit  int
	fields []result.Field
	keep   []int // indexes of the columns to show
	drop   func(result.Field) bool
	texts  int                // bytes of text in all rows so far
	each   func(values []any) // called for every row that is shown; may be nil
}

func (c *collector) Header(fields []result.Field) error {
	c.fields = fields
	for i, f := range fields {
		if c.drop == nil || !c.drop(f) {
			c.keep = append(c.keep, i)
			c.Columns = append(c.Columns, terminal.Shorten(f.Name, maxName))
		}
	}
	return nil
}

func (c *collector) Row(values []any) error {
	for _, v := range values {
		if text, ok := v.(string); ok {
			c.texts += len(text)
		}
	}
	if c.RowsTotal++; c.RowsTotal > c.limit {
		if c.RowsTotal == maxCounted || c.texts > maxTextBytes {
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

func (c *collector) print(rows *sql.Rows) error {
	if err := result.Print(c, rows); !errors.Is(err, errCounted) {
		return err
	}
	return nil
}

// brief shortens long texts and lists, and rounds numbers.
func brief(v any) any {
	switch v := v.(type) {
	case string:
		return terminal.Shorten(v, maxName)
	case []any, map[string]any:
		if text := string(terminal.MarshalJSON(v)); len(text) > maxName {
			return terminal.Shorten(text, maxName)
		}
	case float64:
		return math.Round(v*1e6) / 1e6
	}
	return v
}
