package page

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The page in the program, and the scripts and styles of documents, are built from the current sources.
func TestBundle(t *testing.T) {
	const sources = "../../../queries/serve/web"
	if _, err := os.Stat(filepath.Join(sources, "node_modules")); err != nil {
		t.Skip("nothing to build with: run npm ci in queries/serve/web")
	}
	page, documents := t.TempDir(), t.TempDir()
	for _, args := range [][]string{{"node_modules/.bin/tsc", "--noEmit"}, {"node", "build.mjs", page, documents}} {
		c := exec.CommandContext(t.Context(), args[0], args[1:]...)
		c.Dir = sources
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	compareFolders(t, page, "../../../queries/serve/page")
	compareFolders(t, documents, "../../../queries/html/built")
}

// compareFolders fails the test if the files in a folder differ from the files that were just built.
func compareFolders(t *testing.T, dir, built string) {
	t.Helper()
	files, err := os.ReadDir(built)
	if err != nil {
		t.Fatal(err)
	}
	made, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(made) != len(files) {
		t.Errorf("%d files are made, %d are committed", len(made), len(files))
	}
	for _, f := range files {
		want, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Error(err)
			continue
		}
		if got, err := os.ReadFile(filepath.Join(built, f.Name())); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not what the sources make (run make page): %v", f.Name(), err)
		}
	}
}
