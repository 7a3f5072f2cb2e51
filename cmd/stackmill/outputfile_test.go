//go:build cgo

package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"stackmill/internal/corpus"
	"stackmill/internal/exit"
	"stackmill/queries/storetest"
)

// groupsOfTwo describes a store of two groups of experiments that hardly differ.
func groupsOfTwo() string {
	return storetest.Groups("clock", storetest.Vary(9, map[string]int{"f": 100, "g": 200}), storetest.Vary(9, map[string]int{"f": 100, "g": 220}))
}

// outputCalls are calls whose last argument is a file to write, without `plan`, whose file must be
// new.
func outputCalls(t *testing.T) map[string][]string {
	t.Helper()
	store, groups := storetest.New(t, storetest.Two), storetest.New(t, groupsOfTwo())
	recordings, err := corpus.Dir()
	if err != nil {
		t.Fatal(err)
	}
	ingest := func() []string {
		return []string{"ingest", "--store", filepath.Join(t.TempDir(), "store"), "--cache", "", filepath.Join(recordings, "exp", "stripmain.er")}
	}
	return map[string][]string{
		"query":   {"query", "--store", store, "--format", "csv", "FROM range(3)", "-o"},
		"parquet": {"query", "--store", store, "--format", "parquet", "FROM range(3)", "-o"},
		"rows":    {"query", "--store", store, "--as", "folded", "FROM folded WHERE mode = 'user' AND metric = 'totalcpu' ORDER BY ALL", "-o"},
		"export":  {"export", "--store", store, "--as", "folded", "--metric", "totalcpu", "-o"},
		"pprof":   {"export", "--store", store, "--as", "pprof", "-o"},
		"junit":   {"gate", "--store", groups, "--base", "base-*", "--test", "test-*", "--max-increase", "20%", "--junit"},
		"report":  append(ingest(), "--report"),
		"metrics": append(ingest(), "--metrics"),
	}
}

// A verb writes to pipes, devices and open descriptors as to files.
func TestOutputsThatAreNoFiles(t *testing.T) {
	for name, call := range outputCalls(t) {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			run := func(path string, setup func(*exec.Cmd)) (string, error) {
				c := program(t, append(slices.Clone(call), path)...)
				var errs bytes.Buffer
				c.Stderr = &errs
				if setup != nil {
					setup(c)
				}
				err := c.Run()
				return errs.String(), err
			}
			file := filepath.Join(dir, "file")
			if errs, err := run(file, nil); err != nil {
				t.Fatalf("%v: %s", err, errs)
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			same := func(what string, got []byte, errs string, err error) {
				t.Helper()
				if err != nil || len(got) == 0 || (name != "report" && name != "metrics" && name != "pprof" && !bytes.Equal(got, want)) {
					t.Errorf("%s: %v: %d bytes, %d in a file: %s", what, err, len(got), len(want), errs)
				}
			}

			if errs, err := run("/dev/null", nil); err != nil {
				t.Errorf("/dev/null: %v: %s", err, errs)
			}
			if errs, err := run("/dev/full", nil); err == nil || !strings.Contains(errs, "no space left on device") {
				t.Errorf("/dev/full: %v: %s", err, errs)
			}

			fifo := filepath.Join(dir, "fifo")
			if err := unix.Mkfifo(fifo, 0o666); err != nil {
				t.Fatal(err)
			}
			read := make(chan []byte)
			go func() {
				got, _ := os.ReadFile(fifo)
				read <- got
			}()
			errs, err := run(fifo, nil)
			if err != nil { // it may not have opened the pipe
				f, _ := os.OpenFile(fifo, os.O_RDWR, 0)
				defer f.Close()
			}
			same("a named pipe", <-read, errs, err)

			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				got, _ := io.ReadAll(r)
				read <- got
			}()
			errs, err = run("/dev/fd/3", func(c *exec.Cmd) { c.ExtraFiles = []*os.File{w} })
			w.Close()
			same("/dev/fd/3", <-read, errs, err)
			if errs, err := run("/dev/fd/9", nil); err == nil || !strings.Contains(errs, "bad file descriptor") {
				t.Errorf("/dev/fd/9: %v: %s", err, errs)
			}

			// If standard output is a file, it is neither truncated nor replaced. The test uses a
			// link instead of /dev/stdout, because a bug would replace that for the whole machine.
			link, log := filepath.Join(dir, "stdout"), filepath.Join(dir, "log")
			if err := errors.Join(os.Symlink("/proc/self/fd/1", link), os.WriteFile(log, []byte("before\n"), 0o666)); err != nil {
				t.Fatal(err)
			}
			out, err := os.OpenFile(log, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer out.Close()
			errs, err = run(link, func(c *exec.Cmd) { c.Stdout = out })
			got, _ := os.ReadFile(log)
			got, kept := bytes.CutPrefix(got, []byte("before\n"))
			if len(call) > 0 && (call[0] == "gate" || call[0] == "ingest") { // they also print
				if !kept || len(got) == 0 || err != nil {
					t.Errorf("standard output: %v: %q %s", err, got, errs)
				}
			} else {
				same("standard output", got, errs, err)
			}
			if to, err := os.Readlink(link); err != nil || !kept {
				t.Errorf("the link became %q, the file %q: %v", to, got, err)
			}
		})
	}
}

