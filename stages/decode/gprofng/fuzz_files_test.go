package gprofng_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/stages/decode/gprofng"
)

func FuzzMap(f *testing.F)      { fuzzFile(f, "map.xml") }
func FuzzSync(f *testing.F)     { fuzzFile(f, "synctrace") }
func FuzzCounters(f *testing.F) { fuzzFile(f, "hwcounters") }
func FuzzOpenMP(f *testing.F)   { fuzzFile(f, "omptrace") }
func FuzzOverview(f *testing.F) { fuzzFile(f, "overview") }
func FuzzCode(f *testing.F)     { fuzzFile(f, "dyntext") }
func FuzzClasses(f *testing.F)  { fuzzFile(f, "jclasses") }

// The members of a group are paths, at most one for each line that is not a comment.
func FuzzMembers(f *testing.F) {
	f.Add("#analyzer experiment group\n# comment\na.er more\n.//b//c.er\n\n/d.er")
	f.Fuzz(func(t *testing.T, text string) {
		path := filepath.Join(t.TempDir(), "g.erg")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		members, err := gprofng.New().Members(path)
		if err != nil {
			return
		}
		if n := strings.Count(text, "\n") + 1; len(members) > n {
			t.Errorf("%d members of %d lines", len(members), n)
		}
		for _, m := range members {
			if m == "" || strings.ContainsAny(m, "\n") {
				t.Errorf("member %q", m)
			}
		}
	})
}
