package compare

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"stackmill/queries"
)

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

// message describes a row of a rule's result: its column message, or all columns but the row's
// name.
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
