package result

import (
	"bytes"
	"errors"
	"testing"

	"stackmill/internal/terminal"
)

// On a terminal, CSV is escaped as tables are.
func TestCSVOnTerminal(t *testing.T) {
	var out bytes.Buffer
	p := CSV(&out, terminal.Printable)
	if err := errors.Join(p.Header([]Field{{Name: "a\x1b"}}), p.Row([]any{"b\u202e\n"}), p.Close()); err != nil {
		t.Fatal(err)
	}
	if want := `a\x1b` + "\n" + `b\u202e\x0a` + "\n"; out.String() != want {
		t.Errorf("%q, want %q", &out, want)
	}
}
