//go:build cgo

package text

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"stackmill/internal/terminal"
	"stackmill/queries/compare"
	"stackmill/queries/rank"
)

// GateOptions control how Gate prints a judgement.
type GateOptions struct {
	Limit    int      // maximum number of printed rows that passed; 0: all
	Markdown bool     // as Markdown instead of for a terminal
	Accepted int      // number of runs that were labeled as accepted
	LeftOut  []string // remarks about data of the store that is left out
}

// Gate prints the outcome of a gate: the largest change, the differences between the sides, each check,
// and the smallest change that the gate would have found.
func Gate(out *terminal.Output, j *compare.Judgement, o GateOptions) error {
	headline := j.Headline()
	if o.Markdown {
		headline = "**" + terminal.Markdown(headline) + "**"
	}
	if err := out.Printf("%s\n\n", headline); err != nil {
		return err
	}
	if j.First {
		w := out.Page()
		printAccepted(w, o)
		w.Printf("%s: 0 checks, 0 violated, 0 undecided\n", j.Outcome)
		return w.Flush()
	}
	if o.Markdown {
		if err := gateRemarks(out, j); err != nil {
			return err
		}
	} else if err := comparisonCaption(out, "Gate", j.Result); err != nil {
		return err
	}
	fields, cells, more := gateCells(j, o.Limit)
	if len(cells) > 0 {
		if err := out.Table(fields, cells, o.Markdown); err != nil {
			return err
		}
	}
	w, end := out.Page(), "\n"
	escape := func(text string) string { return text }
	if o.Markdown { // each line is a paragraph
		w.Printf("\n")
		end, escape = "\n\n", terminal.Markdown
	}
	if more > 0 {
		w.Printf("%s passed (--limit 0 prints all)"+end, Plural(more, "more check"))
	}
	if !o.Markdown {
		w.Printf("\n")
	}
	if text := detectableText(j); text != "" {
		w.Printf("%s"+end, escape(text))
	}
	if text := j.Needed(); text != "" && j.Outcome != compare.Undecided { // then the first line already has the text
		w.Printf("To judge all rows, the gate needs %s."+end, escape(text))
	}
	printAccepted(w, o)
	counts := map[string]int{}
	for _, c := range j.Checks {
		counts[c.Outcome]++
	}
	w.Printf("%s: %s, %d violated, %d undecided\n", j.Outcome, Plural(len(j.Checks), "check"), counts[compare.Violated], counts[compare.Undecided])
	return w.Flush()
}

// printAccepted prints how many runs were labeled as accepted, if any were.
func printAccepted(w *terminal.Page, o GateOptions) {
	if o.Accepted > 0 {
		w.Printf("labeled %s=%s: %s\n", compare.AcceptedKey, compare.AcceptedValue, Plural(o.Accepted, "run"))
	}
}

// gateRemarks prints the runs that are compared, and why the comparison may be unfair, as a list in
// Markdown.
func gateRemarks(out *terminal.Output, j *compare.Judgement) error {
	w := out.Page()
	w.Printf("%s", terminal.Markdown(fmt.Sprintf("Metric %s, %s mode, %s against %s", j.Metric, j.Mode, sideText(j.Base), sideText(j.Test))))
	w.Printf("\n\n")
	for _, warning := range append(Unfair(j.Result), j.Warnings...) {
		w.Printf("* %s\n", terminal.Markdown(warning))
	}
	if len(Unfair(j.Result))+len(j.Warnings) > 0 {
		w.Printf("\n")
	}
	return w.Flush()
}

func sideText(s compare.Side) string {
	return fmt.Sprintf("%s (%s)", strings.Join(s.Selectors, " or "), Plural(len(s.Runs), "run"))
}

// gateCells returns the table of checks: violated ones first, then undecided ones, then rules in SQL
// that passed, then at most limit rows that passed. more is the number of further rows that passed.
func gateCells(j *compare.Judgement, limit int) (fields []terminal.Field, cells [][]string, more int) {
	fields = []terminal.Field{{Name: "Outcome"}, {Name: "Change", Numeric: true}, {Name: fmt.Sprintf("%g %% interval", 100*j.Level), Numeric: true, Drop: 1},
		{Name: "Detectable", Numeric: true, Drop: 2}, {Name: "Row", Short: true, Path: true}, {Name: "Rule", Short: true}, {Name: "What"}}
	place := func(c compare.Check) int {
		switch {
		case c.Outcome == compare.Violated:
			return 0
		case c.Outcome == compare.Undecided:
			return 1
		case c.Row == "":
			return 2
		}
		return 3
	}
	checks, shown := slices.Clone(j.Checks), 0
	slices.SortStableFunc(checks, func(a, b compare.Check) int { return cmp.Compare(place(a), place(b)) })
	for _, c := range checks {
		if place(c) == 3 {
			if shown++; limit > 0 && shown > limit {
				more = len(checks) - len(cells)
				break
			}
		}
		what := c.Message
		if c.Low != nil && c.Outcome != compare.Undecided { // the columns have the bounds
			what = ""
		}
		cells = append(cells, []string{c.Outcome, changeOf(c.Ratio), intervalOf(c.Low, c.High), changeOf(c.Detectable), c.Row, c.Rule, what})
	}
	fields, cells = withoutEmpty(fields, cells)
	return fields, cells, more
}

