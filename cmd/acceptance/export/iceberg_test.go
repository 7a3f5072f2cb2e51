package export

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"stackmill/queries/lake"
)

// icebergReader builds the program that reads tables with iceberg-go.
var icebergReader = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "stackmill-iceberg-")
	if err != nil {
		return "", err
	}
	build := exec.Command("go", "build", "-C", filepath.Join("testdata", "iceberg"), "-o", filepath.Join(dir, "iceberg"))
	build.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOPROXY=off")
	if out, err := build.CombinedOutput(); err != nil {
		return "", errors.Join(err, os.RemoveAll(dir), errors.New(string(out)))
	}
	return filepath.Join(dir, "iceberg"), nil
})

// readIceberg reads all tables of a lake with iceberg-go; the tables in old as of their oldest
// snapshot.
func readIceberg(t *testing.T, folder string, old ...string) map[string]content {
	t.Helper()
	program, err := icebergReader()
	if err != nil && strings.Contains(err.Error(), "GOPROXY=off") {
		t.Skip("no iceberg-go: run go mod download in cmd/acceptance/export/testdata/iceberg")
	}
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program, append([]string{folder, lake.Namespace}, old...)...)
	var errs bytes.Buffer
	command.Stderr = &errs
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.Bytes())
	}
	return contents(t, out)
}
