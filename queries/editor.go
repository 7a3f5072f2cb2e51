package queries

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"
)

// editor is an SQL engine that has a catalog's file open to write definitions into it.
type editor struct {
	db      *sql.DB
	conn    *sql.Conn
	changes []string // definitions.changes that made what it has; nil if it has nothing
	begun   bool     // a transaction, which finish ends
}

// edit opens the catalog at path, which it makes if it does not exist.
func edit(ctx context.Context, path string) (e *editor, err error) {
	// Definitions need no temporary files, and further threads would wait for each other.
	settings := access{Limits: Limits{Threads: 1}}.config("")
	// What is committed goes to the file at once, not to a log before.
	settings.Set("wal_autocheckpoint", "1B")
	settings.Set("auto_checkpoint_skip_wal_threshold", "0")
	settings.Set("force_compression", "uncompressed") // to try others takes longer than a few rows are worth
	connector, err := duckdb.NewConnector("?"+settings.Encode(), nil)
	if err != nil {
		return nil, fmt.Errorf("duckdb: %w", err)
	}
	e = &editor{db: sql.OpenDB(connector)}
	if e.conn, err = e.db.Conn(ctx); err == nil {
		err = e.run(ctx, "ATTACH "+quote(path)+" AS "+catalogName, "USE "+catalogName)
	}
	if err != nil {
		e.close()
		return nil, err
	}
	return e, nil
}

// run runs statements as one script: each call of the engine costs time.
func (e *editor) run(ctx context.Context, statements ...string) error {
	if _, err := e.conn.ExecContext(ctx, strings.Join(statements, "\n;\n")); err != nil {
		return &statementError{err}
	}
	return nil
}

// finish makes the catalog that of a store. Its file is complete then, though the engine
// has it open.
func (e *editor) finish(ctx context.Context, d *definitions) error {
	statements := d.changes("")
	if e.changes == nil {
		var err error
		if statements, err = d.all(); err != nil {
			return err
		}
		described, err := comments()
		if err != nil {
			return err
		}
		statements = append(statements, described...)
	}
	if err := e.change(ctx, statements); err != nil {
		return err
	}
	if err := d.fillBy(e.conn, catalogName); err != nil {
		return err
	}
	return e.run(ctx, "COMMIT", "CHECKPOINT")
}

// change runs the statements that have not made what is there.
func (e *editor) change(ctx context.Context, statements []string) error {
	missing := different(statements, e.changes)
	if !e.begun {
		missing = slices.Insert(missing, 0, "BEGIN")
	}
	e.changes, e.begun = statements, true
	return e.run(ctx, missing...)
}

// different returns the statements that are not the same in another list, which may be
// shorter.
func different(statements, from []string) (list []string) {
	for i, s := range statements {
		if i >= len(from) || s != from[i] {
			list = append(list, s)
		}
	}
	return list
}

// close ends the engine. There may be none.
func (e *editor) close() {
	if e == nil {
		return
	}
	if e.conn != nil {
		_ = e.conn.Close()
	}
	_ = e.db.Close() // the file is complete, or of no use
}

// writeCatalog makes the catalog at path, where there is none.
func writeCatalog(ctx context.Context, path string, d *definitions) error {
	e, err := edit(ctx, path)
	if err != nil {
		return err
	}
	defer e.close()
	return e.finish(ctx, d)
}
