package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/internal/exit"
)

// consolePage is a page whose console blocks are run: its setup, the minimum number of commands,
// and shell functions that replace programs whose results vary or that a test cannot run.
type consolePage struct {
	page     string
	setup    func(t *testing.T, dir string)
	commands int
	standIns string
}

var consolePages = []consolePage{
	{"README.md", firstSteps, 7, ""},
	{"docs/tour.md", demoStore, 7, ""},
	{"docs/filters.md", demoStore, 5, ""},
	{"docs/compare.md", twoBuilds, 3, ""},
	{"docs/digest.md", fleetOfNights, 3, ""},
	{"docs/data-objects.md", sessions, 11, recordedSessions},
	{"docs/export.md", exportStore, 16, recordedShapes},
	{"docs/perf.md", perfStore, 5, recordedByPerf},
	{"docs/operations.md", firstSteps, 3, ""},
	{"docs/cluster.md", clusterFolder, 6, ""},
	{"docs/store.md", firstSteps, 7, ""},
	{"docs/serve.md", demoServer, 9, ""},
}

// TestConsoleBlocks runs the commands of the pages' console blocks, and compares what they print: ... in
// the page matches any text within a line or, alone on a line, any lines. With -update, output that
// does not match is replaced. Below /data on a page is below the test's folder.
func TestConsoleBlocks(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range consolePages {
		t.Run(p.page, func(t *testing.T) {
			dir := t.TempDir()
			p.setup(t, dir)
			name := filepath.Join(root, p.page)
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			commands := 0
			updated := consoleBlock.ReplaceAllStringFunc(string(text), func(block string) string {
				var b strings.Builder
				for _, c := range consoleCommands(t, consoleBlock.FindStringSubmatch(block)[1]) {
					if findReason(p.page, c.script) != nil {
						b.WriteString(c.text + c.output)
						continue
					}
					commands++
					b.WriteString(c.text + runConsole(t, dir, p.standIns, c))
				}
				return "```console\n" + b.String() + "```\n"
			})
			if commands < p.commands {
				t.Errorf("%d commands, want at least %d", commands, p.commands)
			}
			if *update && updated != string(text) {
				if err := os.WriteFile(name, []byte(updated), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

var consoleBlock = regexp.MustCompile("(?s)```console\n(.*?)```\n")

// consoleCommand is a command of a console block: its lines ("$ ..." and "> ..."), the script in
// them, and the output on the page.
type consoleCommand struct{ text, script, output string }

func consoleCommands(t *testing.T, block string) (list []consoleCommand) {
	for line := range strings.Lines(block) {
		command, starts := strings.CutPrefix(line, "$ ")
		more, continues := strings.CutPrefix(line, "> ")
		switch {
		case starts:
			list = append(list, consoleCommand{text: line, script: command})
		case len(list) == 0:
			t.Fatalf("a console block begins with %q, not with a command", line)
		case continues && list[len(list)-1].output == "":
			list[len(list)-1].text += line
			list[len(list)-1].script += more
		default:
			list[len(list)-1].output += line
		}
	}
	return list
}

// runConsole runs a command in dir and returns what the page should show: the output, with messages
// if the page has them, and the page's own text if that matches.
func runConsole(t *testing.T, dir, standIns string, c consoleCommand) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	address, err := os.ReadFile(filepath.Join(dir, "address")) // of the test's server, which the page shows at the usual address
	if err != nil {
		address = []byte(usualAddress)
	}
	script := strings.NewReplacer(usualAddress, string(address), "/data/", dir+"/data/").Replace(standIns + c.script)
	sh := exec.CommandContext(t.Context(), "bash", "-c", setupShell+script)
	sh.Dir, sh.Stdout, sh.Stderr = dir, &stdout, &stderr
	sh.Env = append(os.Environ(), "HOME="+dir, "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "TZ=UTC", "LC_ALL=C.UTF-8", "STACKMILL_STORE="+filepath.Join(dir, "store"), "TESTDATA="+filepath.Join(dir, "testdata"))
	if cache, err := os.UserCacheDir(); err == nil && os.Getenv("GOCACHE") == "" { // `go tool` would rebuild in another home
		sh.Env = append(sh.Env, "GOCACHE="+filepath.Join(cache, "go-build"))
	}
	status := 0
	var ended *exec.ExitError
	if err := sh.Run(); errors.As(err, &ended) {
		status = ended.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	if status != c.status() {
		t.Errorf("%sstatus %d: %s%s", c.text, status, &stdout, &stderr)
		return c.output
	}
	shown := strings.NewReplacer(dir+"/data/", "/data/", string(address), usualAddress)
	out := shown.Replace(stdout.String())
	if out != "" && !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	if c.output != "" && out == "" { // the verb prints only messages, and the page shows them
		out = shown.Replace(stderr.String())
	}
	if c.output == "" && out == "" || c.output != "" && matchesPage(c.output, out) {
		return c.output
	}
	if !*update {
		t.Errorf("%s-page +printed\n%s", c.text, cmp.Diff(c.output, out))
	}
	return out
}

// status returns the expected exit status: 0, except for a gate whose output on the page says that
// a rule is violated.
func (c consoleCommand) status() int {
	if strings.HasPrefix(c.script, "stackmill gate") && strings.Contains(c.output, "\nviolated: ") {
		return exit.Violated
	}
	return 0
}

// usualAddress is the default of serve's --listen.
const usualAddress = "127.0.0.1:7788"

// setupShell makes ingest find the load objects of the recordings in testdata, as on the machine where
// they were made, and nothing else of this machine.
const setupShell = `
set -o pipefail
stackmill() {
	if [ "$1" = ingest ]; then
		command stackmill "$@" --cache "$HOME/cache" --no-system-debug --debug-dir "$HOME" --symfs "$TESTDATA/symfs" --no-recorded-sources
	else
		command stackmill "$@"
	fi
}
`

// matchesPage reports whether an output is as the page shows it, apart from blanks at the ends of lines.
func matchesPage(page, output string) bool {
	trim := func(text string) string {
		return strings.TrimRight(regexp.MustCompile(`(?m)[ \t]+$`).ReplaceAllString(text, ""), "\n") + "\n"
	}
	pattern := regexp.QuoteMeta(trim(page))
	pattern = regexp.MustCompile(`(?m)^\\\.\\\.\\\.\n`).ReplaceAllString(pattern, `(?:.*\n)*?`)
	pattern = strings.ReplaceAll(pattern, `\.\.\.`, `.*`)
	return regexp.MustCompile(`\A` + pattern + `\z`).MatchString(trim(output))
}

func TestMatchesPage(t *testing.T) {
	for _, c := range []struct {
		page, output string
		want         bool
	}{
		{"a\n", "a  \n\n", true},
		{"a\n", "b\n", false},
		{"a\n...\nd\n", "a\nb\nc\nd\n", true},
		{"in ... s\n", "in 0.7 s\n", true},
		{"in ... s\n", "in 0.7 s\nmore\n", false},
		{"a\n...\n", "a\n", true},
	} {
		if got := matchesPage(c.page, c.output); got != c.want {
			t.Errorf("%q matches %q: %v", c.page, c.output, got)
		}
	}
}

// TestIndexIsComplete checks that docs/README.md has a link to every page.
func TestIndexIsComplete(t *testing.T) {
	index, err := os.ReadFile("../../docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages: %v", len(pages), err)
	}
	for _, page := range pages {
		if name := filepath.Base(page); name != "README.md" && !bytes.Contains(index, []byte("]("+name+")")) {
			t.Errorf("docs/README.md has no link to %s", name)
		}
	}
}

// TestVerbsPage checks that docs/verbs.md names every verb.
func TestVerbsPage(t *testing.T) {
	page, err := os.ReadFile("../../docs/verbs.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range newRoot(&app{}).Commands() {
		if !c.Hidden && !bytes.Contains(page, []byte("`"+c.Name()+"`")) {
			t.Errorf("docs/verbs.md does not name %s", c.Name())
		}
	}
}

// pasted matches the line that `make demo` prints for pasting.
var pasted = regexp.MustCompile(`(?m)^export PATH="(.*)/bin:\$PATH" STACKMILL_STORE="(.*)"$`)

// demo returns the arguments of the ingest in `make demo`, without paths, and the store in its last
// line.
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
