package synthetic

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/decode/gprofng/archive"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

// A recording cannot bring files into the store that only the ingesting user may read: neither by a
// source file's name, nor by a link in its archives.
func TestHostileSources(t *testing.T) {
	dir := t.TempDir()
	secret := filepath.Join(dir, "secret")
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.WriteFile(secret, []byte("the secret\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "hostile.er")
	e := gprofngtest.New(path)
	for i, file := range []string{secret, "/src/linked.c", "/proc/self/environ", "/src/good.c"} {
		address := uint64(base + i*0x1000)
		e.Function(0, address, 0x100, "f"+string(rune('a'+i)))
		e.Code(0, address, bytes.Repeat([]byte{0x90}, 0x100), file, []decode.CodeLine{{Offset: 0, Line: 1}})
		put(e, schema.Clock, 0, int64(i)*ms, e.Frame(address+4), 10, 1)
	}
	e.Archive("/src/linked.c", nil)
	e.Archive("/src/good.c", []byte("good\n"))
	e.Declare(schema.Clock, `ptimer="1000" numstates="1"`)
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	linked := filepath.Join(path, archive.Dir, archive.Name("/src/linked.c"))
	if err := errors.Join(os.Remove(linked), os.Symlink(secret, linked)); err != nil {
		t.Fatal(err)
	}
	db := store(t, path)
	if diff := cmp.Diff([]string{"/src/good.c good"}, lines(t, db, "SELECT file, text FROM source_lines_wide ORDER BY ALL")); diff != "" {
		t.Error(diff)
	}
	want := []string{"info missing-source 1", "info private-source 2", "warning link-leads-out 1"}
	got := lines(t, db, "SELECT severity, reason, count FROM problems WHERE reason IN ('private-source', 'link-leads-out', 'missing-source') ORDER BY ALL")
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
