package compare

import (
	"context"
	"fmt"
	"math"
	"strings"

	"stackmill/queries"
)

// Rules are what a comparison must fulfil.
type Rules struct {
	MaxIncrease float64 // of each judged row; not a number: any
	SQL         []SQLRule
}

// Outcomes of a check, and of a gate: the worst of its checks, but nothing is worse than
// a violation.
const (
	Passed    = "passed"
	Undecided = "undecided"
	Violated  = "violated"
)

// Check is what a rule says of a row, or of what its SQL returned.
type Check struct {
	Rule, Row, Outcome, Message string
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

// check adds what is to be said of a row whether or not there is a limit: a row of which
// too little is known leaves any rule undecided.
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

// oneOfFew reports whether samples of a single run are compared with those of less than
// three: then nothing is known of how runs differ.
func (j *Judgement) oneOfFew() bool {
	n, m := len(j.Base.Runs), len(j.Test.Runs)
	return j.sampled && min(n, m) == 1 && max(n, m) < 3
}
