package cache

import (
	"bytes"
	"os"
	"testing"
	"time"

	"stackmill/internal/safefile"
)

// A list of symbols with a remembered hash is not read again to find its table. A table is made
// only from the content with that hash.
func TestRememberedList(t *testing.T) {
	text := bytes.Repeat([]byte("ffffffff81000000 T a_function\n"), minRecordedSize/30+1)
	path := put(t, "kallsyms", text)
	dir := t.TempDir()
	fresh := func() *hashCache { return &hashCache{dir: dir} }
	open := func(c *hashCache) *symbolList {
		t.Helper()
		l, err := openList(c, path)
		if err != nil || l == nil {
			t.Fatal(l, err)
		}
		return l
	}
	first := open(fresh())
	if first.text == nil {
		t.Fatal("the content of a file that was just made is known")
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	stamp := safefile.StampOf(info)
	later := fresh()
	later.known.Store(stamp, first.hash)
	for !stamp.Settled() { // at most for three seconds
		time.Sleep(50 * time.Millisecond)
	}
	l := open(later)
	if l.text != nil || l.hash != first.hash {
		t.Error("the list was read again")
	}
	if table, err := l.table(later); err != nil || table.Functions.Len() != 1 {
		t.Errorf("%v, %v", table, err)
	}
	later.known.Store(stamp, fileHash{short: 1}) // as if the file had been replaced
	if _, err := open(later).table(later); err == nil {
		t.Error("a table was made of another content")
	}
	if l := open(later); l.hash != first.hash {
		t.Error("the wrong content is remembered still")
	}
	open(fresh())
	if x, ok := fresh().recall(stamp); !ok || x != first.hash {
		t.Error("the content of a large list is not remembered on disk")
	}
}
