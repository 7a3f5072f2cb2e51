package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/queries/storetest"
)

// Every place names the missing experiments, also to screen readers, until the commit is restored.
func TestMissingExperiments(t *testing.T) {
	dir := storetest.New(t, storetest.Two)
	path := filepath.Join(dir, "commits", "00000000000000bb.json")
	commit, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, commit[:len(commit)/2], 0o666); err != nil {
		t.Fatal(err)
	}
	b := open(t, 1280, 850, false)
	b.site = served(t, dir, nil).address
	const said = `[...document.querySelectorAll('[role=status] .warning')].filter((p) => p.checkVisibility()).map((p) => p.innerText).join('\n')`
	b.visit("")
	all := eval[[]string](b, `[...document.querySelectorAll('nav[aria-label=Places] a')].map((a) => new URL(a.href).search)`)
	if len(all) < 12 {
		t.Fatal(all)
	}
	for _, place := range all {
		b.visit(place)
		b.run(poll(said + ` !== ''`))
		if text := eval[string](b, said); !strings.HasPrefix(text, "left out: the experiment test.1.er of commits/00000000000000bb.json, which cannot be read") || strings.Contains(text, "\n") {
			t.Errorf("%s says %q", place, text)
		}
	}
	if err := os.WriteFile(path, commit, 0o666); err != nil {
		t.Fatal(err)
	}
	b.run(poll(`fetch('/healthz').then((r) => r.text()).then((text) => !text.includes('left out'))`))
	for _, place := range all[:2] {
		b.visit(place)
		if text := eval[string](b, said); text != "" {
			t.Errorf("restored, %s says %q", place, text)
		}
	}
}
