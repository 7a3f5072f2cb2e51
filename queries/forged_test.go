package queries

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackmill/queries/storetest"
	"stackmill/schema/storedir"
)

// SQL reads no file outside of a store, whatever its commits, catalog or links name.
func TestForgedStores(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "id_rsa")
	const word = "hunter2"
	if err := os.WriteFile(secret, []byte(word), 0o600); err != nil {
		t.Fatal(err)
	}
	const batch = "00000000000000aa"
	samples := storedir.FilePath("samples", batch)
	forgedCatalog := func(t *testing.T, store string) {
		store, c, _, err := readCommits(store, nil)
		if err != nil {
			t.Fatal(err)
		}
		d, forged := define(store, c.Batches, experimentsOf(c.Batches), columnForm{}), *c
		forged.Batches = slices.Clone(c.Batches)
		relative, err := filepath.Rel(store, secret)
		if err != nil {
			t.Fatal(err)
		}
		forged.Batches[0].Files = append(slices.Clone(c.Batches[0].Files), storedir.File{Table: "samples", Path: relative})
		other := define(store, forged.Batches, experimentsOf(c.Batches), columnForm{})
		other.fingerprint = d.fingerprint
		if err := publish(store, other); err != nil {
			t.Fatal(err)
		}
	}
	for name, forge := range map[string]func(t *testing.T, store string){
		"a commit": func(t *testing.T, store string) {
			rewrite(t, store, batch, func(c *storedir.Commit) {
				relative, err := filepath.Rel(store, secret)
				if err != nil {
					t.Fatal(err)
				}
				c.Files = append(c.Files, storedir.File{Table: "samples", Path: relative})
			})
		},
		"a link": func(t *testing.T, store string) {
			if err := errors.Join(os.Remove(filepath.Join(store, samples)), os.Symlink(secret, filepath.Join(store, samples))); err != nil {
				t.Fatal(err)
			}
		},
		"a folder": func(t *testing.T, store string) {
			dir := filepath.Join(store, "tables", "samples")
			if err := errors.Join(os.RemoveAll(dir), os.Symlink(filepath.Dir(secret), dir), os.Link(secret, filepath.Join(filepath.Dir(secret), batch+".parquet"))); err != nil {
				t.Fatal(err)
			}
		},
		"a catalog": forgedCatalog,
	} {
		store := storetest.New(t, storetest.Two)
		forge(t, store)
		for range 2 { // the second time with the catalog that the first one left
			db := open(t, store)
			conn, err := db.Conn(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{secret, store + "/" + samples, store + "/tables/samples/../../" + filepath.Base(secret)} {
				var text string
				if err := conn.QueryRowContext(t.Context(), "SELECT content FROM read_text("+quote(path)+")").Scan(&text); err == nil && strings.Contains(text, word) {
					t.Errorf("%s: %s is read", name, path)
				}
			}
			if paths, err := db.Texts(t.Context(), "SELECT unnest(current_setting('allowed_paths'))::VARCHAR"); err != nil || slices.ContainsFunc(paths, func(p string) bool { return strings.Contains(p, "..") || p == secret }) || len(paths) == 0 {
				t.Errorf("%s: it may open %q, %v", name, paths, err)
			}
			conn.Close()
			db.Close()
		}
		proof, err := Check(t.Context(), store, CheckOptions{})
		if err != nil || len(proof.Wrong) == 0 {
			t.Errorf("%s: check finds %v, %v", name, proof, err)
		}
		if strings.HasPrefix(name, "a link") {
			if _, err := OpenWith(t.Context(), store, Options{Unsafe: true}); !errors.Is(err, storedir.ErrNotRegular) {
				t.Errorf("%s, unsafe: %v", name, err)
			}
		}
	}
}

// The error of a query that needs a missing file of the store is a LostFile, not a Refusal.
func TestLostFiles(t *testing.T) {
	for _, dir := range []string{"plain", "it's [a] *store*", "two\nlines"} {
		store := filepath.Join(t.TempDir(), dir)
		if err := storetest.Build(store, storetest.Two); err != nil {
			t.Fatal(err)
		}
		lost := filepath.Join(store, storedir.FilePath("samples", "00000000000000aa"))
		if err := os.Remove(lost); err != nil {
			t.Fatal(err)
		}
		db := open(t, store)
		_, err := db.Texts(t.Context(), "SELECT sum(sample) FROM samples")
		if found := FindLostFile(err); found == nil || found.Path != lost || IsRefusal(err) {
			t.Errorf("%s: %v, of %v", dir, found, err)
		}
		for _, other := range []string{"FROM read_text('/etc/passwd')", "FROM '/etc/tables/secret/0123456789abcdef.parquet'"} {
			if _, err := db.Texts(t.Context(), other); FindLostFile(err) != nil || !IsRefusal(err) {
				t.Errorf("%s: %v", other, err)
			}
		}
	}
}
