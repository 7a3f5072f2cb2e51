package serve

import (
	"context"
	"database/sql"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// Table is a view or a table that SQL can read.
type Table struct {
	Catalog, Schema, Name string
	Kind                  string        // VIEW or BASE TABLE
	Columns               *arrow.Schema // the metadata `comment` of a field has its description
}

// Tables returns all tables and views, sorted by name, and warnings in the form of the header Stackmill-Warning. It
// counts as a request for the limit of concurrent requests.
func (s *Server) Tables(ctx context.Context) (tables []Table, warnings string, err error) {
	turn, err := s.limiter.acquire(ctx)
	if err != nil {
		return nil, "", err
	}
	defer turn()
	ctx, cancel := context.WithTimeoutCause(ctx, s.Timeout, timedOut(s.Timeout))
	defer cancel()
	store, err := s.store.pin(ctx, false)
	if err != nil {
		return nil, "", err
	}
	defer store.release()
	conn, err := store.whole.db.Conn(ctx)
	if err != nil {
		return nil, "", err
	}
	defer conn.Close()
	columns, err := listColumns(ctx, conn)
	if err != nil {
		return nil, "", err
	}
	types, err := typesOf(ctx, conn, columns)
	if err != nil {
		return nil, "", err
	}
	for len(columns) > 0 {
		t := columns[0].table
		n := slices.IndexFunc(columns, func(c column) bool { return c.table != t })
		if n < 0 {
			n = len(columns)
		}
		fields := make([]arrow.Field, n)
		for i, c := range columns[:n] {
			fields[i] = arrow.Field{Name: c.name, Type: types[c.sqlType], Nullable: true}
			if c.comment != "" {
				fields[i].Metadata = arrow.NewMetadata([]string{"comment"}, []string{c.comment})
			}
		}
		t.Columns = arrow.NewSchema(fields, nil)
		tables, columns = append(tables, t), columns[n:]
	}
	return tables, joinWarnings(store.leftOut()), nil
}

// column is a column of a table. Its copy of the table has no Columns.
type column struct {
	table                  Table
	name, sqlType, comment string
}

// listColumns returns the columns of all tables, sorted by table.
func listColumns(ctx context.Context, conn *sql.Conn) (columns []column, err error) {
	rows, err := conn.QueryContext(ctx, `SELECT t.table_catalog, t.table_schema, t.table_name, t.table_type, c.column_name, c.data_type, coalesce(c.comment, '')
FROM information_schema.tables t
JOIN duckdb_columns() c ON c.database_name = t.table_catalog AND c.schema_name = t.table_schema AND c.table_name = t.table_name
ORDER BY t.table_catalog, t.table_schema, t.table_name, c.column_index`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var c column
		if err := rows.Scan(&c.table.Catalog, &c.table.Schema, &c.table.Name, &c.table.Kind, &c.name, &c.sqlType, &c.comment); err != nil {
			return nil, err
		}
		columns = append(columns, c)
	}
	return columns, rows.Err()
}

// typesOf maps the SQL types of columns to Arrow types.
func typesOf(ctx context.Context, conn *sql.Conn, columns []column) (map[string]arrow.DataType, error) {
	types := map[string]arrow.DataType{}
	for _, c := range columns {
		types[c.sqlType] = nil
	}
	names := slices.Sorted(maps.Keys(types))
	if len(names) == 0 {
		return types, nil
	}
	values := make([]string, len(names))
	for i, name := range names {
		values[i] = "NULL::" + name
	}
	empty, err := columnsOf(ctx, conn, "SELECT "+strings.Join(values, ", ")+" LIMIT 0")
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		types[name] = empty.Field(i).Type
	}
	return types, nil
}
