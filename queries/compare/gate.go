package compare

import (
	"context"
	"fmt"
	"math"
	"strings"

	"stackmill/queries"
)

// Rules are the rules that a comparison must fulfill.
type Rules struct {
	MaxIncrease float64 // of each judged row; NaN: any
	SQL         []SQLRule
}

// Outcomes of a check and of a gate. A gate has the worst outcome of its checks.
const (
	Passed    = "passed"
	Undecided = "undecided"
	Violated  = "violated"
)

// Check is the outcome of a rule for a row, or for a row of its SQL's result.
type Check struct {
	Rule    string `json:"rule"`
	Row     string `json:"row"`
	Outcome string `json:"outcome"`
	Message string `json:"message"`
}

// Judgement is the result of a gate.
type Judgement struct {
	*Result
	Outcome string
	Checks  []Check
}

// Gate compares two groups of experiments and applies rules.
func Gate(ctx context.Context, db *queries.DB, r Request, rules Rules) (*Judgement, error) {
	r.Together = true
	result, err := Run(ctx, db, r)
	if err != nil {
		return nil, err
	}
	j := &Judgement{Result: result, Outcome: Passed}
	for i := range result.Rows {
		if row := &result.Rows[i]; row.Judged && row.BaseN > 0 {
			j.check(row, rules.MaxIncrease)
		}
	}
	for _, rule := range rules.SQL {
		checks, err := rule.apply(ctx, db, result)
		if err != nil {
			return nil, err
		}
		j.Checks = append(j.Checks, checks...)
	}
	for _, c := range j.Checks {
		if c.Outcome == Violated || c.Outcome == Undecided && j.Outcome == Passed {
			j.Outcome = c.Outcome
		}
	}
	return j, nil
}

// check checks a row. A row about which too little is known leaves every rule undecided, even
// without a limit.
func (j *Judgement) check(row *Row, limit float64) {
	c := Check{Rule: "runs", Row: strings.TrimSpace(row.Names[0])}
	if !math.IsNaN(limit) {
		c.Rule = fmt.Sprintf("increase of at most %.4g%%", 100*limit)
	}
	switch {
	case row.Verdict == Ambiguous:
		c.Outcome = Undecided
		c.Message = row.Matched + " in the test"
	case math.IsNaN(row.Low) || j.oneOfFew():
		c.Outcome = Undecided
		c.Message = fmt.Sprintf("too few runs: %d against %d", len(j.Base.Runs), len(j.Test.Runs))
	case math.IsNaN(limit):
		return
	case row.Low > 1+limit:
		c.Outcome = Violated
		c.Message = fmt.Sprintf("%+.1f%%, at least %+.1f%%", 100*(row.Ratio-1), 100*(row.Low-1))
	default:
		c.Outcome = Passed
		c.Message = fmt.Sprintf("%+.1f%%, at least %+.1f%%", 100*(row.Ratio-1), 100*(row.Low-1))
	}
	j.Checks = append(j.Checks, c)
}

// oneOfFew reports whether a single sampled run is compared with one or two runs: then the
// variation between runs is unknown.
func (j *Judgement) oneOfFew() bool {
	n, m := len(j.Base.Runs), len(j.Test.Runs)
	return j.sampled && min(n, m) == 1 && max(n, m) < 3
}
