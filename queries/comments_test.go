package queries

import (
	"database/sql"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/queries/storetest"
)

// A catalog's file describes its views and columns to any tool that opens it.
func TestCatalogDescribesItself(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	if err := Publish(store); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("duckdb", filepath.Join(store, CatalogFile)+"?access_mode=read_only")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	own := "('catalog_fingerprint', 'experiment_names', 'experiment_labels', 'batch_files', 'uncounted_experiments')"
	for _, lacking := range []string{
		"SELECT view_name FROM duckdb_views() WHERE NOT internal AND comment IS NULL AND view_name NOT IN " + own,
		"SELECT table_name || '.' || column_name FROM duckdb_columns() WHERE NOT internal AND comment IS NULL AND table_name NOT IN " + own,
		"SELECT function_name FROM duckdb_functions() WHERE NOT internal AND comment IS NULL AND function_type = 'table_macro' AND NOT ends_with(function_name, '_rows')",
	} {
		if found := rows(t, db, lacking); found != nil {
			t.Errorf("without a comment: %s", strings.Join(found, ", "))
		}
	}
	for query, want := range map[string]string{
		"SELECT comment FROM duckdb_views() WHERE view_name = 'function_metrics'":                                  "A row is one function in one experiment, or <Total>." + repeated,
		"SELECT comment FROM duckdb_columns() WHERE table_name = 'function_metrics' AND column_name = 'exclusive'": "The value of the samples whose leaf is in the function (line, instruction, ...) of this row. [the metric's]",
		"SELECT comment LIKE '%three times%' FROM duckdb_functions() WHERE function_name = 'timeline_by'":          "true",
		"SELECT comment LIKE '%three times%' FROM duckdb_functions() WHERE function_name = 'top'":                  "false",
	} {
		if found := rows(t, db, query); len(found) != 1 || found[0] != want {
			t.Errorf("%s: %q, want %q", query, found, want)
		}
	}
}

// Catalogs store queries as text, so that the engine need not parse them to open a catalog.
func TestQueriesAreTexts(t *testing.T) {
	db := open(t, storetest.New(t, storetest.Two))
	for _, parsed := range []string{
		"SELECT view_name FROM duckdb_views() WHERE database_name = 'stackmill' AND view_name <> 'catalog_fingerprint' AND NOT contains(sql, 'FROM query(''')",
		"SELECT function_name FROM duckdb_functions() WHERE database_name = 'stackmill' AND ends_with(function_name, '_rows') AND NOT contains(macro_definition, 'FROM query(')",
	} {
		if found := rows(t, db.DB, parsed); found != nil {
			t.Errorf("with a query that is parsed: %s", strings.Join(found, ", "))
		}
	}
}
