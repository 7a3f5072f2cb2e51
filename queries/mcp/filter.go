//go:build cgo

package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"

	"stackmill/internal/terminal"
	"stackmill/queries"
)

// filterParameters are the parameters of a filter, named like the flags.
var filterParameters = []parameter{
	{"where", "strings", queries.WhereHelp},
	{"thread", "integers", "only samples of these threads"},
	{"cpu", "integers", "only samples on these CPUs"},
	{"pid", "integers", "only samples of these processes"},
	{"between", "strings", queries.BetweenHelp},
	{"hide", "strings", queries.HideHelp},
	{"api-only", "strings", queries.APIOnlyHelp},
}

// filterArguments are the values of filterParameters.
type filterArguments struct {
	Where, Between, Hide list[string]
	APIOnly              list[string] `json:"api-only"`
	Thread, CPU, PID     list[int64]
}

// list accepts one value or several.
type list[T any] []T

func (l *list[T]) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		return json.Unmarshal(text, (*[]T)(l))
	}
	*l = make([]T, 1)
	return json.Unmarshal(text, &(*l)[0])
}

// filter returns the filter of the arguments, in the mode.
func (args *arguments) filter() queries.Filter {
	return queries.Filter{Where: args.Where, Threads: args.Thread, CPUs: args.CPU, PIDs: args.PID, Between: args.Between,
		Hide: args.Hide, APIOnly: args.APIOnly, Mode: args.Mode}
}

// addFilter adds the conditions of the samples and the hidden functions to an answer, shortened: an
// agent knows what it asked for.
func (a *answer) addFilter(ctx context.Context, db *queries.DB, f queries.Filter) error {
	conditions, err := f.Conditions()
	if err != nil {
		return err
	}
	a.Filter, a.Hidden = shortened(conditions), shortened(db.HiddenFunctions())
	remarks, err := db.Remarks(ctx)
	a.Warnings = append(a.Warnings, remarks[len(db.LeftOut()):]...) // these are in every answer
	return err
}

func shortened(texts []string) []string { return shortenedTo(maxName, texts) }

func shortenedTo(longest int, texts []string) (short []string) {
	for _, t := range texts {
		short = append(short, terminal.Shorten(t, longest))
	}
	return short
}

// compareWithWhole adds to each metric its share of the total without the filter.
func (p *partition) compareWithWhole(ctx context.Context, db *queries.DB) error {
	if p.Filter == nil {
		return nil
	}
	shares, err := db.Shares(ctx)
	if err != nil {
		return err
	}
	for _, c := range p.Coverage {
		i := slices.IndexFunc(shares, func(s queries.Share) bool { return c.key == [2]string{s.ExperimentID, s.Metric} })
		if i >= 0 {
			left := percentOf(shares[i].Value, shares[i].Whole)
			c.Left = &left
		}
	}
	return nil
}
