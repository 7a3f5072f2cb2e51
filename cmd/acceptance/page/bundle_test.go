package page

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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

// The fonts of the page are what fonts.mjs makes of the packages with the whole fonts. They have every sign that the
// page's sources contain.
func TestFontFiles(t *testing.T) {
	const sources = "../../../queries/serve/web"
	if _, err := os.Stat(filepath.Join(sources, "node_modules/subset-font")); err != nil {
		t.Skip("nothing to make fonts with: run npm ci in queries/serve/web")
	}
	made := t.TempDir()
	c := exec.CommandContext(t.Context(), "node", "fonts.mjs", made)
	c.Dir = sources
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	compareFolders(t, made, filepath.Join(sources, "src/fonts"))
}

// The page loads its fonts from the server, and all of its first load is small.
func TestFirstLoad(t *testing.T) {
	b := open(t, 1280, 850, false)
	b.visit("?view=unknown&experiment=cxx.er")
	const loads = `Promise.all([...document.fonts].map((f) => f.load())).then(() =>
		performance.getEntriesByType('resource').filter((r) => r.name.includes('/page/')))`
	faces := eval[[]string](b, loads+`.then(() => [...document.fonts].map((f) => f.family + ' ' + f.weight + ' ' + f.status))`)
	if want := []string{"Inter 400 650 loaded", "JetBrains Mono 400 loaded", "JetBrains Mono 500 650 loaded"}; !slices.Equal(faces, want) {
		t.Errorf("the page has the fonts %q", faces)
	}
	sizes := eval[map[string]int](b, loads+`.then((all) => Object.fromEntries(all.map((r) => [r.name.split('/').at(-1), r.encodedBodySize])))`)
	all, fonts := 0, 0
	for name, size := range sizes {
		all += size
		if strings.HasSuffix(name, ".woff2") {
			fonts += size
		}
	}
	t.Logf("%d bytes, %d of them fonts", all, fonts)
	if len(sizes) < 4 || all == 0 || all > 250_000 || fonts == 0 || fonts > 120_000 {
		t.Errorf("the first load takes %d bytes, %d of them fonts: %v", all, fonts, sizes)
	}
	wide := eval[[]float64](b, `['1111', '8888'].map((text) => {
		const probe = document.body.appendChild(document.createElement('span'));
		probe.style.fontFamily = 'Inter';
		probe.style.fontVariantNumeric = 'tabular-nums';
		probe.textContent = text;
		const { width } = probe.getBoundingClientRect();
		probe.remove();
		return width;
	})`)
	if wide[0] != wide[1] {
		t.Errorf("figures have different widths: %v", wide)
	}
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
