package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"stackmill/queries"
)

// Headline returns a sentence that says what changed most, and how sure that is.
func (r *Result) Headline() string {
	row := r.Largest()
	if row == nil {
		return "nothing can be compared: no row is judged"
	}
	text := r.changeText(row)
	if row.Verdict == Appeared || row.Verdict == Vanished {
		text += fmt.Sprintf(" (%s%s)", r.Value(math.Abs(row.Difference)), r.UnitTitle())
	}
	if q := Probability(row.Q); q != "" {
		text += ", q " + strings.Replace(q, "<", "< ", 1)
	}
	changed := 0
	for i := range r.Rows {
		if i > 0 && r.Rows[i].Changed() {
			changed++
		}
	}
	switch {
	case row.Verdict == TooFew:
		return "too few runs to be sure of anything; the largest difference: " + text
	case !row.Changed():
		return "no change is certain; the largest difference: " + text
	case changed > 1:
		text = fmt.Sprintf("%s; %d other rows changed", text, changed-1)
		text = strings.Replace(text, "; 1 other rows", "; 1 other row", 1)
	}
	if total := &r.Rows[0]; row != total && !math.IsNaN(total.Ratio) {
		text += totalText(total)
		if !total.Changed() {
			text += " (" + total.Verdict + ")"
		}
	}
	return text
}

// totalText describes the change of <Total>, to follow a row's change in a sentence.
func totalText(total *Row) string {
	return fmt.Sprintf("; %s %s", strings.TrimSpace(total.Names[0]), PercentChange(total.Ratio))
}

// RowName returns the name of a row for a sentence.
func (r *Result) RowName(row *Row) string {
	name := strings.TrimSpace(row.Names[0])
	if r.By == "line" && row.Names[1] != "" {
		name += ":" + row.Names[1]
	}
	return name
}

// changeText describes by how much a row changed, with the confidence interval.
func (r *Result) changeText(row *Row) string {
	name := r.RowName(row)
	switch {
	case row.Verdict == Appeared:
		return name + " appeared"
	case row.Verdict == Vanished:
		return name + " vanished"
	case row.Verdict == Ambiguous:
		return name + " is ambiguous"
	}
	text := name + " " + PercentChange(row.Ratio)
	if !math.IsNaN(row.Low) && !(row.Low == row.High) {
		text += fmt.Sprintf(" (%g %% interval %s .. %s)", 100*r.Level, PercentChange(row.Low), PercentChange(row.High))
	}
	return text
}

// Headline returns a sentence with the outcome and the largest change.
func (j *Judgement) Headline() string {
	row := j.Largest()
	change := ""
	if row != nil {
		if change = j.changeText(row); row != &j.Rows[0] && !math.IsNaN(j.Rows[0].Ratio) {
			change += totalText(&j.Rows[0])
		}
	}
	limit := fmt.Sprintf("%.4g %%", 100*j.Limit)
	byRow := row != nil && !math.IsNaN(j.Limit) && row.Low > 1+j.Limit
	switch {
	case j.First:
		return fmt.Sprintf("passed: no runs were accepted before, so %s are not compared", j.Test.description())
	case j.Outcome == Violated && byRow:
		return fmt.Sprintf("violated: %s; %s is allowed", change, limit)
	case j.Outcome == Violated:
		return fmt.Sprintf("violated: %s", j.violatedRules())
	case j.Outcome == Undecided && j.Needed() != "":
		return fmt.Sprintf("undecided: too few runs; needed are %s", j.Needed())
	case j.Outcome == Undecided:
		return "undecided: some rows cannot be judged"
	case row == nil:
		return "passed"
	case math.IsNaN(j.Limit):
		return "passed; the largest change: " + change
	}
	return fmt.Sprintf("passed: no increase is certainly above %s; the largest change: %s", limit, change)
}

// violatedRules returns the names of the violated rules.
func (j *Judgement) violatedRules() string {
	var names []string
	for _, c := range j.Checks {
		if c.Outcome == Violated && !slices.Contains(names, c.Rule) {
			names = append(names, c.Rule)
		}
	}
	return Few(names)
}

// description returns the name of a side and the number of its runs.
func (s *Side) description() string {
	return fmt.Sprintf("%s (%s)", strings.Join(s.Selectors, " or "), queries.Count(len(s.Runs), "run"))
}

// UnitTitle returns the unit of the values as Value formats them, after a blank; "" if there is none.
func (r *Result) UnitTitle() string {
	unit := ""
	switch {
	case r.Normalize == "total":
		return " %"
	case r.Unit == "ns":
		unit = " s"
	case r.Unit == "bytes":
		unit = " bytes"
	}
	if r.Normalize == "run" {
		unit += "/s"
	}
	return unit
}

// Value formats a value for people.
func (r *Result) Value(v float64) string {
	switch {
	case r.Normalize == "total":
		return fmt.Sprintf("%.2f", 100*v)
	case r.Unit == "ns":
		return fmt.Sprintf("%.3f", v/1e9)
	case v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.1f", v)
}

// PercentChange formats a ratio as a change in percent; "" if it is unknown or infinite.
func PercentChange(ratio float64) string {
	switch {
	case math.IsNaN(ratio), math.IsInf(ratio, 1):
		return ""
	case ratio >= 10:
		return fmt.Sprintf("x%.3g", ratio)
	}
	return fmt.Sprintf("%+.1f%%", 100*(ratio-1))
}

// Probability formats a p-value or q-value; "" if it is unknown.
func Probability(q float64) string {
	switch {
	case math.IsNaN(q):
		return ""
	case q < 0.0001:
		return "<0.0001"
	}
	return fmt.Sprintf("%.4f", q)
}
