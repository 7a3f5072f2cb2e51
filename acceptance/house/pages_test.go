package house

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	link = regexp.MustCompile(`\]\(([^)#:]+)[^)]*\)`)
	file = regexp.MustCompile("`([a-z0-9_]+(?:/[a-z0-9_]+)*/[a-z0-9_]+\\.(?:go|sql))`")
)

// Pages link to pages and name files that exist.
func TestPages(t *testing.T) {
	root := filepath.Join("..", "..")
	var pages []string
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/formats/*.md", "testdata/*.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	for _, page := range pages {
		text := read(t, page)
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			exists(t, page, filepath.Join(filepath.Dir(page), m[1]))
		}
		for _, m := range file.FindAllStringSubmatch(text, -1) {
			exists(t, page, filepath.Join(root, m[1]))
		}
	}
}

// The README and the page about the architecture show every room.
func TestRoomsAreShown(t *testing.T) {
	root := filepath.Join("..", "..")
	for page, end := range map[string]string{"README.md": "/", "docs/architecture.md": `\b`} {
		text := read(t, filepath.Join(root, page))
		for folder := range packages(t) {
			name := room(folder)
			if short := strings.TrimPrefix(name, "stages/"); !regexp.MustCompile(`\b` + short + end).MatchString(text) {
				t.Errorf("%s does not show %s", page, name)
			}
		}
	}
}

func read(t *testing.T, page string) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func exists(t *testing.T, page, path string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		t.Errorf("%s names %s, which does not exist", page, path)
	}
}
