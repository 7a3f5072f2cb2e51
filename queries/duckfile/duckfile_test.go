package duckfile_test

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"

	"stackmill/queries/duckfile"
)

// template returns what the engine makes of statements.
func template(t *testing.T, statements ...string) (*duckfile.Template, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "template")
	run(t, path, append(statements, "CHECKPOINT")...)
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return duckfile.NewTemplate(file)
}

// usual is a template with a view and a macro that has a hole.
func usual(t *testing.T) *duckfile.Template {
	made, err := template(t, "CREATE TABLE t (a INTEGER)", "CREATE VIEW v AS SELECT count(*) AS n FROM query('FROM t')", "DROP TABLE t", "COMMENT ON VIEW v IS 'what it is'",
		"CREATE MACRO m(used := true) AS TABLE FROM query(IF(used, '"+duckfile.Hole("m")+"', ''))")
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func open(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("duckdb", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// run runs statements in a database and closes it.
func run(t *testing.T, path string, statements ...string) {
	t.Helper()
	db := open(t, path)
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// expect compares the only value of queries.
func expect(t *testing.T, db *sql.DB, answers map[string]string) {
	t.Helper()
	for query, want := range answers {
		var got string
		if err := db.QueryRow(query).Scan(&got); err != nil || got != want {
			t.Errorf("%s: %q, want %q (%v)", query, got, want, err)
		}
	}
}

var since = time.Date(2026, 1, 1, 0, 0, 0, 123000, time.UTC)

// table returns a table of n rows in which each value can be computed from its number.
func table(t *testing.T, name string, n int) *duckfile.Table {
	t.Helper()
	made, err := duckfile.NewTable(name, duckfile.Column{Name: "no", Type: "INTEGER"}, duckfile.Column{Name: "label", Type: "VARCHAR"},
		duckfile.Column{Name: "made", Type: "TIMESTAMPTZ"}, duckfile.Column{Name: "odd", Type: "BOOLEAN"}, duckfile.Column{Name: "same one", Type: "VARCHAR"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		label := strings.Repeat("ä", i%70) + fmt.Sprint(i)
		if err := made.Append(int32(i), label, since.Add(time.Duration(i)*time.Minute), i%2 == 1, ""); err != nil {
			t.Fatal(err)
		}
	}
	return made
}

// write writes a file and returns its path.
func write(t *testing.T, from *duckfile.Template, texts map[string]string, tables ...*duckfile.Table) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := from.Write(f, texts, tables); err != nil {
		t.Fatal(err)
	}
	return path
}

// The engine finds each value of tables of any size, also when it looks at statistics first,
// and what the template has.
func TestTables(t *testing.T) {
	from := usual(t)
	for _, n := range []int{0, 1, 2047, 122_880, 400_000} { // of 122,880 rows is a row group
		path := write(t, from, map[string]string{"m": "SELECT count(*) FROM t"}, table(t, "t", n), table(t, "other", 3))
		db := open(t, path+"?access_mode=read_only")
		size := fmt.Sprint(n)
		expect(t, db, map[string]string{
			"SELECT n FROM v": size,
			"FROM m()":        size,
			"SELECT comment FROM duckdb_views() WHERE view_name = 'v'": "what it is",
			"SELECT count(*) FROM other":                               "3",
			"SELECT max(no) FROM other":                                "2",
			"SELECT string_agg(name, ',') FROM (SELECT table_name AS name FROM duckdb_tables() ORDER BY ALL)": "other,t",
			"SELECT estimated_size FROM duckdb_tables() WHERE table_name = 't'":                               size,
			"SELECT count(DISTINCT no) FROM t":                                                                size,
			"SELECT count(*) FROM t WHERE no IS NOT NULL AND \"same one\" = ''":                               size,
			"SELECT count(*) FROM t WHERE label IS NULL":                                                      "0",
			`SELECT count(*) FROM t WHERE label <> repeat('ä', no % 70) || no OR odd <> (no % 2 = 1)
				OR made <> TIMESTAMPTZ '2026-01-01 00:00:00.000123+00' + to_minutes(no)`: "0",
			"SELECT count(*) FROM t WHERE odd": fmt.Sprint(n / 2),
		})
		for _, i := range []int{0, 1, n / 2, n - 1} {
			if i < 0 || i >= n {
				continue
			}
			want := fmt.Sprint(i)
			expect(t, db, map[string]string{
				fmt.Sprintf("SELECT no FROM t WHERE no = %d", i):                                                                                                        want,
				fmt.Sprintf("SELECT no FROM t WHERE label = repeat('ä', %d) || '%d'", i%70, i):                                                                          want,
				fmt.Sprintf("SELECT no FROM t WHERE made = TIMESTAMPTZ '2026-01-01 00:00:00.000123+00' + to_minutes(%d)", i):                                            want,
				fmt.Sprintf("SELECT no FROM t WHERE made BETWEEN '%[1]s' AND '%[1]s'", since.Add(time.Duration(i)*time.Minute).Format("2006-01-02 15:04:05.999999-07")): want,
				fmt.Sprintf("SELECT no FROM t WHERE rowid = %d", i):                                                                                                     want,
			})
		}
	}
}

// The engine can write to a file, too, and what was there stays.
func TestWritable(t *testing.T) {
	path := write(t, usual(t), map[string]string{"m": "SELECT count(*) FROM t"}, table(t, "t", 200_000))
	run(t, path, "INSERT INTO t SELECT no + 200_000, label, made, odd, 'new' FROM t WHERE no < 1000", "DELETE FROM t WHERE no >= 100 AND no < 200",
		"UPDATE t SET label = 'changed' WHERE no = 7", "CREATE TABLE more AS SELECT range AS x FROM range(100_000)", "CHECKPOINT", "DROP TABLE more", "CHECKPOINT")
	expect(t, open(t, path), map[string]string{
		"FROM m()":                              "200900",
		"SELECT sum(no)::BIGINT FROM t":         fmt.Sprint(200_000*199_999/2 - (100+199)*50 + 1000*200_000 + 1000*999/2),
		"SELECT label FROM t WHERE no = 7":      "changed",
		"SELECT count(*) FROM t WHERE no = 111": "0",
		`SELECT count(*) FROM t WHERE no < 200_000 AND no <> 7 AND label <> repeat('ä', no % 70) || no`: "0",
	})
}

// Texts may be of any length in holes, and nearly as long as a block in tables.
func TestLong(t *testing.T) {
	query := "SELECT '" + strings.Repeat("x", 20<<20) + "'"
	long, err := duckfile.NewTable("t", duckfile.Column{Name: "a", Type: "VARCHAR"})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if err := long.Append(strings.Repeat("y", i*2000)); err != nil {
			t.Fatal(err)
		}
	}
	if err := long.Append(strings.Repeat("z", 256<<10)); err == nil {
		t.Error("a text of 256 KiB is taken")
	}
	expect(t, open(t, write(t, usual(t), map[string]string{"m": query}, long)), map[string]string{
		"SELECT length(\"'x'\") FROM m() AS r(\"'x'\")": fmt.Sprint(20 << 20),
		"SELECT count(*) FROM t":                        "100",
		"SELECT sum(length(a))::BIGINT FROM t":          fmt.Sprint(2000 * 99 * 100 / 2),
		"SELECT max(length(a)) FROM t":                  fmt.Sprint(99 * 2000),
	})
}

// What is written is a template as well, and the same one.
func TestTemplateOfTemplate(t *testing.T) {
	var once, again bytes.Buffer
	holes := map[string]string{"m": duckfile.Hole("m")}
	if err := usual(t).Write(&once, holes, nil); err != nil {
		t.Fatal(err)
	}
	from, err := duckfile.NewTemplate(once.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if err := from.Write(&again, holes, nil); err != nil || !bytes.Equal(once.Bytes(), again.Bytes()) {
		t.Errorf("%d bytes, then %d (%v)", once.Len(), again.Len(), err)
	}
}

// A file that is cut or changed is no template.
func TestDamaged(t *testing.T) {
	var whole bytes.Buffer
	if err := usual(t).Write(&whole, map[string]string{"m": duckfile.Hole("m")}, nil); err != nil {
		t.Fatal(err)
	}
	file := whole.Bytes()
	for _, n := range []int{0, 8, 4096, 3 * 4096, 3*4096 + 1, len(file) - 1} {
		if _, err := duckfile.NewTemplate(file[:n]); err == nil {
			t.Errorf("%d bytes are a template", n)
		}
	}
	for _, at := range []int{8, 2*4096 + 16, 2*4096 + 40, 3*4096 + 1, 3*4096 + 100} {
		changed := bytes.Clone(file)
		changed[at] ^= 1
		if _, err := duckfile.NewTemplate(changed); err == nil {
			t.Errorf("a template is one with byte %d changed", at)
		}
	}
}

// What cannot be written is said.
func TestRefused(t *testing.T) {
	for name, test := range map[string]struct {
		statements []string
		texts      map[string]string
	}{
		"no text":          {[]string{"CREATE MACRO m() AS '" + duckfile.Hole("m") + "'"}, nil},
		"another's text":   {[]string{"CREATE MACRO m() AS '" + duckfile.Hole("m") + "'"}, map[string]string{"n": "1"}},
		"no hole":          {[]string{"CREATE MACRO m() AS 1"}, map[string]string{"m": "1"}},
		"not UTF-8":        {[]string{"CREATE MACRO m() AS '" + duckfile.Hole("m") + "'"}, map[string]string{"m": "\xff"}},
		"a part":           {[]string{"CREATE MACRO m() AS 'more than " + duckfile.Hole("m") + "'"}, map[string]string{"m": "1"}},
		"a text of a view": {[]string{"CREATE VIEW v AS SELECT '" + duckfile.Hole("m") + "' AS a"}, map[string]string{"m": "1"}},
	} {
		from, err := template(t, test.statements...)
		if err != nil {
			t.Fatal(name, err)
		}
		if err := from.Write(&bytes.Buffer{}, test.texts, nil); err == nil {
			t.Errorf("%s: it was written", name)
		}
	}
	if _, err := template(t, "CREATE TABLE t (a INTEGER)", "CREATE VIEW v AS FROM t"); err == nil {
		t.Error("a template has a table")
	}
	if _, err := duckfile.NewTable("t", duckfile.Column{Name: "a", Type: "DOUBLE"}); err == nil {
		t.Error("DOUBLE is a type")
	}
	small, err := duckfile.NewTable("t", duckfile.Column{Name: "a", Type: "INTEGER"})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range [][]any{{}, {int32(1), int32(2)}, {"1"}, {true}, {1}, {time.Time{}}, {nil}} {
		if small.Append(row...) == nil {
			t.Errorf("%v is a row", row)
		}
	}
}
