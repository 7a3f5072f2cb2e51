package queries

import (
	"database/sql"
	"fmt"
	"strings"

	duckdb "github.com/duckdb/duckdb-go/v2"
)

// AtMost returns an admitted statement with a limit of its rows, if it is a query: the engine's
// driver computes all rows before it gives the first.
func AtMost(conn *sql.Conn, statement string, rows int) string {
	limited := fmt.Sprintf("SELECT * FROM (%s\n) LIMIT %d", strings.TrimRight(statement, "; \t\r\n"), rows)
	if kind, err := kindOf(conn, limited); err != nil || kind != duckdb.STATEMENT_TYPE_SELECT {
		return statement // it explains, or makes something
	}
	return limited
}
