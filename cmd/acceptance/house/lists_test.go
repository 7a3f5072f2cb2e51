package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"

	"stackmill/internal/testfiles"
)

// mayBeEmpty are the tests' functions that loop over possibly empty lists of files.
var mayBeEmpty = map[string]bool{
	"cmd/acceptance/faults.running": true, "cmd/acceptance/faults.leftovers": true, "cmd/acceptance/faults.logs": true,
	"cmd/acceptance/faults.exported": true, "cmd/acceptance/s3.processes": true, "cmd/acceptance/s3.TestCacheSize": true,
	"stages/decode/gprofng/gprofngtest.content": true, "stages/loadobject/cache.systemObjects": true,
	"stages/loadobject/functions.away": true, "stages/loadobject/types/build.TestDataForms": true,
}

// A test that loops over a list of files would pass if the list were empty: so it, or testfiles,
// must count the files.
func TestListsOfFiles(t *testing.T) {
	root, lists := filepath.Join("..", "..", ".."), 0
	unused := map[string]bool{}
	for name := range mayBeEmpty {
		unused[name] = true
	}
	for folder, p := range packages(t) {
		if len(p.testImports) == 0 {
			continue
		}
		for _, file := range testfiles.Glob(t, filepath.Join(root, folder, "*_test.go")) {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				function, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				found, uncounted := globs(function)
				lists += found
				name := folder + "." + function.Name.Name
				if delete(unused, name); uncounted > 0 && !mayBeEmpty[name] {
					t.Errorf("%s: %s passes if there are no files: use testfiles.Glob", file, function.Name.Name)
				}
			}
		}
	}
	if lists < 40 || len(unused) > 0 {
		t.Errorf("%d lists; no such functions: %v", lists, unused)
	}
}

// globs counts the variables that filepath.Glob sets, and the ones among them that are looped over
// without being counted.
func globs(function *ast.FuncDecl) (lists, uncounted int) {
	listed, counted, looped := map[string]bool{}, map[string]bool{}, map[string]bool{}
	ast.Inspect(function, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			call, _ := n.Rhs[0].(*ast.CallExpr)
			if call == nil {
				break
			}
			if s, ok := call.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Glob" {
				listed[variable(n.Lhs[0])] = variable(s.X) == "filepath"
			}
		case *ast.CallExpr:
			if variable(n.Fun) == "len" {
				counted[variable(n.Args[0])] = true
			}
		case *ast.RangeStmt:
			looped[variable(n.X)] = true
		}
		return true
	})
	for name, unchecked := range listed {
		if lists++; unchecked && looped[name] && !counted[name] {
			uncounted++
		}
	}
	return lists, uncounted
}

// variable returns the name of an expression that is a variable, or "".
func variable(e ast.Expr) string {
	id, _ := e.(*ast.Ident)
	if id == nil {
		return ""
	}
	return id.Name
}

func TestGlobs(t *testing.T) {
	for body, want := range map[string]int{
		"f, _ := filepath.Glob(p); for range f {}":                        1,
		"f, err := filepath.Glob(p); if len(f) == 0 {}; for range f {}":   0,
		"f := testfiles.Glob(t, p); for range f {}":                       0,
		"f, _ := filepath.Glob(p); g := f":                                0,
		"if f, _ := filepath.Glob(p); true { for _, x := range f { x } }": 1,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "a_test.go", "package a\nfunc f() {"+body+"}", 0)
		if err != nil {
			t.Fatal(err)
		}
		if lists, got := globs(f.Decls[0].(*ast.FuncDecl)); lists != 1 || got != want {
			t.Errorf("%s: %d lists, %d uncounted", body, lists, got)
		}
	}
}
