package compare

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"stackmill/queries"
)

// Rules are the rules that a comparison must fulfill.
type Rules struct {
	MaxIncrease float64 // maximum increase of each judged row; NaN: any
	SQL         []SQLRule
}

// Outcomes of a check and of a gate. A gate has the worst outcome of its checks.
const (
	Passed    = "passed"
	Undecided = "undecided"
	Violated  = "violated"
)

// Check is the outcome of a rule for one row of the comparison or, for a rule in SQL, of its
// result.
type Check struct {
	Rule    string `json:"rule"`
	Row     string `json:"row"`
	Outcome string `json:"outcome"`
	Message string `json:"message"`
	// The change of a row that is checked against a limit, the bounds of this change, and the smallest
	// increase that violates the rule with the probability rank.Power. nil if unknown.
	Ratio      *float64 `json:"ratio,omitempty"`
	Low        *float64 `json:"low,omitempty"`
	High       *float64 `json:"high,omitempty"`
	Detectable *float64 `json:"detectable,omitempty"`
}

// Judgement is the result of a gate.
type Judgement struct {
	*Result
	Outcome string
	Limit   float64 // maximum increase of each judged row; NaN: no limit
	Checks  []Check
	First   bool // passed without a comparison, because no earlier runs are accepted
}

// FirstAccepted returns the judgement of runs before which no runs were accepted. They pass without
// a comparison. The whole store must be open.
func FirstAccepted(ctx context.Context, db *queries.DB, r Request) (*Judgement, error) {
	runs, err := db.Select(ctx, r.Test...)
	if err != nil {
		return nil, fmt.Errorf("--test: %w", err)
	}
	result := &Result{Request: r, Base: Side{Selectors: r.Base}, Test: Side{r.Test, runs}}
	return &Judgement{Result: result, Outcome: Passed, Limit: math.NaN(), First: true}, nil
}

// Gate compares two groups of experiments and applies rules.
func Gate(ctx context.Context, db *queries.DB, r Request, rules Rules) (*Judgement, error) {
	r.Together = true
	result, err := Run(ctx, db, r)
	if err != nil {
		return nil, err
	}
	j := &Judgement{Result: result, Outcome: Passed, Limit: rules.MaxIncrease}
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

// check checks a row against a limit. If too little is known about the row, the outcome is
// undecided, with or without a limit.
func (j *Judgement) check(row *Row, limit float64) {
	c := Check{Rule: "runs", Row: strings.TrimSpace(row.Names[0]), Ratio: Known(row.Ratio), Low: Known(row.Low), High: Known(row.High)}
	if !math.IsNaN(limit) {
		c.Rule = fmt.Sprintf("increase of at most %.4g%%", 100*limit)
		c.Detectable = Known(j.Detectable(row))
	}
	switch {
	case row.Verdict == Ambiguous:
		c.Outcome = Undecided
		c.Message = row.Matched + " in the test"
	case math.IsNaN(row.Low) || j.oneOfFew():
		c.Outcome, c.Detectable = Undecided, nil
		c.Message = j.tooFewRuns()
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

// Known returns a pointer to a number, nil if it is unknown.
func Known(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}

// oneOfFew reports whether a single sampled run is compared with one or two runs, so that the
// variation between runs is unknown.
func (j *Judgement) oneOfFew() bool {
	n, m := len(j.Base.Runs), len(j.Test.Runs)
	return j.sampled && min(n, m) == 1 && max(n, m) < 3
}

// SQLRule is a query over the table comparison, whose result rows are violations.
type SQLRule struct{ Name, SQL string }

// ParseRules parses a file of rules: queries that end with semicolons. The comment before a query
// is its name.
func ParseRules(text string) (rules []SQLRule, err error) {
	var rule SQLRule
	for _, line := range strings.Split(text, "\n") {
		trimmed := strings.TrimSpace(line)
		if comment, is := strings.CutPrefix(trimmed, "--"); is && strings.TrimSpace(rule.SQL) == "" {
			rule.Name = strings.TrimSpace(rule.Name + " " + strings.TrimSpace(comment))
			continue
		}
		rule.SQL += line + "\n"
		if sql, ends := strings.CutSuffix(trimmed, ";"); ends && !strings.HasPrefix(trimmed, "--") {
			rule.SQL = strings.TrimSuffix(strings.TrimSpace(rule.SQL), trimmed) + sql
			rules, rule = append(rules, rule), SQLRule{}
		}
	}
	if strings.TrimSpace(rule.SQL) != "" {
		rules = append(rules, rule)
	}
	if rules == nil {
		return nil, fmt.Errorf("it contains no query")
	}
	for i := range rules {
		if rules[i].Name == "" {
			rules[i].Name = fmt.Sprintf("rule %d", i+1)
		}
	}
	return rules, nil
}

// apply runs the rule's query.
func (rule SQLRule) apply(ctx context.Context, db *queries.DB, r *Result) ([]Check, error) {
	var rows []map[string]any
	types := map[string]string{"judged": "BOOLEAN"}
	for i := range r.Rows {
		row := map[string]any{"judged": r.Rows[i].Judged}
		for k, v := range r.Rows[i].cells() {
			row[r.fields()[k].Name] = v
		}
		rows = append(rows, row)
	}
	for _, f := range r.fields() {
		types[f.Name] = f.Kind
	}
	text, err := json.Marshal(rows)
	if err != nil {
		return nil, err
	}
	shape, err := json.Marshal([]any{types})
	if err != nil {
		return nil, err
	}
	query := "WITH comparison AS MATERIALIZED (SELECT unnest(from_json(?::JSON, " + queries.Quote(string(shape)) + "), recursive := true)) SELECT * FROM (" + rule.SQL + "\n)"
	found, err := db.Records(ctx, query, string(text))
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrRule, rule.Name, err)
	}
	if len(found) == 0 {
		return []Check{{Rule: rule.Name, Outcome: Passed}}, nil
	}
	var checks []Check
	for _, rec := range found {
		checks = append(checks, Check{Rule: rule.Name, Row: rec.Text(r.Columns()[0]), Outcome: Violated, Message: message(rec, r.Columns()[0])})
	}
	return checks, nil
}

// ErrRule is wrapped by the errors of rules that cannot be run.
var ErrRule = fmt.Errorf("a rule cannot be run")

// message returns the text for a row of a rule's result: its column message or, without one, all
// its columns but the row's name.
func message(rec queries.Record, row string) string {
	if text := rec.Text("message"); text != "" {
		return text
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(rec)) {
		if name != row && rec[name] != nil {
			parts = append(parts, fmt.Sprintf("%s %v", name, rec[name]))
		}
	}
	return strings.Join(parts, ", ")
}
