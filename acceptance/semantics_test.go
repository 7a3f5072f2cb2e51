package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"stackmill/stages/unwind"
)

// docs/semantics.md names files and tests that exist, and each rule once.
func TestSemanticsPage(t *testing.T) {
	root := ".."
	page, err := os.ReadFile(filepath.Join(root, "docs", "semantics.md"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, entry := range strings.Split(string(page), "\n**")[1:] {
		rule, _, _ := strings.Cut(entry, "**")
		if seen[rule] {
			t.Errorf("%s stands there twice", rule)
		}
		seen[rule] = true
		tests, sources := "", 0
		for _, m := range regexp.MustCompile("`([a-z/_]+\\.go)[`:]").FindAllStringSubmatch(entry, -1) {
			text, err := os.ReadFile(filepath.Join(root, m[1]))
			if err != nil {
				t.Errorf("%s: %v", rule, err)
			}
			if strings.HasSuffix(m[1], "_test.go") {
				tests += string(text)
			} else {
				sources++
			}
		}
		for _, m := range regexp.MustCompile("`(Test[A-Za-z]+)`").FindAllStringSubmatch(entry, -1) {
			if !strings.Contains(tests, "func "+m[1]+"(") {
				t.Errorf("%s: no %s in the files it names", rule, m[1])
			}
		}
		if sources == 0 || tests == "" {
			t.Errorf("%s: does not say where it is implemented and tested", rule)
		}
	}
	for n := 1; n <= 31; n++ {
		if rule := fmt.Sprint("S", n); !seen[rule] {
			t.Errorf("%s is missing", rule)
		}
	}
	for rule := unwind.Recorded + 1; rule <= unwind.RuleBody; rule++ { // what frames.rule can say
		if !seen[rule.String()] {
			t.Errorf("%s is missing", rule)
		}
	}
}
