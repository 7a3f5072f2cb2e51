package serve

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"

	"stackmill/queries"
)

// queryFields are the fields of the JSON body of a request with SQL.
var queryFields = []parameter{
	{name: "sql", kind: "string", required: true, doc: "SQL in DuckDB's dialect; the answer has the rows of the last statement"},
	{name: "format", kind: "string", enum: formatNames(), doc: "by default json"},
}

// runQuery answers with the rows of the request's SQL, as `stackmill query` prints them.
func runQuery(w *job) error {
	var asked struct{ SQL, Format string }
	d := json.NewDecoder(bytes.NewReader(w.body))
	d.DisallowUnknownFields()
	if err := d.Decode(&asked); err != nil {
		return badRequest(fmt.Errorf("the body is not {\"sql\": ..., \"format\": ...}: %w", err))
	}
	if _, err := d.Token(); err != io.EOF {
		return badRequest(errors.New("the body has more than one {\"sql\": ..., \"format\": ...}"))
	}
	format := cmp.Or(asked.Format, "json")
	switch {
	case strings.Trim(asked.SQL, "; \t\r\n") == "":
		return badRequest(errors.New("the field sql is empty"))
	case !slices.Contains(formatNames(), format):
		return badRequest(fmt.Errorf("unknown format %q (choose one of %s)", format, strings.Join(formatNames(), ", ")))
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
		return sqlError(err)
	}
	if w.columnsOnly {
		return sqlError(writeColumns(w, conn, last))
	}
	for _, advice := range db.Advise(w.ctx, conn, last) {
		w.warn("%s", advice)
	}
	return sqlError(w.printRows(db, conn, format, last))
}

// describeSQL answers with the catalog for SQL: views, tables and macros with their columns, and the engine's
// functions.
func describeSQL(w *job) error {
	views, err := queries.Views()
	if err != nil {
		return err
	}
	type column struct {
		Name    string `json:"name"`
		Type    string `json:"type"`
		Unit    string `json:"unit"`
		Meaning string `json:"meaning"`
	}
	type relation struct {
		Name       string   `json:"name"`
		Kind       string   `json:"kind"` // view, macro or table
		Row        string   `json:"row"`
		Parameters []column `json:"parameters,omitempty"`
		Columns    []column `json:"columns"`
	}
	columnsOf := func(of []queries.Column) []column {
		list := make([]column, len(of))
		for i, c := range of {
			list[i] = column{c.Name, c.Type, c.Unit, c.Doc}
		}
		return list
	}
	all := make([]relation, 0, 2*len(views))
	for _, v := range views {
		r := relation{Name: v.Name, Kind: "view", Row: v.Row, Columns: columnsOf(v.Columns)}
		if v.Parameters != nil {
			r.Kind, r.Parameters = "macro", columnsOf(v.Parameters)
		}
		all = append(all, r)
	}
	for _, r := range queries.Relations() {
		kind := "table"
		if r.Wide {
			kind = "view"
		}
		all = append(all, relation{Name: r.Name, Kind: kind, Row: r.Row, Columns: columnsOf(r.Columns)})
	}
	db, done, err := w.open(queries.Filter{}, nil)
	if err != nil {
		return err
	}
	defer done()
	functions, err := db.Texts(w.ctx, `SELECT DISTINCT function_name FROM duckdb_functions()
WHERE internal AND function_type IN ('scalar', 'aggregate', 'macro', 'table_macro') AND regexp_full_match(function_name, '[a-z][a-z0-9_]*') ORDER BY ALL`)
	if err != nil {
		return err
	}
	return w.writeJSON(map[string]any{"relations": all, "functions": functions})
}

// sqlError treats an error of a request's SQL as the client's mistake, unless the server refused the SQL, ran out of
// memory or lacks a file.
func sqlError(err error) error {
	var engine *duckdb.Error
	if err == nil || queries.IsRefusal(err) || queries.FindLostFile(err) != nil || errors.As(err, &engine) && (engine.Type == duckdb.ErrorTypeOutOfMemory || engine.Type == duckdb.ErrorTypeInternal) {
		return err
	}
	return badRequest(err)
}

// requestError treats an error as the client's mistake, unless it comes from the SQL engine.
func requestError(err error) error {
	if err == nil || errors.As(err, new(*duckdb.Error)) {
		return err
	}
	return badRequest(err)
}
