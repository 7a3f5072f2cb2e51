package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/text"
	"pgregory.net/rapid"
)

func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"":                              "",
		"operator<< <int>(T&)":          "operator<< <int>(T&)",
		"größe 漢字 🎉":                    "größe 漢字 🎉",
		"a\x1b[31mb":                    `a\x1b[31mb`,
		"a\nb\tc\rd\x00\x7f":            `a\x0ab\x09c\x0dd\x00\x7f`,
		"\u009b2J":                      `\u009b2J`,
		"\x9b2J":                        `\x9b2J`,
		"admin\u202egpj.exe":            `admin\u202egpj.exe`,
		"\u2066x\u2069":                 `\u2066x\u2069`,
		"a\u200bb\u00adc\ufeffd":        `a\u200bb\u00adc\ufeffd`,
		"a\u2028b\u2029":                `a\u2028b\u2029`,
		"\U000e0041":                    `\U000e0041`,
		"a\u00a0b\u3000c":               `a\u00a0b\u3000c`,
		"a\u3164b\u115fc\ufe0fd\u034fe": `a\u3164b\u115fc\ufe0fd\u034fe`,
		"\ufffd":                        "\ufffd",
		`C:\dir\new "\n" '\0'`:          `C:\dir\new "\n" '\0'`,
		`\x1b`:                          `\\x1b`,
		"\\\x1b":                        `\\\x1b`,
		`\u202 \xZZ \U1234`:             `\u202 \xZZ \U1234`,
	} {
		if got := printable(in); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
	if got := printableLine("\tif (x)\x1b {"); got != "\tif (x)\\x1b {" {
		t.Errorf("a line: %q", got)
	}
}

var escapes = regexp.MustCompile(`\\+(x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})`)

// readBack is the inverse of printable.
func readBack(shown string) string {
	return escapes.ReplaceAllStringFunc(shown, func(s string) string {
		rest := strings.TrimLeft(s, `\`)
		slashes := len(s) - len(rest)
		if slashes%2 == 0 {
			return strings.Repeat(`\`, slashes/2) + rest
		}
		c, _ := strconv.Unquote(`"\` + rest + `"`)
		return strings.Repeat(`\`, slashes/2) + c
	})
}

// What is printed can be read back, has no character that a terminal does not
// show, and is as wide as its table takes it for.
func TestPrintableReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.OneOf(
			rapid.SampledFrom([]string{`\`, "x1b", "u202e", "U000e0041", "x", "1b", "\x1b", "\u202e", "\x9b", "\xff", "\u009b", "é", "漢", "\n", "\U000e0041", "\xe2\x80"}),
			rapid.String(), rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		)).Draw(t, "pieces")
		in := strings.Join(pieces, "")
		got := printable(in)
		if back := readBack(got); back != in {
			t.Fatalf("%q is shown as %s, which reads %q", in, got, back)
		}
		width := 0 // of the characters one by one, as tables count
		for _, c := range got {
			if unicode.In(c, unicode.C, unicode.Zl, unicode.Zp) {
				t.Fatalf("%q is shown with %U", in, c)
			}
			width += text.RuneWidth(c)
		}
		if !utf8.ValidString(got) || width != text.StringWidthWithoutEscSequences(got) {
			t.Fatalf("%q", got)
		}
	})
}

func TestMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"<Total>":               "&lt;Total>",
		"__libc_start_main":     `\_\_libc_start_main`,
		"f(char*, int*)":        `f(char\*, int\*)`,
		"f [clone .cold]":       `f \[clone .cold\]`,
		"![x](http://e/)":       `!\[x\](http://e/)`,
		"a&lt;`b`~c~\x1b":       "a&amp;lt;\\`b\\`\\~c\\~\\\\x1b",
		"<img src=x onerror=y>": "&lt;img src=x onerror=y>",
	} {
		if got := markdown(printable(in)); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

// writers are the functions that write to the outputs: those that make texts
// printable, and those of formats that have them as they are. The others are
// given what they print by one of these.
var writers = []string{
	"export.run", "export.write", "outputfile.writeDescriptor", // bytes for other programs

	"page.page", "page.printf", "page.say", "printable.writeEscaped", "printable.escape", // make texts printable
	"table.printTable", "table.printMarkdown", // cells by way of shown
	"output.newPrinter", "output.printJSON", // escape by themselves
	"query.write", "query.writeTo", "query.run", // Parquet and Arrow
	"main.newRoot", "explain.answer", // texts of this program
	"table.width", "explain.run", "compact.run", "resymbolize.run", "ingestrun.once", "ingestrun.logger", "summary.printLost", "check.check", "serve.newServeCommand", "serve.prepare", "serve.chooseToken", "mcp.prepare", "mcptools.answerCall", // hand the stream on
}

// Nothing else writes to the outputs, or formats for a writer.
func TestOnePlacePrints(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			function, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			where := strings.TrimSuffix(name, ".go") + "." + function.Name.Name
			ast.Inspect(function, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				x, _ := s.X.(*ast.Ident)
				prints := x != nil && x.Name == "fmt" && (strings.HasPrefix(s.Sel.Name, "Fprint") || strings.HasPrefix(s.Sel.Name, "Print")) ||
					x != nil && x.Name == "os" && (s.Sel.Name == "Stdout" || s.Sel.Name == "Stderr") && function.Name.Name != "main" ||
					s.Sel.Name == "stdout" || s.Sel.Name == "stderr"
				if prints && !isMessage(n, function) {
					if used[where] = true; !slices.Contains(writers, where) {
						t.Errorf("%s writes by itself: use page.printf, printTable or say", set.Position(n.Pos()))
					}
				}
				return true
			})
		}
	}
	for _, w := range writers {
		if !used[w] {
			t.Errorf("%s does not write", w)
		}
	}
}

// isMessage reports whether a stream is the first argument of say.
func isMessage(n ast.Node, function *ast.FuncDecl) bool {
	found := false
	ast.Inspect(function, func(m ast.Node) bool {
		if call, ok := m.(*ast.CallExpr); ok && len(call.Args) > 0 && call.Args[0] == n {
			name, ok := call.Fun.(*ast.Ident)
			found = found || ok && name.Name == "say"
		}
		return true
	})
	return found
}
