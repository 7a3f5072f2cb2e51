//go:build cgo

// Package console runs SQL for people: a statement, or what they type at a prompt, within limits
// of time and memory.
//
// Start reading with Console.Run.
package console

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"io"
	"slices"
	"strings"
	"time"

	"stackmill/internal/atomicfile"
	"stackmill/internal/exit"
	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/export"
	"stackmill/queries/result"
)

// Options are the options of a console.
type Options struct {
	Store   string        // its name, for the greeting
	Memory  int64         // of the SQL engine
	Timeout time.Duration // of each statement; 0 is none
}

// Console runs SQL on one connection to a store.
type Console struct {
	*terminal.Output
	Options
	db    *queries.DB
	conn  *sql.Conn
	stuck bool // SQL is running that does not stop
}

// Open returns a console of an open store, which closes the store.
func Open(ctx context.Context, out *terminal.Output, db *queries.DB, o Options) (*Console, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Console{Output: out, Options: o, db: db, conn: conn}, nil
}

// Close closes the store, unless SQL is stuck: then it stays open until the program ends.
func (c *Console) Close() {
	if !c.stuck {
		_ = c.conn.Close() // nothing is lost
		_ = c.db.Close()
	}
}

// Run runs SQL and prints the result, or writes it to a file. This program writes the file: SQL
// cannot.
func (c *Console) Run(ctx context.Context, text, format, output string) (err error) {
	if output == "" && slices.Contains([]string{"parquet", "arrow", "pprof"}, format) && terminal.Is(c.Stdout) {
		return exit.Usagef("the standard output is a terminal (name a file with --output)")
	}
	memory := cmp.Or(c.Memory, queries.DefaultMemory)
	err, c.stuck = runLimited(ctx, c.Timeout, memory, func(ctx context.Context) error {
		last, err := c.db.Admit(ctx, c.conn, text)
		if err != nil {
			return err
		}
		for _, advice := range c.db.Advise(ctx, c.conn, last) {
			c.Warnf("query: warning: %s", advice)
		}
		return c.write(ctx, last, format, output)
	})
	return Reword(err, c.Timeout)
}

// write runs an admitted statement and writes its result.
func (c *Console) write(ctx context.Context, statement, format, output string) error {
	if output == "" {
		return c.writeTo(ctx, c.Output, statement, format)
	}
	return atomicfile.Write(output, func(w io.Writer) error {
		to := &terminal.Output{Stdout: w, Stderr: c.Stderr}
		if err := c.writeTo(ctx, to, statement, format); err != nil || format != "table" {
			return err
		}
		return PrintLeftOut(to, c.db.LeftOut())
	})
}

// writeTo runs an admitted statement and prints its result.
func (c *Console) writeTo(ctx context.Context, out *terminal.Output, statement, format string) error {
	switch format {
	case "parquet":
		return c.db.CopyParquet(ctx, c.conn, statement, 0, out.Stdout)
	case "arrow":
		return result.Arrow(ctx, c.conn, statement, out.Stdout)
	}
	rows, err := c.conn.QueryContext(ctx, statement)
	if err != nil {
		return err
	}
	if slices.Contains(export.RowFormats(), format) {
		defer rows.Close()
		return export.WriteRows(ctx, rows, format, c.db.LeftOut(), out.Stdout)
	}
	if format == "table" && strings.HasPrefix(strings.ToUpper(statement), "EXPLAIN") {
		return result.Print(result.QueryPlan(out), rows)
	}
	return result.Print(result.New(out, format), rows)
}

// PrintLeftOut prints below a table what the answer lacks.
func PrintLeftOut(out *terminal.Output, remarks []string) error {
	for _, remark := range remarks {
		if err := out.Printf("\n%s\n", remark); err != nil {
			return err
		}
	}
	return nil
}
