package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/internal/exit"
)

// readmeCommand is a command of the README's first look with what it prints: all that
// follows until the next command or text.
var readmeCommand = regexp.MustCompile(`(?m)^    \$ (stackmill (?:[^\n"]|"[^"]*")*)\n((?:    [^$\n][^\n]*\n|\n)*)`)

// pasted is the last line of `make demo` that is to be pasted.
var pasted = regexp.MustCompile(`(?m)^export PATH="(.*)/bin:\$PATH" STACKMILL_STORE="(.*)"$`)

// The README's first look, pasted after `make demo`, prints what stands there; `...` are
// lines that are left out.
func TestReadme(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	ingest, store := demo(t, root)
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "tar", "-xzf", filepath.Join(root, "testdata/gprofng/experiments.tar.gz"), "-C", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Setenv("STACKMILL_STORE", filepath.Join(dir, filepath.Base(store)))
	t.Chdir(root)
	if _, errs, status := call(append(ingest, "--store", os.Getenv("STACKMILL_STORE"), "--no-system-debug", "--debug-dir", dir, filepath.Join(dir, "exp"))...); status != 0 && status != exit.Lost {
		t.Fatalf("status %d: %s", status, errs)
	}
	_, look, _ := strings.Cut(string(page), "\n## A first look\n")
	look, _, _ = strings.Cut(look, "\n## ")
	commands := readmeCommand.FindAllStringSubmatch(look, -1)
	if len(commands) != strings.Count(look, "\n    $ stackmill ") || len(commands) < 5 {
		t.Errorf("%d commands can be read", len(commands))
	}
	for _, c := range commands {
		out, errs, status := call(shellWords(t, c[1])...)
		if status != 0 || errs != "" {
			t.Errorf("%s: status %d: %s", c[1], status, errs)
		}
		if want, got := readmeLines(c[2]), readmeLines(out); !sameButLeftOut(want, got) {
			t.Errorf("%s: -README +printed\n%s", c[1], cmp.Diff(want, got))
		}
	}
}

// demo returns the arguments of the ingest of `make demo` but for its paths, and the store
// that its last line names.
func demo(t *testing.T, root string) (ingest []string, store string) {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "make", "-n", "-C", root, "--no-print-directory", "demo").CombinedOutput()
	if err != nil {
		t.Skipf("%v: %s", err, out)
	}
	m := regexp.MustCompile(`(?m)^bin/stackmill (ingest) --store (\S+) (--recursive) `).FindStringSubmatch(string(out))
	printf := regexp.MustCompile(`(?s)printf '%s\\n'.*`).FindString(string(out))
	printed, err := exec.CommandContext(t.Context(), "sh", "-c", printf).Output()
	p := pasted.FindStringSubmatch(string(printed))
	if m == nil || err != nil || p == nil || p[1] != root || p[2] != filepath.Join(root, m[2]) {
		t.Fatalf("make demo ends with %q, %v, after %q", printed, err, m)
	}
	return []string{m[1], m[3]}, p[2]
}

// shellWords are the arguments of the program in a line of a shell.
func shellWords(t *testing.T, line string) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "sh", "-c", `stackmill() { printf '%s\0' "$@"; }; `+line).Output()
	if err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// leftOut stands for lines that are not in the README.
const leftOut = "..."

// readmeLines are the lines of an output without the widths of columns, and numbers of a
// size that changes with the store's format.
func readmeLines(text string) (lines []string) {
	sizes := regexp.MustCompile(`\d+( (?:batches|files|rows|bytes|keys|invariants)\b)`)
	for line := range strings.Lines(text) {
		if words := strings.Fields(line); len(words) > 0 {
			lines = append(lines, sizes.ReplaceAllString(strings.Join(words, " "), "N$1"))
		}
	}
	return lines
}

// sameButLeftOut compares the README's lines with those of an output.
func sameButLeftOut(want, got []string) bool {
	for i, line := range want {
		if line == leftOut {
			for n := range len(got) + 1 {
				if sameButLeftOut(want[i+1:], got[n:]) {
					return true
				}
			}
			return false
		}
		if len(got) == 0 || got[0] != line {
			return false
		}
		got = got[1:]
	}
	return len(got) == 0
}
