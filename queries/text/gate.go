//go:build cgo

package text

import (
	"stackmill/internal/terminal"
	"stackmill/queries/compare"
)

// Gate prints the checks of a gate that did not pass.
func Gate(out *terminal.Output, j *compare.Judgement, _ []string) error {
	if err := comparisonCaption(out, "Gate", j.Result); err != nil {
		return err
	}
	counts := map[string]int{}
	var cells [][]string
	for _, c := range j.Checks {
		if counts[c.Outcome]++; c.Outcome != compare.Passed {
			cells = append(cells, []string{c.Outcome, c.Rule, c.Row, c.Message})
		}
	}
	if cells != nil {
		fields := []terminal.Field{{Name: "Outcome"}, {Name: "Rule", Short: true}, {Name: "Row", Short: true}, {Name: "What"}}
		if err := out.Table(fields, cells, false); err != nil {
			return err
		}
	}
	return out.Printf("%s: %s, %d violated, %d undecided\n", j.Outcome, Plural(len(j.Checks), "check"), counts[compare.Violated], counts[compare.Undecided])
}

// GateJSON prints a judgement as a JSON object.
func GateJSON(out *terminal.Output, j *compare.Judgement, leftOut []string) error {
	type check struct {
		Rule    string `json:"rule"`
		Row     string `json:"row"`
		Outcome string `json:"outcome"`
		Message string `json:"message"`
	}
	checks := []check{}
	for _, c := range j.Checks {
		checks = append(checks, check(c))
	}
	comparison, err := j.Object(j.Rows)
	if err != nil {
		return err
	}
	return terminal.PrintJSON(out.Stdout, struct {
		Outcome    string   `json:"outcome"`
		Checks     []check  `json:"checks"`
		LeftOut    []string `json:"left_out,omitempty"`
		Comparison any      `json:"comparison"`
	}{j.Outcome, checks, leftOut, comparison}, true)
}