// On a full disk, the output file stays as it was, and nothing else is left in its folder.
func TestOutputsOnFullDisks(t *testing.T) {
	for name, call := range outputCalls(t) {
		if call[0] == "ingest" { // it also writes the store
			continue
		}
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "file")
			if err := os.WriteFile(file, []byte("old"), 0o666); err != nil {
				t.Fatal(err)
			}
			c := program(t, append(slices.Clone(call), file)...)
			c.Args = append([]string{"sh", "-c", `ulimit -f 0; exec -a stackmill "$0" "$@"`, c.Path}, c.Args[1:]...)
			c.Path = "/bin/bash"
			out, err := c.CombinedOutput()
			text, rerr := os.ReadFile(file)
			entries, derr := os.ReadDir(dir)
			if err == nil || c.ProcessState.ExitCode() != exit.Failed || rerr != nil || derr != nil || string(text) != "old" || len(entries) != 1 || !strings.Contains(strings.ToLower(string(out)), "file too large") {
				t.Errorf("%v: %q, %d files: %s", err, text, len(entries), out)
			}
		})
	}
}

// printing has the arguments with which verbs print something; other verbs print without arguments,
// or only with --help.
var printing = map[string]string{
	"query": "SELECT 1", "compare": "--base base-* --test test-*", "gate": "--base base-* --test test-*",
	"forget": "monday/test.1.er --dry-run", "label": "monday/test.1.er x=y", "export": "--as folded --metric totalcpu -o -", "plan": "", "plan status": "", "plan retry": "",
	"ingest": "", "record": "", "completion": "", "man": "", "mcp": "", "serve": "--listen 127.0.0.1:0",
}

// A full standard output is an error of every verb and of its help.
func TestFullStandardOutput(t *testing.T) {
	two, groups := storetest.New(t, storetest.Two), storetest.New(t, groupsOfTwo())
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer full.Close()
	tried := 0
	everyCommand(func(words []string, c *cobra.Command) {
		name := strings.Join(words, " ")
		calls := [][]string{append(words[:len(words):len(words)], "--help")}
		if args, there := printing[name]; name != "" && (!there || args != "") {
			call := append(words[:len(words):len(words)], args)
			if name != "query" {
				call = append(words[:len(words):len(words)], strings.Fields(args)...)
			}
			switch name {
			case "version":
			case "compare", "gate":
				call = append(call, "--store", groups)
			default:
				call = append(call, "--store", two)
			}
			calls = append(calls, call)
		}
		for _, call := range calls {
			tried++
			p := program(t, call...)
			var errs bytes.Buffer
			p.Stdout, p.Stderr = full, &errs
			err := p.Run()
			if err == nil || p.ProcessState.ExitCode() != exit.Failed || strings.Count(errs.String(), syscall.ENOSPC.Error()) != 1 {
				t.Errorf("%q: %v: %s", call, err, &errs)
			}
		}
	})
	t.Logf("%d calls", tried)
}

// When a reader closes the pipe, the program ends quietly. If standard output is closed, no file
// that the program opens gets its descriptor.
func TestEndedStandardOutput(t *testing.T) {
	store := storetest.New(t, storetest.Two)
	const statement = "SELECT range, repeat('x', 100) FROM range(1000000)"
	for _, more := range [][]string{nil, {"-o", "/dev/stdout"}} {
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		p := program(t, append([]string{"query", "--store", store, "--format", "csv", statement}, more...)...)
		var errs bytes.Buffer
		p.Stdout, p.Stderr = w, &errs
		if err := p.Start(); err != nil {
			t.Fatal(err)
		}
		w.Close()
		_, _ = r.Read(make([]byte, 10))
		r.Close()
		err = p.Wait()
		if status, ok := p.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != syscall.SIGPIPE || errs.Len() > 0 {
			t.Errorf("%v: %v: %s", more, err, &errs)
		}
	}
	p := program(t, "query", "--store", store, "FROM range(10)")
	p.Args = append([]string{"bash", "-c", `exec -a stackmill "$0" "$@" >&-`, p.Path}, p.Args[1:]...)
	p.Path = "/bin/bash"
	if out, err := p.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
	if out, errs, status := call("check", "--store", store); status != 0 {
		t.Errorf("%s%s", out, errs)
	}
}
