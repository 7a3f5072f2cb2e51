package queries

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGeneratedFilesAreCurrent(t *testing.T) {
	views, err := ViewsPage()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"../docs/tables.md": TablesPage(), "../docs/views.md": views} {
		got, err := os.ReadFile(filepath.FromSlash(path))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s is not what the declarations say (run `make docs`):\n%s", path, diff)
		}
	}
	made, err := Template(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	file, err := unpacked()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(file, made) {
		t.Errorf("%s is not what the declarations say (run `make docs`)", TemplateFile)
	}
}
