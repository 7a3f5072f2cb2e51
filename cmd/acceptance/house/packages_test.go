package house

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"stackmill/internal/testfiles"
)

// maxUnguided is how many files a package may have without saying where to start reading.
const maxUnguided = 4

// Every package says in a comment what is in it and, if it has more than a few files, where to start
// reading. The files that the comment names exist.
func TestPackageComments(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	found := 0
	for folder := range packages(t) {
		comment, sources := packageComment(t, filepath.Join(root, folder))
		if sources == 0 {
			continue // tests only
		}
		found++
		if comment == "" {
			t.Errorf("%s has no package comment", folder)
		}
		if sources > maxUnguided && !strings.Contains(comment, "Start reading with ") {
			t.Errorf("the comment of %s, which has %d files, does not say where to start reading", folder, sources)
		}
		for _, file := range regexp.MustCompile(`\b[a-z0-9_/]+\.go\b`).FindAllString(comment, -1) {
			exists(t, "the comment of "+folder, filepath.Join(root, folder, file))
		}
	}
	if found < 80 {
		t.Errorf("only %d packages were found", found)
	}
}

// packageComment returns the comment of the package in a folder, and how many files it has.
func packageComment(t *testing.T, folder string) (comment string, sources int) {
	t.Helper()
	for _, file := range testfiles.Glob(t, filepath.Join(folder, "*.go")) {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		sources++
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Fatal(err)
		}
		comment += f.Doc.Text()
	}
	return strings.Join(strings.Fields(comment), " "), sources
}
