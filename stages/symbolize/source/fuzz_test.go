package source

import (
	"path/filepath"
	"strings"
	"testing"
)

// Whatever paths debug information has, a rule never leads out of its folder.
func FuzzRules(f *testing.F) {
	f.Add("/build=/src", "/build/a/b.c")
	f.Add("/src", "../x/b.c")
	f.Add("=/src", "b.c")
	f.Add("/build=/src", "/build/../../etc/passwd")
	f.Fuzz(func(t *testing.T, spec, file string) {
		rules, err := ParseRules([]string{spec})
		if err != nil {
			return
		}
		r := rules[0]
		to := filepath.Clean(r.To)
		for _, path := range r.apply(file) {
			rel, err := filepath.Rel(to, path)
			if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
				t.Errorf("%q of rule %q leads to %q", file, spec, path)
			}
		}
	})
}
