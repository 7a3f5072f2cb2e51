package export

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// packages is where `npm ci` installs the readers in package-lock.json.
const packages = "testdata/node_modules"

// node runs a program in testdata with the readers and returns its output.
func node(t *testing.T, program string, args ...string) []byte {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("no node")
	}
	if _, err := os.Stat(packages); err != nil {
		t.Skip("no readers: run npm ci in cmd/acceptance/export/testdata")
	}
	command := exec.CommandContext(t.Context(), "node", append([]string{filepath.Join("testdata", program), packages}, args...)...)
	var errs bytes.Buffer
	command.Stderr = &errs
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", program, err, errs.Bytes())
	}
	return out
}

// imported is a profile as read by speedscope.
type imported struct {
	File, Name, Unit string
	Total            int64
	Functions        map[string]both
}

// speedscope reads files with speedscope's importer.
func speedscope(t *testing.T, files ...string) (profiles []imported) {
	t.Helper()
	for d := json.NewDecoder(bytes.NewReader(node(t, "speedscope.mjs", files...))); d.More(); {
		var p imported
		if err := d.Decode(&p); err != nil {
			t.Fatal(err)
		}
		profiles = append(profiles, p)
	}
	if len(profiles) == 0 {
		t.Fatal("no profile")
	}
	return profiles
}
