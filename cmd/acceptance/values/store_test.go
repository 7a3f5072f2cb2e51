package values

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/cespare/xxhash/v2"

	"stackmill/queries"
	"stackmill/schema"
	"stackmill/schema/parquetfile"
	"stackmill/schema/storedir"
)

// row is a row of a file, as a list of values.
type row []any

// read returns the rows of a store's only file of a table, none if there is no file.
func read(t *testing.T, store string, table *schema.Table) (rows []row) {
	t.Helper()
	_, file := commitOf(t, store, table)
	if file == nil {
		return nil
	}
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	found, err := db.Query("FROM " + queries.ReadParquet([]string{filepath.Join(store, file.Path)}))
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	for found.Next() {
		r, targets := make(row, len(table.Columns)), make([]any, len(table.Columns))
		for i := range r {
			targets[i] = &r[i]
		}
		if err := found.Scan(targets...); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, r)
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return rows
}

// commitOf returns the commit of a store with one batch, and its entry for a table's file.
func commitOf(t *testing.T, store string, table *schema.Table) (c storedir.Commit, file *storedir.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(store, storedir.CommitsDir, "*.json"))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	name := filepath.Base(names[0])
	if c, err = storedir.ReadCommit(store, name[:len(name)-len(".json")]); err != nil {
		t.Fatal(err)
	}
	if i := slices.IndexFunc(c.Files, func(f storedir.File) bool { return f.Table == table.Name }); i >= 0 {
		file = &c.Files[i]
	}
	return c, file
}

// write replaces the rows of a table's file, as if the new ones had been written at first.
func write(t *testing.T, store string, table *schema.Table, rows []row) {
	t.Helper()
	data := encoded(t, table, rows)
	c, file := commitOf(t, store, table)
	file.Rows, file.Bytes, file.Checksum = int64(len(rows)), int64(len(data)), storedir.Checksum(xxhash.Sum64(data))
	replace(t, filepath.Join(store, file.Path), data)
	commit, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	replace(t, filepath.Join(store, storedir.CommitsDir, c.Batch+".json"), commit)
}

// replace replaces a file by a new one, without changing the old one: that may have other names
// (links).
func replace(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := errors.Join(os.Remove(name), os.WriteFile(name, data, 0o644)); err != nil {
		t.Fatal(err)
	}
}

// encoded returns the content of a table's file with these rows.
func encoded(t *testing.T, table *schema.Table, rows []row) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := parquetfile.New(&out, table, parquetfile.Quick, storedir.VersionKey, schema.StoreVersion)
	if err != nil {
		t.Fatal(err)
	}
	if table.Has(schema.ListedIn) {
		w.SetBatch(rows[0][table.Index(schema.ListedIn)].(string))
	}
	for len(rows) > 0 {
		first := rows[0][0].(string)
		n := 1
		for n < len(rows) && rows[n][0] == first {
			n++
		}
		builder := schema.NewRows(table, first, func(_ *schema.Table, batch arrow.RecordBatch) error { return w.Write(batch) })
		for _, r := range rows[:n] {
			builder.Append(r[1:]...)
		}
		err = errors.Join(err, builder.Close())
		rows = rows[n:]
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// linked returns a store with links to another one's files.
func linked(t *testing.T, store string) string {
	t.Helper()
	to, err := os.MkdirTemp(t.TempDir(), "store")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(store, func(path string, d fs.DirEntry, err error) error {
		name, rerr := filepath.Rel(store, path)
		switch {
		case err != nil || rerr != nil:
			return errors.Join(err, rerr)
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		}
		return os.Link(path, filepath.Join(to, name))
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// change is a change of a table's rows.
type change struct {
	what string
	rows []row
}

// changesAt returns the changes of one row and of each of its values.
func changesAt(table *schema.Table, rows []row, at int) (list []change) {
	add := func(what string, changed ...row) {
		list = append(list, change{what, slices.Concat(rows[:at], changed, rows[at+1:])})
	}
	add("dropped")
	add("doubled", rows[at], rows[at])
	for i, c := range table.Columns {
		if c.Name == "experiment_id" || c.Name == "detail" { // detail only has further words
			continue
		}
		other := slices.Clone(rows[at])
		with := func(v any) row { other = slices.Clone(other); other[i] = v; return other }
		switch v := rows[at][i].(type) {
		case int32:
			add(c.Name+" + 1", with(v+1))
		case int64:
			add(c.Name+" + 1", with(v+1))
		case bool:
			add(c.Name+" flipped", with(!v))
		case string:
			texts := map[string]bool{"other": true}
			for _, r := range rows {
				if s, ok := r[i].(string); ok {
					texts[s] = true
				}
			}
			delete(texts, v)
			add(c.Name+" another", with(slices.Min(slices.Collect(maps.Keys(texts)))))
		case nil:
			add(c.Name+" given", with(map[schema.Type]any{schema.Int32: int32(1), schema.Int64: int64(1), schema.String: "other", schema.Label: "other"}[c.Type]))
		default:
			add(fmt.Sprintf("%s of type %T", c.Name, v), rows[at])
		}
	}
	return list
}
