package faults

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/internal/testfiles"
	"stackmill/queries"
	"stackmill/schema"
	"stackmill/schema/storedir"
)

// flips is how many bits are flipped.
var flips = flag.Int("flips", 0, "how many bits TestFlips flips: 10, or 1,000 with -long, if 0")

// selective are queries that let the SQL engine skip row groups because of their statistics.
var selective = []string{
	"SELECT count(*) AS n, sum(value) AS value FROM stack_values WHERE value > 0",
	"SELECT count(*) AS n FROM samples WHERE time_ns BETWEEN 0 AND 1000000000000",
	"SELECT sum(exclusive) AS n FROM function_metrics WHERE mode = 'user' AND exclusive > 0 AND address >= 0",
	"SELECT count(*) AS n FROM functions WHERE name > 'a' AND name < 'z'",
}

// answers reads all tables of a store and some views. said is the reader's error, or the remarks on
// what is left out.
func answers(t *testing.T, store string) (text, said string) {
	t.Helper()
	db, err := queries.Open(t.Context(), store)
	if err != nil {
		return "", err.Error()
	}
	defer db.Close()
	var b strings.Builder
	views := []string{"function_metrics", "callers_callees", "labels", "experiment_names", "batch_files"}
	for _, table := range schema.Tables {
		views = append(views, table.Name)
	}
	for _, view := range views {
		var rows, sum string
		if err := db.QueryRowContext(t.Context(), fmt.Sprintf("SELECT count(*)::VARCHAR, coalesce(bit_xor(hash(%[1]s)), 0)::VARCHAR FROM %[1]s", view)).Scan(&rows, &sum); err != nil {
			return "", view + ": " + err.Error()
		}
		fmt.Fprintf(&b, "%s %s %s\n", view, rows, sum)
	}
	for _, query := range selective {
		all, err := db.Records(t.Context(), query)
		if err != nil {
			return "", query + ": " + err.Error()
		}
		fmt.Fprintln(&b, all)
	}
	return b.String(), strings.Join(db.LeftOut(), "\n")
}

// A flipped bit in any file of a store, or of the cache of load objects, causes an error or a remark,
// or changes no answer.
func TestFlips(t *testing.T) {
	b := newBench(t)
	n := *flips
	switch {
	case n == 0 && *long:
		n = 1000
	case n == 0:
		n = 10
	}
	from, err := reference()
	if err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(t.TempDir(), "store")
	if err := os.CopyFS(store, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	if err := queries.Publish(store); err != nil {
		t.Fatal(err)
	}
	want, said := answers(t, store)
	if said != "" {
		t.Fatal(said)
	}
	random := rand.New(rand.NewPCG(1, uint64(n)))
	kinds := []string{storedir.CommitsDir + "/*.json", storedir.TablesDir + "/*/*.parquet", queries.CatalogFile, queries.CatalogFile}
	told, harmless := map[string]int{}, map[string]int{}
	for i := range n {
		kind := kinds[i%len(kinds)]
		file := flip(t, random, filepath.Join(store, kind))
		injected.Add(1)
		got, said := answers(t, store)
		switch {
		case said != "":
			told[kind]++
		case got == want:
			harmless[kind]++
		default:
			t.Errorf("%s: bit %d of %d: other answers, without a word", file.path, file.bit, 8*len(file.content))
		}
		file.restore(t)
	}
	t.Logf("%d flips: told %v, harmless %v", n, told, harmless)
	cached := *b
	cached.cache = filepath.Join(t.TempDir(), "cache")
	if err := os.CopyFS(cached.cache, os.DirFS(b.cache)); err != nil {
		t.Fatal(err)
	}
	for i := range max(n/20, 1) {
		file := flip(t, random, filepath.Join(cached.cache, "*.*"))
		store := filepath.Join(t.TempDir(), fmt.Sprint(i))
		injected.Add(1)
		if code, out := cached.run(append([]string{b.binary}, cached.ingest(store)...)...); code != 0 && code != 3 {
			t.Errorf("%s: bit %d: exit status %d\n%s", file.path, file.bit, code, out)
		}
		cached.right(fmt.Sprintf("%s: bit %d", file.path, file.bit), store)
		file.restore(t)
	}
}

// flippedFile is a file with a flipped bit.
type flippedFile struct {
	path    string
	bit     int
	content []byte // before the flip
}

// flip flips a bit of one of the files that match a pattern.
func flip(t *testing.T, random *rand.Rand, pattern string) flippedFile {
	t.Helper()
	files := testfiles.Glob(t, pattern)
	f := flippedFile{path: files[random.IntN(len(files))]}
	var err error
	if f.content, err = os.ReadFile(f.path); err != nil {
		t.Fatal(err)
	}
	if len(f.content) == 0 {
		return f
	}
	f.bit = random.IntN(8 * len(f.content))
	f.write(t, func(content []byte) { content[f.bit/8] ^= 1 << (f.bit % 8) })
	return f
}

func (f flippedFile) restore(t *testing.T) { f.write(t, func([]byte) {}) }

// write replaces the file by a new one with a changed copy of the content.
func (f flippedFile) write(t *testing.T, change func(content []byte)) {
	t.Helper()
	content := append([]byte{}, f.content...)
	change(content)
	_ = os.Remove(f.path) // the cache's files may be read-only
	if err := os.WriteFile(f.path, content, 0o666); err != nil {
		t.Fatal(err)
	}
}
