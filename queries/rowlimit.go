package queries

import (
	"database/sql"
	"fmt"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"
)

// AtMost returns an admitted statement with a limit on its rows if it is a query: the driver
// computes all rows before it returns the first.
func AtMost(conn *sql.Conn, statement string, rows int) string {
	limited := fmt.Sprintf("SELECT * FROM (%s\n) LIMIT %d", strings.TrimRight(statement, "; \t\r\n"), rows)
	if kind, err := kindOf(conn, limited); err != nil || kind != duckdb.STATEMENT_TYPE_SELECT {
		return statement // EXPLAIN or CREATE
	}
	return limited
}