// withoutEmpty leaves out the columns that are empty in all rows.
func withoutEmpty(fields []terminal.Field, cells [][]string) ([]terminal.Field, [][]string) {
	for k := len(fields) - 1; k >= 0; k-- {
		if slices.ContainsFunc(cells, func(row []string) bool { return row[k] != "" }) {
			continue
		}
		fields = slices.Delete(fields, k, k+1)
		for i := range cells {
			cells[i] = slices.Delete(cells[i], k, k+1)
		}
	}
	return fields, cells
}

func changeOf(ratio *float64) string {
	if ratio == nil {
		return ""
	}
	return percentChange(*ratio)
}

func intervalOf(low, high *float64) string {
	if low == nil {
		return ""
	}
	return percentChange(*low) + " .. " + changeOf(high)
}

// detectableText returns a text with the smallest increases that the gate would have found, in <Total>
// and in the largest row; "" if they are unknown.
func detectableText(j *compare.Judgement) string {
	var sizes []string
	largest := -1
	for i := range j.Rows {
		if r := &j.Rows[i]; i > 0 && r.Judged && !math.IsNaN(j.Detectable(r)) && (largest < 0 || r.Base > j.Rows[largest].Base) {
			largest = i
		}
	}
	for _, i := range []int{0, largest} {
		if i < 0 || i >= len(j.Rows) || i == 0 && largest == 0 {
			continue
		}
		if d := j.Detectable(&j.Rows[i]); !math.IsNaN(d) {
			sizes = append(sizes, fmt.Sprintf("of %s by less than %.1f %%", j.RowName(&j.Rows[i]), 100*(d-1)))
		}
	}
	if sizes == nil {
		return ""
	}
	missed := "go unseen"
	if math.IsNaN(j.Limit) {
		missed = "not be told from noise"
	}
	return fmt.Sprintf("With %s, an increase %s may %s (larger ones are found in at least %.0f of 100 cases).", runsText(j.Result), strings.Join(sizes, ", or "), missed, 100*rank.Power)
}

// runsText returns a text with the number of compared runs.
func runsText(r *compare.Result) string {
	if r.Design.Paired {
		return Plural(r.Design.Blocks, "pair") + " of runs"
	}
	return fmt.Sprintf("%d against %s", len(r.Base.Runs), Plural(len(r.Test.Runs), "run"))
}

// GateJSON prints a judgement as a JSON object.
func GateJSON(out *terminal.Output, j *compare.Judgement, o GateOptions) error {
	comparison, err := j.Object(j.Rows)
	if err != nil {
		return err
	}
	answer := struct {
		Outcome    string            `json:"outcome"`
		Headline   string            `json:"headline"`
		Largest    *largestChange    `json:"largest,omitempty"`
		Power      float64           `json:"power"` // of the detectable increases of checks
		Needed     string            `json:"needed,omitempty"`
		Shortfall  compare.Shortfall `json:"shortfall"`
		Checks     []compare.Check   `json:"checks"`
		LeftOut    []string          `json:"left_out,omitempty"`
		Accepted   int               `json:"accepted"` // runs that were labeled as accepted
		Comparison any               `json:"comparison"`
	}{Accepted: o.Accepted, Outcome: j.Outcome, Headline: j.Headline(), Power: rank.Power, Needed: j.Needed(), Shortfall: j.Shortfall(),
		Checks: append([]compare.Check{}, j.Checks...), LeftOut: o.LeftOut, Comparison: comparison}
	if r := j.Largest(); r != nil {
		answer.Largest = &largestChange{j.RowName(r), compare.Known(r.Ratio), compare.Known(r.Low), compare.Known(r.High)}
	}
	return terminal.PrintJSON(out.Stdout, answer, true)
}

// largestChange is a row's change in JSON.
type largestChange struct {
	Row   string   `json:"row"`
	Ratio *float64 `json:"ratio"`
	Low   *float64 `json:"low"`
	High  *float64 `json:"high"`
}

// The elements of JUnit's report that CI systems read.
type (
	junitSuite struct {
		XMLName  xml.Name    `xml:"testsuite"`
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Cases    []junitCase `xml:"testcase"`
		Output   string      `xml:"system-out,omitempty"`
	}
	junitCase struct {
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Failure *junitMessage `xml:"failure"`
		Error   *junitMessage `xml:"error"`
	}
	junitMessage struct {
		Text string `xml:"message,attr"`
	}
)

// JUnit writes a test case for each check: violations are failures, undecided checks are errors.
// The remarks in leftOut, about what the store leaves out, become the output of the tests.
func JUnit(out io.Writer, j *compare.Judgement, leftOut []string) error {
	suite := junitSuite{Name: "stackmill gate", Tests: len(j.Checks), Output: strings.Join(leftOut, "\n")}
	for _, c := range j.Checks {
		t := junitCase{Class: c.Rule, Name: cmp.Or(c.Row, c.Rule)}
		switch c.Outcome {
		case compare.Violated:
			suite.Failures++
			t.Failure = &junitMessage{c.Message}
		case compare.Undecided:
			suite.Errors++
			t.Error = &junitMessage{c.Message}
			if needed := j.Needed(); needed != "" {
				t.Error.Text += "; needed are " + needed
			}
		}
		suite.Cases = append(suite.Cases, t)
	}
	text, err := xml.MarshalIndent(struct {
		XMLName xml.Name `xml:"testsuites"`
		Suites  []junitSuite
	}{Suites: []junitSuite{suite}}, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(out, xml.Header+string(text)+"\n")
	return err
}
