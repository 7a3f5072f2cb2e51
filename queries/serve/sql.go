package serve

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"stackmill/queries"
)

// queryFields are what the body of a query has.
var queryFields = []parameter{
	{name: "sql", kind: "string", required: true, does: "the SQL (DuckDB's dialect); the last statement's rows are the answer"},
	{name: "format", kind: "string", one: formatNames(), does: "by default json"},
}

// query answers with the rows of somebody's SQL, as the program's verb query prints them.
func query(w *work) error {
	var asked struct{ SQL, Format string }
	d := json.NewDecoder(bytes.NewReader(w.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&asked); err != nil {
		return wrong(fmt.Errorf("the body is no {\"sql\": ..., \"format\": ...}: %w", err))
	}
	format := cmp.Or(asked.Format, "json")
	switch {
	case strings.Trim(asked.SQL, "; \t\r\n") == "":
		return wrong(errors.New("there is no SQL"))
	case !slices.Contains(formatNames(), format):
		return wrong(fmt.Errorf("format: there is no %q (one of %s)", format, strings.Join(formatNames(), ", ")))
	}
	db, done, err := w.open(queries.Filter{}, nil)
	if err != nil {
		return err
	}
	defer done()
	conn, err := db.Conn(w.ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	last, err := db.Admit(w.ctx, conn, asked.SQL)
	if err != nil {
		return ofSQL(err)
	}
	if w.empty {
		return ofSQL(describe(w, conn, last))
	}
	for _, advice := range db.Advise(w.ctx, conn, last) {
		w.warn("%s", advice)
	}
	return ofSQL(w.printBy(conn, format, last))
}

// ofSQL says whose mistake an error of somebody's SQL is: theirs, unless it is refused or
// takes too much.
func ofSQL(err error) error {
	var engine *duckdb.Error
	if err == nil || queries.IsRefusal(err) || errors.As(err, &engine) && (engine.Type == duckdb.ErrorTypeOutOfMemory || engine.Type == duckdb.ErrorTypeInternal) {
		return err
	}
	return wrong(err)
}

// unlessEngine says that an error is the mistake of who asks, unless it is the engine's.
func unlessEngine(err error) error {
	if errors.As(err, new(*duckdb.Error)) {
		return err
	}
	return wrong(err)
}
