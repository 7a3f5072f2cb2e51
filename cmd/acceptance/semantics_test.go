package acceptance

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackmill/schema"
)

// docs/semantics.md names files and tests that exist, and each rule once.
func TestSemanticsPage(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "semantics.md"))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, entry := range strings.Split(string(page), "\n**")[1:] {
		rule, _, _ := strings.Cut(entry, "**")
		if seen[rule] {
			t.Errorf("%s has two entries", rule)
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
		if !strings.Contains(entry, "\n* Code: ") || !strings.Contains(entry, "\n* Tests: ") {
			t.Errorf("%s: has no list of its code and tests", rule)
		}
		if sources == 0 || tests == "" {
			t.Errorf("%s: does not say where it is implemented and tested", rule)
		}
	}
	for n := 1; n <= 32; n++ {
		if rule := fmt.Sprint("S", n); !seen[rule] {
			t.Errorf("%s is missing", rule)
		}
	}
	for _, r := range schema.Rules() { // the rules that stackmill explain knows
		if rule, _, _ := strings.Cut(r.String(), " "); !seen[rule] {
			t.Errorf("%s is missing", rule)
		}
	}
}

// formats are the format references that code cites by section.
var formats = []string{"perf-data", "gprofng-experiment"}

var (
	wrapped  = regexp.MustCompile(`\n[ \t]*(//|--)?[ \t]*`) // where a comment continues in the next line
	citation = regexp.MustCompile(`\b(` + strings.Join(formats, "|") + `) ([0-9]+(?:\.[0-9]+)?(?:(?:, | and | to )[0-9]+(?:\.[0-9]+)?)*)`)
	sectionN = regexp.MustCompile(`[0-9]+(?:\.[0-9]+)?`)
	heading  = regexp.MustCompile(`(?m)^##+ ([0-9]+(?:\.[0-9]+)?)\b`)
	ruleID   = regexp.MustCompile(`\bS[1-9][0-9]?\b`)
)

// Citations in code, views and pages exist: sections of the format references (`perf-data 5.1`) and
// rules (`S12`).
func TestCitations(t *testing.T) {
	root := filepath.Join("..", "..")
	page, err := os.ReadFile(filepath.Join(root, "docs", "semantics.md"))
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]bool{}
	for _, format := range formats {
		text, err := os.ReadFile(filepath.Join(root, "docs", "formats", format+".md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range heading.FindAllSubmatch(text, -1) {
			sections[format+" "+string(m[1])] = true
		}
	}
	cited := 0
	for _, file := range citingFiles(t, root) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range citation.FindAllStringSubmatch(wrapped.ReplaceAllString(string(text), " "), -1) {
			for _, n := range sectionN.FindAllString(m[2], -1) {
				if cited++; !sections[m[1]+" "+n] {
					t.Errorf("%s cites %s %s, which docs/formats/%s.md does not have", file, m[1], n, m[1])
				}
			}
		}
		for _, rule := range ruleID.FindAllString(string(text), -1) {
			if !strings.Contains(string(page), "\n**"+rule+"**") {
				t.Errorf("%s cites %s, which docs/semantics.md does not have", file, rule)
			}
		}
	}
	if cited < 100 {
		t.Errorf("only %d citations of the references were found", cited)
	}
}

// citingFiles lists the project's files that may have citations.
func citingFiles(t *testing.T, root string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "demangle" || entry.Name() == "node_modules" || file != root && entry.Name()[0] == '.'):
			return filepath.SkipDir
		case !entry.IsDir() && slices.Contains([]string{".go", ".sql", ".md"}, filepath.Ext(file)):
			files = append(files, file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
