package pattern

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Every expression of the program compiles: a wrong one would be found by whoever comes to use it.
func TestAllCompile(t *testing.T) {
	found := 0
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && (strings.HasPrefix(name, ".") && name != ".." || name == "node_modules" || name == "testdata") {
			return fs.SkipDir
		}
		if entry.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			call, _ := n.(*ast.CallExpr)
			if call == nil || !isLazy(call.Fun) {
				return true
			}
			found++
			literal, _ := call.Args[0].(*ast.BasicLit)
			if literal == nil {
				t.Errorf("%s: an expression that is no literal is not seen here", path)
				return true
			}
			expression, err := strconv.Unquote(literal.Value)
			if err == nil {
				_, err = regexp.Compile(expression)
			}
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if found == 0 {
		t.Error("no expression was found")
	}
}

func isLazy(of ast.Expr) bool {
	selector, _ := of.(*ast.SelectorExpr)
	if selector == nil || selector.Sel.Name != "Lazy" {
		return false
	}
	in, _ := selector.X.(*ast.Ident)
	return in != nil && in.Name == "pattern"
}
