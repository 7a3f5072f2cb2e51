//go:build cgo

package text

import (
	"bytes"
	"database/sql"
	"strings"
	"testing"

	_ "github.com/duckdb/duckdb-go/v2"

	"stackmill/internal/terminal"
)

// TestProblemsOnNarrowTerminal checks that messages of problems and the names of reasons are complete
// on a narrow terminal.
func TestProblemsOnNarrowTerminal(t *testing.T) {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const path = "/usr/lib/x86_64-linux-gnu/perl5/5.36/auto/Digest/SHA/a-very-long-name-of-a-library-indeed.so"
	message := "one two three " + path + " was modified after the recording began: \x1b[31mits names may be wrong"
	rows, err := db.Query(`SELECT 'warning' AS "Severity", 5 AS "Count", 'modified-load-object' AS "Reason", ? AS "Message" UNION ALL SELECT 'info', 1, 'other', 'short'`, message)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Problems(&terminal.Output{Stdout: &out, FixedWidth: 80}, rows, 1); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	for _, line := range lines {
		if len(line) > 80 {
			t.Errorf("%d characters: %s", len(line), line)
		}
	}
	together := strings.Join(strings.Fields(out.String()), "")
	for _, want := range []string{"modified-load-object", strings.Join(strings.Fields(terminal.Printable(message)), ""), "1morerow(--limit0printsall)"} {
		if !strings.Contains(together, want) {
			t.Errorf("%q is missing or shortened in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "\x1b") || strings.Contains(out.String(), "…") {
		t.Errorf("not escaped, or shortened:\n%s", out.String())
	}
}
