package export

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/queries"
	"stackmill/queries/lake"
	"stackmill/queries/lake/ducklake"
)

// readDuckLake reads all tables of a lake by the queries in DuckLake's specification ("Reading
// Data", and for mappings of names).
func readDuckLake(t *testing.T, folder string) map[string]content {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	list := func(columns int, query string, args ...any) (rows [][]string) {
		t.Helper()
		found, err := db.QueryContext(t.Context(), query, args...)
		if err != nil {
			t.Fatalf("%v\n%s", err, query)
		}
		defer found.Close()
		for found.Next() {
			row, to := make([]sql.NullString, columns), make([]any, columns)
			for i := range row {
				to[i] = &row[i]
			}
			if err := found.Scan(to...); err != nil {
				t.Fatal(err)
			}
			var texts []string
			for _, v := range row {
				texts = append(texts, v.String)
			}
			rows = append(rows, texts)
		}
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
		return rows
	}
	if _, err := db.ExecContext(t.Context(), "ATTACH "+queries.Quote(filepath.Join(folder, ducklake.File))+" AS lake (READ_ONLY); USE lake"); err != nil {
		t.Fatal(err)
	}
	one := func(query string, args ...any) string { return list(1, query, args...)[0][0] }
	if version := one("SELECT value FROM ducklake_metadata WHERE key = 'version'"); version != "1.0" {
		t.Errorf("version %s", version)
	}
	snapshot := one("SELECT snapshot_id FROM ducklake_snapshot WHERE snapshot_id = (SELECT max(snapshot_id) FROM ducklake_snapshot)")
	now := func(table string) string {
		return fmt.Sprintf("(%s >= %[2]s.begin_snapshot AND (%[1]s < %[2]s.end_snapshot OR %[2]s.end_snapshot IS NULL))", snapshot, table)
	}
	schema := list(2, "SELECT schema_id, schema_name FROM ducklake_schema WHERE "+now("ducklake_schema"))
	if len(schema) != 1 || schema[0][1] != "main" {
		t.Fatalf("schemas %v", schema)
	}
	all := map[string]content{}
	for _, table := range list(2, "SELECT table_id, table_name FROM ducklake_table WHERE schema_id = ? AND "+now("ducklake_table"), schema[0][0]) {
		var columns []lake.Column
		for _, c := range list(2, "SELECT column_name, column_type FROM ducklake_column WHERE table_id = ? AND parent_column IS NULL AND "+now("ducklake_column")+" ORDER BY column_order", table[0]) {
			columns = append(columns, lake.Column{Name: c[0], Type: c[1]})
		}
		var parts []string
		for _, f := range list(5, `SELECT data.path, del.path, data.record_count, del.delete_count, data.mapping_id
			FROM ducklake_data_file AS data
			LEFT JOIN (SELECT * FROM ducklake_delete_file WHERE `+now("ducklake_delete_file")+`) AS del USING (data_file_id)
			WHERE data.table_id = ? AND `+now("data")+` ORDER BY file_order`, table[0]) {
			var names []string
			for _, m := range list(2, `SELECT m.source_name, c.column_name FROM ducklake_column_mapping JOIN ducklake_name_mapping m USING (mapping_id)
				JOIN ducklake_column c ON c.table_id = ducklake_column_mapping.table_id AND c.column_id = m.target_field_id
				WHERE mapping_id = ? AND type = 'map_by_name' ORDER BY c.column_order`, f[4]) {
				names = append(names, fmt.Sprintf(`"%s" AS "%s"`, m[0], m[1]))
			}
			deleted := ""
			if f[1] != "" {
				deleted = " WHERE file_row_number NOT IN (SELECT pos FROM " + queries.ReadParquet([]string{f[1]}) + ")"
				if n := one("SELECT count(*) FROM " + queries.ReadParquet([]string{f[1]}) + " WHERE file_path = " + queries.Quote(f[0])); n != f[3] {
					t.Errorf("%s: %s rows are deleted, the catalog says %s", f[0], n, f[3])
				}
			}
			from := queries.ReadParquet([]string{f[0]}, "file_row_number = true")
			if n := one("SELECT count(*) FROM " + from); n != f[2] {
				t.Errorf("%s: %s rows, the catalog says %s", f[0], n, f[2])
			}
			parts = append(parts, "SELECT "+strings.Join(names, ", ")+" FROM "+from+deleted)
		}
		if len(parts) == 0 {
			all[table[1]] = content{Table: table[1], Columns: map[string]int64{}}
			continue
		}
		all[table[1]] = sums(t, db, table[1], "("+strings.Join(parts, " UNION ALL ")+")", columns)
	}
	return all
}
