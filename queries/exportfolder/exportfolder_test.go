package exportfolder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A folder can be open in only one process at a time. The next one reads what was saved. A folder with other files is
// refused.
func TestFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "folder")
	f, text, err := Open(path, "list.json")
	if err != nil || text != nil {
		t.Fatalf("%q, %v", text, err)
	}
	if _, _, err := Open(path, "list.json"); err == nil || !strings.HasSuffix(err.Error(), "another process writes to it") {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(path, ".list.json.tmp"), nil, 0o666); err != nil { // left by a killed process
		t.Fatal(err)
	}
	reopen := func(want string) {
		t.Helper()
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if f, text, err = Open(path, "list.json"); err != nil || string(text) != want {
			t.Fatalf("%q, %v; want %q", text, err, want)
		}
	}
	reopen("")
	if err := f.Save([]string{"a"}); err != nil {
		t.Fatal(err)
	}
	reopen("[\n \"a\"\n]\n")
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(path, "other.json"); err == nil || !strings.Contains(err.Error(), "has files but no other.json") {
		t.Error(err)
	}
}
