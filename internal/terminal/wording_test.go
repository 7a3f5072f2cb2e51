package terminal

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// TestWording checks that errors of the standard library lose the words that only Go programmers
// understand.
func TestWording(t *testing.T) {
	file := filepath.Join(t.TempDir(), "nosuch")
	_, opened := os.Open(file)
	_, listed := os.ReadDir(file)
	moved := os.Rename(file, file+"2")
	_, number := strconv.ParseInt("x", 10, 64)
	_, large := strconv.ParseInt(strings.Repeat("9", 30), 10, 64)
	_, program := exec.LookPath("no-such-program")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	address := l.Addr().String()
	_, used := net.Listen("tcp", address)
	_, _, noPort := net.SplitHostPort("host")
	_, pattern := regexp.Compile(strings.Join([]string{"a", "["}, "")) // vet would find a constant
	notJSON := json.Unmarshal([]byte("S="), new(int))
	otherJSON := json.Unmarshal([]byte(`{"Rows": "many"}`), &struct{ Rows int }{})
	for _, test := range []struct {
		err  error
		want string
	}{
		{opened, file + ": no such file or directory"},
		{listed, file + ": no such file or directory"},
		{moved, file + "2: no such file or directory"},
		{fmt.Errorf("plan: %s: %w", file, opened), "plan: " + file + ": no such file or directory"},
		{errors.Join(errors.New("first"), fmt.Errorf("a: %w", opened)), "first\na: " + file + ": no such file or directory"},
		{fmt.Errorf("--limit: %w", number), `--limit: "x" is not a number`},
		{large, `"` + strings.Repeat("9", 30) + `" is too large a number`},
		{program, "no-such-program: no such program in $PATH"},
		{fmt.Errorf("serve: %w", used), "serve: " + address + ": address already in use"},
		{fmt.Errorf("serve: --listen: %w", noPort), `serve: --listen: "host" is not an address (missing port in address)`},
		{fmt.Errorf("--label-from: %w", pattern), `--label-from: "[" is not a regular expression: missing closing ]`},
		{fmt.Errorf("not a plan: %w", notJSON), "not a plan: wrong JSON at byte 1"},
		{otherJSON, `wrong JSON at byte 15: "Rows" cannot be a string`},
		{errors.New("as it is"), "as it is"},
	} {
		if got := Wording(test.err); got != test.want {
			t.Errorf("%v: %q, want %q", test.err, got, test.want)
		}
	}
}
