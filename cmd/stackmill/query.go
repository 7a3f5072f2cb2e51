//go:build cgo

package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"stackmill/internal/atomicfile"
	"stackmill/internal/exit"
	"stackmill/internal/terminal"
	"stackmill/queries/console"
	"stackmill/queries/export"
)

var queryFormats = []string{"table", "csv", "json", "ndjson", "parquet", "arrow"}

// querier runs `stackmill query`.
type querier struct {
	*app
	format, as, file, output string
	timeout                  time.Duration
	limit                    int
	chosen                   selection
}

func newQueryCommand(a *app) *cobra.Command {
	q := &querier{app: a}
	c := &cobra.Command{
		Use:   "query [SQL | -f FILE | -]",
		Short: "Run SQL over the store",
		Long: `Runs SQL (DuckDB's dialect) over the store's views and tables and prints the result of
the last statement. Without SQL it opens a prompt on a terminal, and otherwise reads SQL
from standard input, as with "-".

The table format shows the first 10000 rows, with control characters escaped. The
arrow format is an IPC stream. In JSON, identifiers (columns named ..._id and ..._key)
and whole numbers beyond 2^53 are strings, because many readers would round them.

With --as, rows with the columns experiment_id, stack (names from the root to the leaf,
separated by ;) and value are written as a profile.

SQL may read the store's tables and create temporary tables, views and macros. It cannot
read or write other files, attach databases, load extensions or change settings, unless
--unsafe is given: then it may do everything that DuckDB can do with your rights.`,
		Example: `  stackmill query "SELECT function, exclusive / 1e9 AS seconds FROM function_metrics WHERE mode = 'user' AND metric = 'totalcpu' ORDER BY exclusive DESC LIMIT 10"
  stackmill query --format parquet --output samples.parquet "FROM samples"
  stackmill query -f report.sql --format csv
  stackmill query --as pprof -o slow.pb.gz "FROM folded WHERE mode = 'user' AND metric = 'totalcpu' AND stack LIKE '%;parse;%'"
  stackmill query --unsafe "SELECT * FROM functions JOIN 'owners.csv' USING (name)"`,
		Args: arguments(0, 1, "SQL text, in quotes"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := q.check(args); err != nil {
				return err
			}
			return q.answer(cmd.Context(), args)
		},
	}
	f := c.Flags()
	formatVar(c, &q.format, "table, csv, json, ndjson, parquet or arrow", queryFormats...)
	f.StringVar(&q.as, "as", "", "write the rows' stacks as "+strings.Join(export.RowFormats(), ", "))
	f.StringVarP(&q.file, "file", "f", "", "read the SQL from a file")
	outputVar(f, &q.output, "output", "o", "", "write to a file instead of the standard output")
	f.BoolVar(&a.Unsafe, "unsafe", false, "let SQL read and write files, attach databases, load extensions and change settings")
	sizeVar(f, &a.Limits.Memory, "memory", "", "memory of the SQL engine, e.g. 512M or 8G; what does not fit goes to temporary files (default: 4G, less on a small machine)")
	f.IntVar(&a.Limits.Threads, "threads", 0, "threads of the SQL engine (default: one per processor)")
	f.DurationVar(&q.timeout, "timeout", 0, "stop the query after this time, e.g. 30s (0: never)")
	oneOf(c, "as", "format", export.RowFormats())
	atLeast(f, "threads", &a.Limits.Threads, 0)
	atLeast(f, "timeout", &q.timeout, 0)
	limitVar(c, &q.limit, 0, "print this many rows, and how many more there are (0: all; tables show 10000)")
	f.StringArrayVar(&q.chosen.option, "experiment", nil, experimentHelp)
	a.completeFromStore(c, "experiment", experimentNames)
	return c
}

// check checks the flags.
func (q *querier) check(args []string) error {
	switch {
	case q.as != "" && q.format != "table":
		return exit.Usagef("query: --as and --format given (give one of them)")
	case q.limit > 0 && (q.as != "" || q.format == "parquet" || q.format == "arrow"):
		return exit.Usagef("query: --limit: %s always has all rows (use LIMIT in the SQL)", cmp.Or(q.as, q.format))
	case q.file != "" && len(args) > 0:
		return exit.Usagef("query: SQL and --file given (give one of them)")
	}
	return nil
}

// answer opens the store and runs the SQL, or prompts for it.
func (q *querier) answer(ctx context.Context, args []string) error {
	if q.output != "" {
		if err := atomicfile.Check(q.output); err != nil {
			return fmt.Errorf("query: --output: %w", err)
		}
	}
	statement, prompt, err := q.statement(q.file, args)
	if err != nil {
		return fmt.Errorf("query: %w", err)
	}
	db, err := q.open(ctx, q.chosen.option...)
	if err != nil {
		return fmt.Errorf("query: %w", err)
	}
	sql, err := console.Open(ctx, &q.Output, db, console.Options{Store: q.store, Memory: q.Limits.Memory, Timeout: q.timeout, Limit: q.limit})
	if err != nil {
		return fmt.Errorf("query: %w", err)
	}
	defer sql.Close()
	switch {
	case prompt && q.as != "":
		return exit.Usagef("query: --as: no SQL given")
	case prompt && q.output != "":
		return exit.Usagef("query: --output: no SQL given")
	case prompt:
		return sql.Prompt()
	}
	if strings.Trim(statement, "; \t\r\n") == "" {
		return exit.Usagef("query: no SQL given")
	}
	return named("query", sql.Run(ctx, statement, cmp.Or(q.as, q.format), q.output))
}

// statement returns the SQL to run, from the argument, a file or standard input. prompt is true if
// none is given and a person can type it.
func (a *app) statement(file string, args []string) (statement string, prompt bool, err error) {
	var data []byte
	switch {
	case file != "" && file != "-":
		data, err = os.ReadFile(file)
	case len(args) == 1 && args[0] != "-":
		return args[0], false, nil
	case len(args) == 0 && file == "" && terminal.Is(a.stdin):
		return "", true, nil
	default:
		data, err = io.ReadAll(a.stdin)
	}
	return string(data), false, err
}
