package queries

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReferencePagesAreCurrent(t *testing.T) {
	views, err := ViewsPage()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"tables.md": TablesPage(), "views.md": views} {
		got, err := os.ReadFile(filepath.Join("..", "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("docs/%s is not what the declarations say (run `make docs`):\n%s", name, diff)
		}
	}
}
