package flight

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/queries/storetest"
)

// ADBC's driver logs in, and gets the rows, tables and columns.
func TestADBC(t *testing.T) {
	client := filepath.Join(t.TempDir(), "adbc")
	build := exec.Command("go", "build", "-C", filepath.Join("testdata", "adbc"), "-o", client)
	build.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOPROXY=off")
	if out, err := build.CombinedOutput(); strings.Contains(string(out), "GOPROXY=off") {
		t.Skip("no ADBC driver: run go mod download in queries/flight/testdata/adbc")
	} else if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	address := "grpc://" + start(t, storetest.New(t, storetest.Two), "open sesame", nil)
	ask := func(password string, statements ...string) (string, error) {
		c := exec.Command(client, append([]string{address, password}, statements...)...)
		out, err := c.CombinedOutput()
		return string(out), err
	}
	out, err := ask("open sesame", "SELECT function, exclusive FROM top(2) WHERE experiment = 'monday/test.1.er'")
	const rows = `[{"exclusive":40000000,"function":"g"},{"exclusive":20000000,"function":"f"}]` + "\n"
	if want := rows + rows + "experiment_id utf8 14\n"; err != nil || !strings.HasPrefix(out, want) {
		t.Errorf("%v: %.600s; want %s", err, out, want)
	}
	for _, want := range []string{`"table_name":"function_metrics"`, `"column_name":"exclusive"`} {
		if !strings.Contains(out, want) {
			t.Errorf("no %s", want)
		}
	}
	if out, err := ask("wrong"); err == nil || !strings.Contains(out, "the token is missing or wrong") {
		t.Errorf("%v: %s", err, out)
	}
	if out, err := ask("open sesame", "DROP VIEW experiments"); err == nil || !strings.Contains(out, "is refused") {
		t.Errorf("%v: %s", err, out)
	}
}
