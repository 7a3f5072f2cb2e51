package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// writingSide are the folders in which only the scheduler starts goroutines, so that each of them
// has an owner, a bound and somebody who gets its panic.
var writingSide = []string{"pipeline", "stages", "schema", "internal"}

const scheduler = "internal/ordered"

// On the writing side, only the scheduler's functions start goroutines.
func TestGoroutines(t *testing.T) {
	root, files := filepath.Join("..", "..", ".."), 0
	for _, folder := range writingSide {
		err := filepath.WalkDir(filepath.Join(root, folder), func(file string, entry fs.DirEntry, err error) error {
			switch rel, _ := filepath.Rel(root, file); {
			case err != nil:
				return err
			case entry.IsDir() && (entry.Name() == "testdata" || rel == filepath.FromSlash(scheduler)):
				return filepath.SkipDir
			case filepath.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go"):
				return nil
			}
			files++
			list, err := starts(file, nil)
			for _, at := range list {
				t.Errorf("%s: only %s starts goroutines: use its functions", at, scheduler)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 100 {
		t.Errorf("only %d files were read", files)
	}
}

// starts returns where a file starts goroutines; src is its content, nil to read the file.
func starts(file string, src any) (list []string, err error) {
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, src, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	found := func(n ast.Node, what string) {
		list = append(list, fmt.Sprintf("%s: %s", set.Position(n.Pos()), what))
	}
	for _, i := range f.Imports {
		if strings.Contains(i.Path.Value, "/errgroup") {
			found(i, "imports errgroup")
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			found(n, "go statement")
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Go" {
				found(n, "call of Go, as a sync.WaitGroup has it")
			}
		}
		return true
	})
	return list, nil
}

// starts finds all ways to start a goroutine.
func TestStarts(t *testing.T) {
	list, err := starts("a.go", `package a
import ("sync"; "golang.org/x/sync/errgroup")
func f() {
	go f()
	var g errgroup.Group
	var w sync.WaitGroup
	w.Go(f)
}`)
	if err != nil || len(list) != 3 {
		t.Error(list, err)
	}
}
