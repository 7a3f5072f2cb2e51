package suite

import (
	"fmt"
	"path/filepath"
	"strings"

	"stackmill/queries"
	"stackmill/schema"
)

// fromCommits are columns of the table experiments whose values are from commits in the view, so
// that the files may have others.
const fromCommits = "'status', 'path', 'ingested', 'started', 'started_from', 'file_time'"

// RowHashes returns a query for the number of rows in each table and a hash of the rows, whatever
// their order. from returns the FROM clause for a table; "" leaves the table out.
func RowHashes(from func(table *schema.Table) string) string {
	var parts []string
	for _, table := range schema.Tables {
		rows := from(table)
		if rows == "" {
			continue
		}
		columns := "*"
		if table == schema.Experiments {
			columns = "COLUMNS(c -> c NOT IN (" + fromCommits + "))"
		}
		parts = append(parts, fmt.Sprintf("SELECT '%s' AS name, count(*) AS n, sum(hash(t)) AS rows FROM (SELECT %s FROM %s) t HAVING n > 0", table.Name, columns, rows))
	}
	return strings.Join(parts, "\nUNION ALL ") + "\nORDER BY name"
}

// OfFiles returns a function for RowHashes that reads tables from their files in a local store.
func OfFiles(store string) func(*schema.Table) string {
	return func(table *schema.Table) string {
		files, _ := filepath.Glob(filepath.Join(store, "tables", table.Name, "*.parquet")) // the pattern is valid
		if len(files) == 0 {
			return ""
		}
		return queries.ReadParquet(files)
	}
}
