//go:build cgo

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"stackmill/internal/exit"
	"stackmill/queries"
)

// addFilter adds the flags that select samples and hide functions.
func addFilter(c *cobra.Command, to *queries.Filter) {
	f := c.Flags()
	f.StringArrayVar(&to.Where, "where", nil, queries.WhereHelp)
	f.Int64SliceVar(&to.Threads, "thread", nil, "only samples of these threads")
	f.Int64SliceVar(&to.CPUs, "cpu", nil, "only samples on these CPUs")
	f.Int64SliceVar(&to.PIDs, "pid", nil, "only samples of these processes")
	f.StringArrayVar(&to.Between, "between", nil, queries.BetweenHelp)
	f.Var((*nameList)(&to.Hide), "hide", queries.HideHelp)
	f.Var((*nameList)(&to.APIOnly), "api-only", queries.APIOnlyHelp)
}

// nameList is the value of a flag: names with commas between them. An empty name, such as an unset
// shell variable, is an error: it would hide nothing.
type nameList []string

// Set implements pflag.Value.
func (n *nameList) Set(text string) error {
	for name := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(name) == "" {
			return valueError{fmt.Errorf("%q has an empty name (write f or f,g)", text)}
		}
		*n = append(*n, name)
	}
	return nil
}

// String implements pflag.Value.
func (n *nameList) String() string { return strings.Join(*n, ",") }

// Type implements pflag.Value.
func (n *nameList) Type() string { return "strings" }

// filterStore returns the store with the samples that pass the filter.
func (a *app) filterStore(ctx context.Context, db *queries.DB, f queries.Filter, views ...string) (session *queries.DB, closing func(), err error) {
	session, closing, err = a.Filter(ctx, &a.Output, db, f, views...)
	if errors.As(err, new(*queries.FilterError)) {
		err = exit.Usagef("%w", err)
	}
	return session, closing, err
}
