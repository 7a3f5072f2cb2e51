package queries

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"stackmill/queries/storetest"
	"stackmill/schema"
)

// ask admits and runs a user's SQL, and reads all rows.
func ask(ctx context.Context, db *DB, conn *sql.Conn, text string) error {
	last, err := db.Admit(ctx, conn, text)
	if err != nil {
		return err
	}
	found, err := conn.QueryContext(ctx, last)
	if err != nil {
		return err
	}
	defer found.Close()
	for found.Next() {
	}
	return found.Err()
}

// content returns the files of a folder by path.
func content(t *testing.T, dir string) map[string]string {
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			all[path] = "a folder"
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = fmt.Sprintf("%x", sha256.Sum256(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestHostileSQL tries to read other files, to write files and to change the engine. The store must
// stay the same, and the next query must get its answer.
func TestHostileSQL(t *testing.T) {
	outside := t.TempDir()
	secret := filepath.Join(outside, "secret.csv")
	if err := os.WriteFile(secret, []byte("word\nhunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	store := storetest.New(t, storetest.Two)
	db := open(t, store)
	hostile := storetest.Targets{Store: store, Secret: secret, Address: "127.0.0.1:1"}.HostileSQL()
	if len(hostile) < 300 {
		t.Errorf("only %d texts", len(hostile))
	}
	before, beside := content(t, store), content(t, outside)
	for _, text := range hostile {
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := ask(t.Context(), db, conn, text); err == nil {
			t.Errorf("admitted: %s", text)
		}
		if err := ask(t.Context(), db, conn, "SELECT count(*) FROM samples"); err != nil {
			t.Errorf("after %s: %v", text, err)
		}
		conn.Close()
	}
	if d := cmp.Diff(before, content(t, store)); d != "" {
		t.Errorf("the store is changed: %s", d)
	}
	if d := cmp.Diff(beside, content(t, outside)); d != "" {
		t.Errorf("files outside: %s", d)
	}
}

// TestMacrosRunNoTexts passes SQL to each macro of the catalog, in all parameters and in each one,
// built so that the statement does not show it. No macro may run it.
func TestMacrosRunNoTexts(t *testing.T) {
	db := open(t, storetest.New(t, storetest.Two))
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	const sql = `'''SELECT 42 AS pla'' || ''nted'''`
	calls := rows(t, db.DB, `WITH macros AS (FROM duckdb_functions() WHERE database_name = 'stackmill' AND function_type = 'table_macro')
SELECT function_name || '(' || array_to_string(list_transform(parameters, lambda p: `+sql+`), ', ') || ')' FROM macros
UNION ALL SELECT function_name || '(' || unnest(parameters) || ' := ' || `+sql+` || ')' FROM macros`)
	ran := 0
	for _, call := range calls {
		last, err := db.Admit(t.Context(), conn, "FROM "+call)
		if err != nil {
			continue
		}
		found, err := conn.QueryContext(t.Context(), last)
		if err != nil {
			continue
		}
		if columns, err := found.Columns(); err != nil || slices.Contains(columns, "planted") {
			t.Errorf("%s: %v %v", call, columns, err)
		}
		found.Close()
		ran++
	}
	if ran < len(schema.Tables) { // each table has a macro whose parameters take any value
		t.Errorf("only %d of %d calls ran", ran, len(calls))
	}
}

// TestUsualSQL runs typical queries.
func TestUsualSQL(t *testing.T) {
	db := open(t, storetest.New(t, storetest.Two))
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, text := range []string{
		"SELECT 1", "FROM samples", "VALUES (1)", "TABLE samples", "WITH a AS (FROM samples) SELECT count(*) FROM a", "SHOW TABLES", "DESCRIBE functions", "SUMMARIZE samples", "PRAGMA show_tables",
		"PRAGMA table_info('functions')", "EXPLAIN FROM functions", "EXPLAIN ANALYZE SELECT count(*) FROM functions", "explain (format json) from functions",
		"PIVOT functions ON kind USING count(*)", "FROM (PIVOT functions ON kind IN ('normal') USING count(*))", "UNPIVOT (SELECT 1 AS a, 2 AS b) ON a, b",
		"-- a remark; with a semicolon\nCREATE OR REPLACE TEMP TABLE t AS FROM functions; /* another; */ SELECT count(*) FROM t;;", "CREATE TEMP VIEW v AS FROM t; FROM v", "CREATE TEMPORARY MACRO twice(x) AS 2 * x; SELECT twice(21)",
		"SELECT 'query; enable_logging' AS \"query;\"", "SELECT function FROM function_metrics WHERE function = 'enable_profiling'", "FROM timeline_by(1000000000)", "SELECT E'it\\'s; fine'", "SELECT $$;$$, $q$;$q$",
		"CREATE TEMP TABLE queries AS SELECT 'query' AS a", "FROM query_table('samples')", "FROM query('FROM samples')", "SELECT * FROM duckdb_functions() LIMIT 1",
	} {
		if err := ask(t.Context(), db, conn, text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	var refusal *Refusal
	if err := ask(t.Context(), db, conn, "SELECT 1; DROP VIEW samples"); !errors.As(err, &refusal) || refusal.What != "DROP" {
		t.Errorf("DROP: %v", err)
	}
}

// TestUnsafe lets everything through.
func TestUnsafe(t *testing.T) {
	db, err := OpenWith(t.Context(), storetest.New(t, storetest.Two), Options{Unsafe: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	path := filepath.Join(t.TempDir(), "a.csv")
	for _, text := range []string{"SET threads = 1; COPY (SELECT 42 AS a) TO " + quote(path), "FROM " + quote(path)} {
		if err := ask(t.Context(), db, conn, text); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// tableFunctions are the engine's table functions that SQL may call, each reviewed: they read the
// store, memory, or files that they are given.
const tableFunctions = `check_peg_parser checkpoint duckdb_approx_database_count duckdb_columns duckdb_connection_count duckdb_constraints
duckdb_coordinate_systems duckdb_databases duckdb_dependencies duckdb_extensions duckdb_external_file_cache duckdb_functions duckdb_indexes duckdb_keywords
duckdb_log_contexts duckdb_logs duckdb_logs_parsed duckdb_memory duckdb_optimizers duckdb_prepared_statements duckdb_profiling_settings duckdb_schemas duckdb_secret_types duckdb_secrets
duckdb_sequences duckdb_settings duckdb_table_sample duckdb_tables duckdb_temporary_files duckdb_types duckdb_variables duckdb_views force_checkpoint generate_series
glob histogram histogram_values icu_calendar_names json_each json_tree parquet_bloom_probe parquet_file_metadata parquet_full_metadata parquet_kv_metadata
parquet_metadata parquet_scan parquet_schema pg_timezone_names pragma_collations pragma_database_size pragma_metadata_info pragma_platform pragma_show
pragma_storage_info pragma_table_info pragma_user_agent pragma_version query_table range read_blob read_csv read_csv_auto read_duckdb read_json read_json_auto
read_json_objects read_json_objects_auto read_ndjson read_ndjson_auto read_ndjson_objects read_parquet read_text repeat repeat_row seq_scan sniff_csv
sql_auto_complete summary test_all_types test_vector_types unnest which_secret`

// A new version of the engine may have more functions that do more than read.
func TestTableFunctionsAreKnown(t *testing.T) {
	db := open(t, storetest.New(t, storetest.Two))
	known := append(strings.Fields(tableFunctions), append(slices.Clone(steering), runsText, runsJSON)...)
	for _, table := range schema.Tables {
		known = append(known, rowsName(table), table.Name+"_unfiltered_rows")
	}
	views, err := Views()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range views {
		known = append(known, v.Name)
	}
	for _, name := range rows(t, db.DB, "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type IN ('table', 'table_macro') ORDER BY ALL") {
		if !slices.Contains(known, name) {
			t.Errorf("table function %s: does it do more than read?", name)
		}
	}
}

// TestEngineIsLocked checks the settings of a second connection, and the temporary directory while
// the engine is open and afterwards.
func TestEngineIsLocked(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	db, err := OpenWith(t.Context(), storetest.New(t, storetest.Two), Options{Limits: Limits{Memory: 64 << 20, Threads: 2}})
	if err != nil {
		t.Fatal(err)
	}
	first, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"enable_external_access": "false", "lock_configuration": "true", "autoload_known_extensions": "false", "autoinstall_known_extensions": "false",
		"threads": "2", "memory_limit": "64.0 MiB", "max_temp_directory_size": "256.0 MiB", "TimeZone": "UTC", "allow_persistent_secrets": "false",
	} {
		if got := rows(t, db.DB, "SELECT current_setting("+quote(name)+")"); got[0] != want {
			t.Errorf("%s is %s, want %s", name, got[0], want)
		}
	}
	dirs, err := os.ReadDir(temp)
	if err != nil || len(dirs) != 1 {
		t.Fatal(dirs, err)
	}
	if info, err := dirs[0].Info(); err != nil || info.Mode() != fs.ModeDir|0o700 {
		t.Errorf("the temporary directory: %v, %v", info.Mode(), err)
	}
	if err := errors.Join(first.Close(), db.Close()); err != nil {
		t.Error(err)
	}
	if dirs, _ := os.ReadDir(temp); len(dirs) > 0 {
		t.Errorf("%s is left", dirs[0].Name())
	}
}

// A locked engine reads stores with any name.
func TestLockedStoreNames(t *testing.T) {
	for _, name := range []string{"it's", "a[b]*c?", "x;y", `q"uo\te`, "dürr \u202e", "a/../b"} {
		dir := filepath.Join(t.TempDir(), name)
		if err := storetest.Build(dir, storetest.Two); err != nil {
			t.Fatal(err)
		}
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(dir, link); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{dir, link} {
			db := open(t, path)
			if got := rows(t, db.DB, "SELECT count(*) FROM samples"); got[0] != "11" {
				t.Errorf("%s: %s samples", path, got[0])
			}
		}
	}
}

// The statements that split returns, joined, are the text.
func TestSplit(t *testing.T) {
	for text, want := range map[string][]string{
		"": nil, " ; ;": nil, "a;b": {"a", "b"}, "a ';' b;c": {"a ';' b", "c"}, `"a;";b`: {`"a;"`, "b"}, "-- x;\na": {"a"}, "a -- x;\n;b": {"a -- x;", "b"},
		"/* ; /* ; */ ; */ a": {"a"}, "a $$;$$ b": {"a $$;$$ b"}, "$t$;$$;$t$;b": {"$t$;$$;$t$", "b"}, `E'\';';b`: {`E'\';'`, "b"}, `'\';b`: {`'\'`, "b"},
		"a$b;c$d": {"a$b", "c$d"}, "$1;a": {"$1", "a"}, "'open; a": {"'open; a"}, "/* open; a": nil, "it''s;a": {"it''s", "a"},
	} {
		if d := cmp.Diff(want, split(text)); d != "" {
			t.Errorf("%q: %s", text, d)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[;'"$aE\\*/\n -]*`).Draw(t, "text")
		for _, s := range split(text) {
			if !strings.Contains(text, s) || strings.TrimSpace(s) != s || s == "" {
				t.Fatalf("%q: %q", text, s)
			}
		}
	})
}
