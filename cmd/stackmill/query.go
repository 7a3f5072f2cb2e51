package main

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	duckdb "github.com/duckdb/duckdb-go/v2"
	"github.com/spf13/cobra"
	"golang.org/x/term"
)

var queryFormats = []string{"table", "csv", "json", "ndjson", "parquet", "arrow"}

func newQueryCommand(a *app) *cobra.Command {
	var format, file, output string
	c := &cobra.Command{
		Use:   "query [SQL | -f FILE | -]",
		Short: "Run SQL over the store",
		Long: `Runs SQL (DuckDB's dialect) over the store's views and tables and prints the
last statement's result. Without SQL, a terminal gives a prompt; otherwise SQL
is read from the standard input. "-" reads it from there, too.

The table format shows the first 10000 rows. The arrow format is an IPC stream.`,
		Example: `  stackmill query "SELECT function, exclusive / 1e9 AS seconds FROM function_metrics WHERE mode = 'user' AND metric = 'totalcpu' ORDER BY exclusive DESC LIMIT 10"
  stackmill query --format parquet --output samples.parquet "FROM samples"
  stackmill query -f report.sql --format csv`,
		Args: cobra.MaximumNArgs(1),
	}
	f := c.Flags()
	f.StringVar(&format, "format", "table", "table, csv, json, ndjson, parquet or arrow")
	f.StringVarP(&file, "file", "f", "", "read the SQL from a file")
	f.StringVarP(&output, "output", "o", "", "write to a file instead of the standard output")
	c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(queryFormats, cobra.ShellCompDirectiveNoFileComp))
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if !slices.Contains(queryFormats, format) {
			return usageErrorf("query: --format: no format %q (one of %s)", format, strings.Join(queryFormats, ", "))
		}
		if file != "" && len(args) > 0 {
			return usageErrorf("query: SQL and -f given (give one of them)")
		}
		statement, prompt, err := a.statement(file, args)
		if err != nil {
			return fmt.Errorf("query: %w", err)
		}
		db, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer db.Close()
		conn, err := db.Conn(cmd.Context())
		if err != nil {
			return fmt.Errorf("query: %w", err)
		}
		defer conn.Close()
		if prompt {
			return a.prompt(conn)
		}
		if strings.Trim(statement, "; \t\r\n") == "" {
			return usageErrorf("query: no SQL given")
		}
		if err := a.runQuery(cmd.Context(), conn, statement, format, output); err != nil {
			return fmt.Errorf("query: %w", err)
		}
		return nil
	}
	return c
}

// statement returns the SQL to run, or whether to prompt for it.
func (a *app) statement(file string, args []string) (statement string, prompt bool, err error) {
	var data []byte
	switch {
	case file != "" && file != "-":
		data, err = os.ReadFile(file)
	case len(args) == 1 && args[0] != "-":
		return args[0], false, nil
	case len(args) == 0 && file == "" && isTerminal(a.stdin):
		return "", true, nil
	default:
		data, err = io.ReadAll(a.stdin)
	}
	return string(data), false, err
}

func isTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// runQuery runs the SQL and prints the result, into the file output if given.
func (a *app) runQuery(ctx context.Context, conn *sql.Conn, statement, format, output string) (err error) {
	if format == "parquet" {
		return a.copyParquet(ctx, conn, statement, output)
	}
	if output != "" {
		f, err := os.Create(output)
		if err != nil {
			return err
		}
		a = &app{store: a.store, stdin: a.stdin, stdout: f, stderr: a.stderr}
		defer func() { err = errors.Join(err, f.Close()) }()
	}
	if format == "arrow" {
		return a.printArrow(ctx, conn, statement)
	}
	rows, err := conn.QueryContext(ctx, statement)
	if err != nil {
		return err
	}
	return printRows(a.newPrinter(format), rows)
}

// copyParquet lets DuckDB write the file; for the standard output by way of a
// temporary one.
func (a *app) copyParquet(ctx context.Context, conn *sql.Conn, statement, output string) error {
	path := output
	if output == "" {
		if f, ok := a.stdout.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
			return usageErrorf("the standard output is a terminal (name a file with --output)")
		}
		dir, err := os.MkdirTemp("", "stackmill-query-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		path = filepath.Join(dir, "result.parquet")
	}
	query := fmt.Sprintf("COPY (%s\n) TO '%s' (FORMAT parquet, COMPRESSION zstd)",
		strings.TrimRight(statement, "; \t\r\n"), strings.ReplaceAll(path, "'", "''"))
	if _, err := conn.ExecContext(ctx, query); err != nil {
		return err
	}
	if output != "" {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(a.stdout, f)
	return err
}

func (a *app) printArrow(ctx context.Context, conn *sql.Conn, statement string) error {
	return conn.Raw(func(raw any) error {
		arrow, err := duckdb.NewArrowFromConn(raw.(driver.Conn))
		if err != nil {
			return err
		}
		reader, err := arrow.QueryContext(ctx, statement)
		if err != nil {
			return err
		}
		defer reader.Release()
		w := ipc.NewWriter(a.stdout, ipc.WithSchema(reader.Schema()))
		for reader.Next() {
			if err := w.Write(reader.RecordBatch()); err != nil {
				return err
			}
		}
		if err := reader.Err(); err != nil {
			return err
		}
		return w.Close()
	})
}
