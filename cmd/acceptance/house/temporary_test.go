package house

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"stackmill/internal/testfiles"
)

// temporaries are the source files that make temporary files themselves, and why.
var temporaries = map[string]string{
	"internal/tempdir/tempdir.go": "it makes them for all others",
	"schema/storedir/unnamed.go":  "in the store, which cleans up after others",
	"queries/copy.go":             "in the folder of the engine",
	"internal/crash/crash.go":     "for the user, who is told its name",
	"cmd/acceptance/suite":        "for tests, as all that follow",
	"internal/corpus":             "",
	"cmd/peers":                   "",
	"cmd/mutate":                  "",
	"cmd/foreign":                 "",
	"cmd/bench":                   "",
}

// Only one package makes temporary files, so that the next process finds and removes
// what a killed one left.
func TestTemporaryFiles(t *testing.T) {
	root, makes := filepath.Join("..", "..", ".."), regexp.MustCompile(`os\.(MkdirTemp|CreateTemp)\(`)
	used := map[string]bool{}
	for folder := range packages(t) {
		for _, source := range slices.DeleteFunc(testfiles.Glob(t, filepath.Join(root, folder, "*.go")), func(s string) bool { return strings.HasSuffix(s, "_test.go") }) {
			text, err := os.ReadFile(source)
			if err != nil {
				t.Fatal(err)
			}
			if !makes.Match(text) {
				continue
			}
			name, _ := filepath.Rel(root, source)
			switch {
			case temporaries[name] != "":
				used[name] = true
			default:
				if _, ok := temporaries[filepath.Dir(name)]; !ok {
					t.Errorf("%s makes temporary files: use the package tempdir", name)
				}
				used[filepath.Dir(name)] = true
			}
		}
	}
	for name := range temporaries {
		if !used[name] {
			t.Errorf("%s makes no temporary files", name)
		}
	}
}
