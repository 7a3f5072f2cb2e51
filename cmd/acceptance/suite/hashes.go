package suite

import (
	"fmt"
	"path/filepath"
	"strings"

	"stackmill/queries"
	"stackmill/schema"
)

// fromCommits are columns that an experiment's row in a file need not have as the view does.
const fromCommits = "'status', 'path', 'ingested'"

// RowHashes returns a query of the number of rows of each table and a hash of them that does not
// depend on their order. from returns what to select a table's rows from; "" leaves it out.
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

// OfFiles selects a table's rows from its files in a store that is a folder.
func OfFiles(store string) func(*schema.Table) string {
	return func(table *schema.Table) string {
		files, _ := filepath.Glob(filepath.Join(store, "tables", table.Name, "*.parquet")) // the pattern is right
		if len(files) == 0 {
			return ""
		}
		return queries.ReadParquet(files)
	}
}
