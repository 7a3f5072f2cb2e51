package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackmill/internal/testfiles"
)

// printers are the folders whose code prints.
var printers = []string{"cmd/stackmill", "internal/terminal", "internal/atomicfile", "queries/result", "queries/console", "queries/text", "queries/explain", "queries/mcp", "pipeline/runner", "queries/daemon", "queries/lake/formats", "pipeline/owner"}

// writers are the functions that write to the outputs: some escape texts, others write formats that
// must not be escaped. All other functions print through one of these.
var writers = []string{
	"stackmill.export.run", "stackmill.export.write", "atomicfile.atomicfile.writeDescriptor", // write bytes for other programs

	"terminal.output.Linef", "terminal.output.Page", "terminal.output.Messagef", "terminal.output.Printf", "terminal.printable.writeEscaped", "terminal.printable.escape", // escape texts
	"terminal.table.Table", "terminal.table.NotedTable", "terminal.table.markdownTable", "terminal.output.Width", // print escaped cells
	"result.table.New",                                                             // are printers that escape by themselves
	"stackmill.compare.run", "stackmill.digest.run", "text.document.printDocument", // write HTML, which html.Write escapes
	"console.console.write", "console.console.writeTo", "console.console.Run", // write Parquet and Arrow
	"stackmill.main.newRoot", "stackmill.explain.answer", // print texts of this program
	"stackmill.compact.run", "stackmill.record.run", "stackmill.explain.run", "runner.resymbolize.Resymbolize", "runner.runner.once", "runner.runner.logger", "stackmill.check.check", "stackmill.serve.newServeCommand", "stackmill.serve.prepare", "mcp.server.New", "mcp.tools.AnswerCall", // pass the stream on
	"stackmill.pager.start", "stackmill.pager.addPager", "stackmill.pager.startPager",
}

// No other function writes to the outputs or formats for a writer.
func TestOnlyWritersWrite(t *testing.T) {
	used := map[string]bool{}
	for _, folder := range printers {
		for _, name := range testfiles.Sources(t, filepath.Join("..", "..", folder)) {
			findWriters(t, name, used)
		}
	}
	for _, w := range writers {
		if !used[w] {
			t.Errorf("%s does not write", w)
		}
	}
}

// findWriters records the functions in a file that write, and reports those that must not.
func findWriters(t *testing.T, file string, used map[string]bool) {
	t.Helper()
	set := token.NewFileSet()
	f, err := parser.ParseFile(set, file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range f.Decls {
		function, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		where := filepath.Base(filepath.Dir(file)) + "." + strings.TrimSuffix(filepath.Base(file), ".go") + "." + function.Name.Name
		ast.Inspect(function, func(n ast.Node) bool {
			s, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			x, _ := s.X.(*ast.Ident)
			prints := x != nil && x.Name == "fmt" && (strings.HasPrefix(s.Sel.Name, "Fprint") || strings.HasPrefix(s.Sel.Name, "Print"))
			stream := s.Sel.Name == "Stdout" || s.Sel.Name == "Stderr"
			if prints || stream && function.Name.Name != "main" && !printsJSON(n, function) {
				if used[where] = true; !slices.Contains(writers, where) {
					t.Errorf("%s: %s writes by itself: use Printf, Table or Warnf", set.Position(n.Pos()), where)
				}
			}
			return true
		})
	}
}

// printsJSON reports whether a stream is the first argument of PrintJSON, which escapes.
func printsJSON(n ast.Node, function *ast.FuncDecl) bool {
	found := false
	ast.Inspect(function, func(m ast.Node) bool {
		if call, ok := m.(*ast.CallExpr); ok && len(call.Args) > 0 && call.Args[0] == n {
			name, ok := call.Fun.(*ast.SelectorExpr)
			found = found || ok && name.Sel.Name == "PrintJSON"
		}
		return true
	})
	return found
}
