package safefile

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// openers lists the functions that open files by name, by import path.
var openers = map[string][]string{
	"os":                    {"Open", "OpenFile", "ReadFile", "OpenRoot", "OpenInRoot", "DirFS"},
	"io/ioutil":             {"ReadFile"},
	"debug/elf":             {"Open"},
	"syscall":               {"Open", "Openat"},
	"golang.org/x/sys/unix": {"Open", "Openat", "Openat2"},
}

// may lists the packages and files that may open files otherwise, with the reason.
var may = map[string]string{
	"internal/safefile":                    "it is the one place",
	"stages/loadobject/cache/disk.go":      "it writes the cache's files",
	"stages/symbolize/source/open.go":      "it opens folders on the way, without waiting",
	"stages/decode/gprofng/gprofngtest":    "it makes recordings for tests",
	"stages/loadobject/dwarf/dwarftest":    "it makes load objects for tests",
	"stages/decode/perfdata/compressed.go": "it makes a temporary file",
	"pipeline/plan/paths.go":               "it reads the list that the user names, which may be a pipe",
	"pipeline/record":                      "it reads a setting of the kernel, and opens its own terminal",
	"pipeline/runner/prometheus.go":        "it reads the counters of a regular file that it wrote before",
}

// Only this package opens recordings' files and the files that they name: a pipe in place of any of
// them would make the program wait forever.
func TestOneOpens(t *testing.T) {
	root := filepath.Join("..", "..")
	files := 0
	for _, folder := range []string{"stages", "pipeline"} {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, e fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			files++
			if may[filepath.ToSlash(name)] == "" && may[filepath.ToSlash(filepath.Dir(name))] == "" {
				opens(t, path, name)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 100 {
		t.Errorf("only %d files were looked at", files)
	}
}

// opens reports each call of an opener in a file as an error.
func opens(t *testing.T, path, name string) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Error(err)
		return
	}
	imported := map[string]string{}
	for _, i := range f.Imports {
		from, _ := strconv.Unquote(i.Path.Value)
		local := filepath.Base(from)
		if i.Name != nil {
			local = i.Name.Name
		}
		imported[local] = from
	}
	ast.Inspect(f, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := s.X.(*ast.Ident); ok {
			for _, opener := range openers[imported[x.Name]] {
				if s.Sel.Name == opener {
					t.Errorf("%s:%d: %s.%s: files that are not ours are opened by safefile.Open", name, fset.Position(s.Pos()).Line, x.Name, opener)
				}
			}
		}
		return true
	})
}
