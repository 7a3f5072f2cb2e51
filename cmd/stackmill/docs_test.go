package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/internal/corpus"
	"stackmill/internal/exit"
	"stackmill/schema"
	"stackmill/stages/decode/gprofng/gprofngtest"
)

// consolePages are the pages whose console blocks are run, each with its setup and the least number of
// commands.
var consolePages = []struct {
	page     string
	setup    func(t *testing.T, dir string)
	commands int
}{
	{"README.md", firstSteps, 8},
	{"docs/tour.md", demoStore, 7},
	{"docs/filters.md", demoStore, 5},
	{"docs/export.md", demoStore, 2},
	{"docs/perf.md", perfStore, 1},
	{"docs/operations.md", firstSteps, 2},
	{"docs/store.md", firstSteps, 7},
	{"docs/serve.md", demoServer, 5},
}

// TestConsoleBlocks runs the commands of the pages' console blocks, and compares what they print: ... in
// the page matches any text within a line or, alone on a line, any lines. With -update, output that
// does not match is replaced.
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
					commands++
					b.WriteString(c.text + runConsole(t, dir, c))
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

// consoleCommand is a command of a console block: its lines ("$ ..." and "> ..."), the script that they
// are, and the output that the page shows.
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

// runConsole runs a command in dir and returns what the page should show: its own output if that matches.
func runConsole(t *testing.T, dir string, c consoleCommand) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	address, err := os.ReadFile(filepath.Join(dir, "address")) // of a server that the page has at its usual one
	if err != nil {
		address = []byte(usualAddress)
	}
	sh := exec.CommandContext(t.Context(), "bash", "-c", setupShell+strings.ReplaceAll(c.script, usualAddress, string(address)))
	sh.Dir, sh.Stdout, sh.Stderr = dir, &stdout, &stderr
	sh.Env = append(os.Environ(), "HOME="+dir, "TZ=UTC", "STACKMILL_STORE="+filepath.Join(dir, "store"), "TESTDATA="+filepath.Join(dir, "testdata"))
	if err := sh.Run(); err != nil {
		t.Errorf("%s%v: %s", c.text, err, &stderr)
		return c.output
	}
	if matchesPage(c.output, stdout.String()) {
		return c.output
	}
	if !*update {
		t.Errorf("%s-page +printed\n%s", c.text, cmp.Diff(c.output, stdout.String()))
	}
	return stdout.String()
}

// usualAddress is where serve listens unless --listen says otherwise.
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

// firstSteps fills the folder in which the README's commands run: two recordings, and a folder of
// ten nights, in which search becomes slower.
func firstSteps(t *testing.T, dir string) {
	perfRecordings(t, dir)
	recordings, err := corpus.Dir()
	err = errors.Join(err,
		os.Rename(filepath.Join(dir, "testdata/perf/p_recur_dwarf.data"), filepath.Join(dir, "perf.data")),
		os.CopyFS(filepath.Join(dir, "test.1.er"), os.DirFS(filepath.Join(recordings, "exp/recur.er"))))
	for n := range 10 {
		search := 200 + n*7%5
		if n >= 5 {
			search += 40
		}
		err = errors.Join(err, composeNight(filepath.Join(dir, "nights", fmt.Sprintf("2026-11-%02d", 10+n), "bench.er"), search, n))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// composeNight makes the recording of a night, with so many samples in search and some 100 in parse.
func composeNight(dir string, search, n int) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return err
	}
	e := gprofngtest.New(dir)
	e.Function(0, 0x1000, 0x100, "search")
	e.Function(0, 0x1100, 0x100, "parse")
	e.Declare(schema.Clock, `ptimer="1000" numstates="1"`)
	inSearch, inParse := e.Frame(0x1004), e.Frame(0x1104)
	for i := range search + 100 + n*3%4 {
		stack := inSearch
		if i >= search {
			stack = inParse
		}
		e.Events(schema.Clock).Put(0, &gprofngtest.Layouts[schema.Clock][0],
			gprofngtest.Packet{Thread: 1, Time: int64(n) + int64(i)*1e6, Stack: stack, Values: []int64{10, 1}})
	}
	return e.Close()
}

// perfRecordings unpacks the recordings of perf below dir/testdata.
func perfRecordings(t *testing.T, dir string) {
	folder := filepath.Join(dir, "testdata")
	if err := errors.Join(os.Mkdir(folder, 0o777), corpus.Perf(folder)); err != nil {
		t.Fatal(err)
	}
}

// demoStore makes the store of `make demo`.
func demoStore(t *testing.T, dir string) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	ingest, _ := demo(t, root)
	recordings := t.TempDir()
	err = errors.Join(corpus.Unpack(filepath.Join(root, "testdata/gprofng/experiments.tar.gz"), recordings),
		os.Mkdir(filepath.Join(dir, "testdata"), 0o777),
		os.CopyFS(filepath.Join(dir, "testdata/gprofng/src"), os.DirFS(filepath.Join(root, "testdata/gprofng/src"))))
	if err != nil {
		t.Fatal(err)
	}
	args := append(ingest, "--store", filepath.Join(dir, "store"), "--no-system-debug", "--debug-dir", dir, filepath.Join(recordings, "exp"))
	if _, errs, status := call(args...); status != 0 && status != exit.Lost {
		t.Fatalf("status %d: %s", status, errs)
	}
}

// perfStore makes a store of one program's recordings by perf and by gprofng.
func perfStore(t *testing.T, dir string) {
	perfRecordings(t, dir)
	recordings, err := corpus.Dir()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{"ingest", "--store", filepath.Join(dir, "store"), "--no-system-debug", "--debug-dir", dir, "--symfs", filepath.Join(dir, "testdata/symfs"),
		filepath.Join(dir, "testdata/perf/p_recur_dwarf.data"), filepath.Join(recordings, "exp/recur.er")}
	if _, errs, status := call(args...); status != 0 {
		t.Fatalf("status %d: %s", status, errs)
	}
}

// demoServer serves the store of `make demo`. The files token, curlrc and address are for its clients.
func demoServer(t *testing.T, dir string) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip(err)
	}
	demoStore(t, dir)
	const token = "0123456789abcdef0123456789abcdef"
	err := errors.Join(os.WriteFile(filepath.Join(dir, "token"), []byte(token), 0o600),
		os.WriteFile(filepath.Join(dir, "curlrc"), []byte(`header = "Authorization: Bearer `+token+`"`), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	serve := exec.CommandContext(t.Context(), "stackmill", "serve", "--store", "store", "--token-file", "token", "--listen", "127.0.0.1:0")
	serve.Dir = dir
	stdout, err := serve.StdoutPipe()
	if err := errors.Join(err, serve.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = serve.Process.Signal(os.Interrupt)
		_ = serve.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	address, found := strings.CutPrefix(strings.TrimSpace(line), "listening on http://")
	if err != nil || !found {
		t.Fatalf("serve prints %q: %v", line, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "address"), []byte(address), 0o600); err != nil {
		t.Fatal(err)
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

// pasted is the last line of `make demo` that is to be pasted.
var pasted = regexp.MustCompile(`(?m)^export PATH="(.*)/bin:\$PATH" STACKMILL_STORE="(.*)"$`)

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
