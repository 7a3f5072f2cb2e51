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
	"fmt"
	"io"
	"slices"
	"strings"
	"syscall"
	"time"

	"stackmill/internal/atomicfile"
	"stackmill/internal/exit"
	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/export"
	"stackmill/queries/result"
	"stackmill/schema/storedir"
)

// Options are the options of a console.
type Options struct {
	Store   string        // its name, shown in the prompt's greeting
	Memory  int64         // bytes for the SQL engine
	Timeout time.Duration // limit for each statement; 0: no limit
	Limit   int           // maximum number of printed rows; 0: no limit
}

// Console runs SQL on one connection to a store.
type Console struct {
	*terminal.Output
	Options
	db    *queries.DB
	conn  *sql.Conn
	stuck bool // a statement is still running that could not be stopped
}

// Open returns a console for an open store. Closing the console closes the store.
func Open(ctx context.Context, out *terminal.Output, db *queries.DB, o Options) (*Console, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return &Console{Output: out, Options: o, db: db, conn: conn}, nil
}

// Close closes the store, unless a statement could not be stopped: then the store stays open until
// the program ends.
func (c *Console) Close() {
	if !c.stuck {
		_ = c.conn.Close() // opened for reading only
		_ = c.db.Close()
	}
}

// Run runs SQL and prints the result, or writes it to the file output. SQL itself may not write
// files.
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

// write runs a statement that Admit has accepted and writes its result, to a file if output is set.
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

// writeTo runs a statement that Admit has accepted and writes its result to out.
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
	return result.Print(result.Limit(out, format, c.Limit), rows)
}

// PrintLeftOut prints, below a table, remarks about experiments that are missing from the answer.
func PrintLeftOut(out *terminal.Output, remarks []string) error {
	for _, remark := range remarks {
		if err := out.Printf("\n%s\n", remark); err != nil {
			return err
		}
	}
	return nil
}

// Session opens stores and warns about experiments that answers from them lack.
type Session struct {
	Limits  queries.Limits
	Unsafe  bool     // SQL may do more than read the store
	LeftOut []string // remarks about experiments missing from answers of the store opened last
}

// Open opens a store; if there are selectors, only with the experiments that they select.
func (s *Session) Open(ctx context.Context, out *terminal.Output, store string, selectors ...string) (*queries.DB, error) {
	db, err := queries.OpenWith(ctx, store, queries.Options{Limits: s.Limits, Unsafe: s.Unsafe, Only: selectors})
	if err != nil {
		if err = NoStore(store, err); errors.Is(err, queries.ErrNone) || errors.Is(err, storedir.ErrNoStore) {
			return nil, err
		}
		return nil, fmt.Errorf("the store %s: %w", storedir.DisplayName(store), err)
	}
	s.LeftOut = db.LeftOut()
	for _, remark := range s.LeftOut {
		out.Warnf("%s", remark)
	}
	return db, nil
}

// NoStore rewords the error of a missing store so that it says what to do; it returns other errors
// unchanged.
func NoStore(store string, err error) error {
	name := storedir.DisplayName(store)
	switch {
	case errors.Is(err, storedir.ErrNoStore):
		return fmt.Errorf("%w at %s (run `stackmill ingest --store %s PATH` first)", storedir.ErrNoStore, name, name)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w at %s, which is a file (--store names a folder)", storedir.ErrNoStore, name)
	}
	return err
}

// Filter returns the part of a store that passes a filter; an empty filter returns db itself.
// closing must be called before the store is closed. If views are named, only these can be read.
func (s *Session) Filter(ctx context.Context, out *terminal.Output, db *queries.DB, f queries.Filter, views ...string) (filtered *queries.DB, closing func(), err error) {
	if f.IsEmpty() {
		return db, func() {}, nil
	}
	filtered, err = db.Filter(ctx, f, views...)
	if err != nil {
		return nil, nil, err
	}
	remarks, err := filtered.Remarks(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, filtered.Close())
	}
	for _, r := range remarks[len(s.LeftOut):] { // the first len(LeftOut) remarks were printed when the store was opened
		out.Warnf("%s", r)
	}
	return filtered, func() { _ = filtered.Close() }, nil
}
