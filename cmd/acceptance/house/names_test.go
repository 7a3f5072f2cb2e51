package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// participle matches type names that are a bare participle, which says what was done to something,
// not what it is.
var participle = regexp.MustCompile(`^\w[a-z]*(ed|ing|own|ept|eld|aid|old|ought|one)$`)

// nouns are names with such an ending that are nouns of the field.
var nouns = strings.Fields("encoding field mapping numbering recording staging specimen finding binding string shield ring setting")

// A type's name is a noun that a reader would search for.
func TestTypeNames(t *testing.T) {
	root, found := filepath.Join("..", "..", ".."), 0
	err := filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if rel, _ := filepath.Rel(root, file); e.IsDir() {
			if name := e.Name(); name == "testdata" || name == "node_modules" || rel != "." && name[0] == '.' || name == "demangle" {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			spec, _ := n.(*ast.TypeSpec)
			if spec == nil {
				return true
			}
			found++
			if name := spec.Name.Name; participle.MatchString(name) && !slices.Contains(nouns, strings.ToLower(name)) {
				t.Errorf("%s: type %s: name it by a noun that says what it is", file, name)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found < 1000 {
		t.Errorf("only %d types were found", found)
	}
}
