package lazyregexp

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// program lists the folders with the program's code.
var program = []string{"cmd/stackmill", "pipeline", "queries", "schema", "stages", "internal"}

// Every regular expression of the program compiles: otherwise its first use would panic. None is
// compiled at each start instead.
func TestAllCompile(t *testing.T) {
	root, found := filepath.Join("..", ".."), 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := entry.Name(); entry.IsDir() && (strings.HasPrefix(name, ".") && path != root || name == "node_modules" || name == "testdata" || name == "demangle") {
			return fs.SkipDir
		}
		if entry.IsDir() || filepath.Ext(path) != ".go" {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(root, path)
		in := func(folder string) bool { return strings.HasPrefix(filepath.ToSlash(rel), folder+"/") }
		checked := !strings.HasSuffix(path, "_test.go") && slices.ContainsFunc(program, in) && !in("internal/lazyregexp")
		ast.Inspect(file, func(n ast.Node) bool {
			call, _ := n.(*ast.CallExpr)
			if call == nil {
				return true
			}
			if checked && isCalled(call.Fun, "regexp", "MustCompile") {
				t.Errorf("%s: an expression that is compiled by regexp.MustCompile: lazyregexp.New does so when it is used", path)
			}
			if !isCalled(call.Fun, "lazyregexp", "New") {
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

// isCalled reports whether the called expression is the function in.name.
func isCalled(what ast.Expr, in, name string) bool {
	selector, _ := what.(*ast.SelectorExpr)
	if selector == nil || selector.Sel.Name != name {
		return false
	}
	of, _ := selector.X.(*ast.Ident)
	return of != nil && of.Name == in
}
