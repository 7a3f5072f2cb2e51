//go:build cgo

package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"stackmill/internal/terminal"
	"stackmill/queries/report"
)

// completeReport completes the names of views, experiments and metrics.
func (a *app) completeReport(c *cobra.Command) {
	experiments := c.ValidArgsFunction
	c.ValidArgsFunction = func(cmd *cobra.Command, args []string, prefix string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return experiments(cmd, args, prefix)
		}
		var names []string
		for _, r := range report.Reports {
			if strings.HasPrefix(r.Name, strings.ReplaceAll(prefix, "_", "-")) {
				names = append(names, cobra.CompletionWithDesc(r.Name, r.Title))
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	}
	oneOf(c, "mode", "mode", report.Modes)
	oneOf(c, "alias", "alias", report.Aliases)
	a.completeFromStore(c, "metric", "SELECT DISTINCT metric FROM metrics ORDER BY ALL")
	a.completeFromStore(c, "by", "SELECT DISTINCT label FROM labels ORDER BY ALL")
	a.completeFromStore(c, "object", "SELECT DISTINCT descriptor FROM data_objects ORDER BY ALL")
	a.completeFromStore(c, "function", "SELECT DISTINCT name FROM functions ORDER BY ALL")
}

// completeFromStore completes a flag with the first column of a query. A store
// that cannot be opened completes nothing.
func (a *app) completeFromStore(c *cobra.Command, flag, query string) {
	_ = c.RegisterFlagCompletionFunc(flag, a.fromStore(query))
}

// fromStore returns a completion with the first column of a query, which is empty if the store cannot
// be opened.
func (a *app) fromStore(query string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		ctx := context.Background()
		db, err := a.open(ctx)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer db.Close()
		names, _ := db.Texts(ctx, query)
		// The shell prints completions: leave out names with control characters.
		names = slices.DeleteFunc(names, func(n string) bool { return terminal.Printable(n) != n })
		return names, cobra.ShellCompDirectiveNoFileComp
	}
}
