package console

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/peterh/liner"

	"stackmill/internal/terminal"
	"stackmill/queries"
	"stackmill/queries/storetest"
)

// typed enters lines at the prompt, as a user would; a line "^C" stands for the key.
type typed struct {
	lines   []string
	history []string
	marks   string
}

func (t *typed) Prompt(mark string) (string, error) {
	t.marks += mark[:1]
	if len(t.lines) == 0 {
		return "", io.EOF
	}
	line := t.lines[0]
	t.lines = t.lines[1:]
	if line == "^C" {
		return "", liner.ErrPromptAborted
	}
	return line, nil
}

func (t *typed) AppendHistory(line string) { t.history = append(t.history, line) }

func TestPrompt(t *testing.T) {
	var out, errs strings.Builder
	db, err := queries.Open(t.Context(), storetest.New(t, storetest.Two))
	if err != nil {
		t.Fatal(err)
	}
	c, err := Open(t.Context(), &terminal.Output{Stdout: &out, Stderr: &errs}, db, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	in := &typed{lines: []string{
		"SELECT count(*) AS n", "", "FROM samples;",
		"SELECT dropped", "^C",
		"SELECT nonsense;",
		"CREATE TEMP TABLE kept AS SELECT 42 AS answer;", "FROM kept;",
		".schema modes", ".schema nothing", ".tables", ".help", "help;", "EXIT", "SELECT 'not reached';",
	}}
	if err := c.loop(in); err != nil {
		t.Fatal(err)
	}
	if want := "s..s.sssssssss"; in.marks != want {
		t.Errorf("prompts %q, want %q", in.marks, want)
	}
	wantHistory := []string{"SELECT count(*) AS n FROM samples;", "SELECT nonsense;", "CREATE TEMP TABLE kept AS SELECT 42 AS answer;", "FROM kept;",
		".schema modes", ".schema nothing", ".tables", ".help", "help;", "EXIT"}
	if diff := cmp.Diff(wantHistory, in.history); diff != "" {
		t.Errorf("history (-want +got):\n%s", diff)
	}
	for _, want := range []string{"\n11\n", "answer\n", "    42\n", "mode  ", "\nfunction_metrics ", "Ctrl-D"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, out.String())
		}
	}
	for _, want := range []string{`"nonsense"`, "no view or table nothing"} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("the errors lack %q:\n%s", want, errs.String())
		}
	}
}

func TestCompletePrompt(t *testing.T) {
	words := completions()
	for _, test := range []struct{ line, head, first, tail string }{
		{"sel", "", "SELECT", ""},
		{"SELECT * FROM function_m", "SELECT * FROM ", "function_metrics", ""},
		{".sch", "", ".schema", ""},
		{"SELECT f.exclu", "SELECT f.", "exclusive", ""},
		{"SELECT 'dürr' AS exclu", "SELECT 'dürr' AS ", "exclusive", ""},
	} {
		head, found, tail := complete(words, test.line, len([]rune(test.line)))
		if head != test.head || tail != test.tail || len(found) == 0 || found[0] != test.first {
			t.Errorf("%q: %q %q %q", test.line, head, found, tail)
		}
	}
	if _, found, _ := complete(words, "SELECT ", 7); found != nil {
		t.Errorf("nothing typed completes to %d words", len(found))
	}
}

// Only the user can read the history, even if the file existed with other permissions.
func TestHistoryIsPrivate(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", filepath.Join(t.TempDir(), "state"))
	name := historyFile()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	l := liner.NewLiner()
	l.AppendHistory("SELECT 'private'")
	if err := errors.Join(writeHistory(l, name), l.Close()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(name)
	if err != nil || info.Mode().Perm() != 0o600 || info.Size() == 0 {
		t.Errorf("%v, %v", info, err)
	}
}
