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
	Columns               *arrow.Schema // what they mean is the metadata `comment`
}

// Tables returns all that SQL can read by name, ordered by it, when it is its turn, and what
// readers should know, as the header Stackmill-Warning has it.
func (s *Server) Tables(ctx context.Context) (tables []Table, warnings string, err error) {
	turn, err := s.turns.take(ctx)
	if err != nil {
		return nil, "", err
	}
	defer turn()
	ctx, cancel := context.WithTimeoutCause(ctx, s.Timeout, late(s.Timeout))
	defer cancel()
	store, err := s.shelf.pin(ctx, false)
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
		t := columns[0].of
		n := slices.IndexFunc(columns, func(c column) bool { return c.of != t })
		if n < 0 {
			n = len(columns)
		}
		fields := make([]arrow.Field, n)
		for i, c := range columns[:n] {
			fields[i] = arrow.Field{Name: c.name, Type: types[c.kind], Nullable: true}
			if c.means != "" {
				fields[i].Metadata = arrow.NewMetadata([]string{"comment"}, []string{c.means})
			}
		}
		t.Columns = arrow.NewSchema(fields, nil)
		tables, columns = append(tables, t), columns[n:]
	}
	return tables, joinWarnings(store.leftOut()), nil
}

// column is one of a table's, whose own columns are not set.
type column struct {
	of                Table
	name, kind, means string // kind is the type's name in SQL
}

// listColumns returns the columns of all tables, in their order.
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
		if err := rows.Scan(&c.of.Catalog, &c.of.Schema, &c.of.Name, &c.of.Kind, &c.name, &c.kind, &c.means); err != nil {
			return nil, err
		}
		columns = append(columns, c)
	}
	return columns, rows.Err()
}

// typesOf returns what the types of columns are in Arrow, by their names in SQL.
func typesOf(ctx context.Context, conn *sql.Conn, columns []column) (map[string]arrow.DataType, error) {
	types := map[string]arrow.DataType{}
	for _, c := range columns {
		types[c.kind] = nil
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
