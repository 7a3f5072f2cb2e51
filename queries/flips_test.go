package queries

import (
	"database/sql"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/google/go-cmp/cmp"
)

// A flipped bit in a page gives an error, never wrong rows, thanks to zstd's checksums. Page
// headers have no checksum; there a check finds it, since it hashes whole files.
func TestFlippedBits(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x.parquet")
	samplesFile(t, name, 5000)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("duckdb", "?threads=1")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	read := func(path string) (string, error) {
		var n int64
		var sum string
		err := db.QueryRow("SELECT count(*), bit_xor(hash(t))::VARCHAR FROM "+ReadParquet([]string{path})+" t").Scan(&n, &sum)
		return sum, err
	}
	want, err := read(name)
	if err != nil {
		t.Fatal(err)
	}
	r, err := file.OpenParquetFile(name, false)
	if err != nil {
		t.Fatal(err)
	}
	end := len(data) - 8 - int(r.MetaData().Size())
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	errors, same := 0, 0
	flipped := filepath.Join(dir, "flipped.parquet")
	for range 400 {
		at := 4 + random.IntN(end-4)
		bit := byte(1) << random.IntN(8)
		data[at] ^= bit
		if err := os.WriteFile(flipped, data, 0o600); err != nil {
			t.Fatal(err)
		}
		switch got, err := read(flipped); {
		case err != nil:
			errors++
		case got == want:
			same++
		default:
			t.Errorf("bit %d of byte %d of %d: %s", bit, at, end, cmp.Diff(want, got))
		}
		data[at] ^= bit
	}
	if errors < 350 {
		t.Errorf("%d errors, %d times the same rows", errors, same)
	}
	t.Logf("%d errors, %d times the same rows", errors, same)
}
