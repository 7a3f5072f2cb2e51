package acceptance

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// SECURITY.md names files and tests that exist, and the limits of the code.
func TestSecurityPage(t *testing.T) {
	root := filepath.Join("..", "..")
	data, err := os.ReadFile(filepath.Join(root, "SECURITY.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	entries := strings.Split(page, "\n**T")[1:]
	for n, entry := range entries {
		if !strings.HasPrefix(entry, fmt.Sprint(n+1, " ")) {
			t.Errorf("entry %d begins with %.20q", n+1, entry)
		}
		entry, _, _ = strings.Cut(entry, "\n## ")
		checkNamed(t, root, fmt.Sprint("T", n+1), entry)
	}
	checkNamed(t, root, "the start", page[:strings.Index(page, "\n**T")])
	limits := regexp.MustCompile("(?m)^\\| .* \\| `(\\w+)` \\| `(.*)` \\| `(.*)` \\|$").FindAllStringSubmatch(page, -1)
	if rows := strings.Count(page, "\n| ") - 2; len(limits) != rows || rows < 10 {
		t.Errorf("%d limits in %d rows", len(limits), rows)
	}
	for _, l := range limits {
		if got := constant(t, filepath.Join(root, l[3]), l[1]); got != l[2] {
			t.Errorf("%s: %s is %q, the page says %q", l[3], l[1], got, l[2])
		}
	}
}

// checkNamed checks that an entry's files exist, and that its tests are in the file named after
// them.
func checkNamed(t *testing.T, root, what, entry string) {
	t.Helper()
	sources := 0
	tests := map[string]bool{}
	for _, m := range regexp.MustCompile("`([a-z0-9_/]+\\.go)`|`(Test\\w+)`").FindAllStringSubmatch(entry, -1) {
		if m[2] != "" {
			tests[m[2]] = true
			continue
		}
		text, err := os.ReadFile(filepath.Join(root, m[1]))
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
		if !strings.HasSuffix(m[1], "_test.go") {
			sources++
			continue
		}
		if len(tests) == 0 {
			t.Errorf("%s: no test of %s", what, m[1])
		}
		for name := range tests {
			if !strings.Contains(string(text), "func "+name+"(") {
				t.Errorf("%s: %s has no %s", what, m[1], name)
			}
		}
		clear(tests)
	}
	if len(tests) > 0 || sources == 0 && what != "the start" {
		t.Errorf("%s: does not say where it is done and tested", what)
	}
}

// constant returns the expression of a constant that a file declares.
func constant(t *testing.T, path, name string) string {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Error(err)
		return ""
	}
	value := ""
	ast.Inspect(f, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			for i, id := range spec.Names {
				if id.Name == name && i < len(spec.Values) {
					value = types.ExprString(spec.Values[i])
				}
			}
		}
		return true
	})
	return value
}
