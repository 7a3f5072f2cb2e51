package main

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

var realPerf = flag.Bool("real-perf", false, "record in TestRecipes with perf, which takes minutes, instead of repeating what it once recorded")

// ciRecipe is a pipeline on docs/ci.md.
type ciRecipe struct {
	heading string
	scripts func(text []byte) ([]string, error) // the scripts of the job, one after the other
	first   int                                 // exit status of the job of the first commit
}

// TestRecipes runs the pipelines of docs/ci.md, as their CI systems would, for four commits of a
// program: a good one, one that makes it 3 % slower, one that changes nothing, and one that reverts
// the second. The repository, commits and builds are real. The recordings have values that perf once
// recorded for the same builds (queries/compare/testdata/rounds.tsv), so that the output is the same
// as on the page. With -real-perf, perf makes the recordings, and the output is not compared.
func TestRecipes(t *testing.T) {
	for _, tool := range []string{"git", "gcc", "make"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed", tool)
		}
	}
	page, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	updated := string(page)
	for _, r := range []ciRecipe{{"GitHub Actions", githubScripts, 0}, {"GitLab", gitlabScripts, 1}} {
		t.Run(r.heading, func(t *testing.T) {
			_, section, found := strings.Cut(updated, "\n## "+r.heading+"\n")
			section, _, _ = strings.Cut(section, "\n## ")
			pipeline := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(section)
			if !found || pipeline == nil {
				t.Fatal("the page has no such pipeline")
			}
			scripts, err := r.scripts([]byte(pipeline[1]))
			if err != nil || len(scripts) == 0 {
				t.Fatal(scripts, err)
			}
			printed := runPipeline(t, r, scripts)
			for i, text := range printed { // the test's folder is in the builds
				printed[i] = buildID.ReplaceAllString(text, "...")
			}
			n := 0
			shown := textBlock.ReplaceAllStringFunc(section, func(block string) string {
				text := textBlock.FindStringSubmatch(block)[1]
				if n++; *realPerf || n > len(printed) || matchesPage(text, printed[n-1]) {
					return block
				}
				if !*update {
					t.Errorf("-page +printed\n%s", cmp.Diff(text, printed[n-1]))
				}
				return "```text\n" + printed[n-1] + "```\n"
			})
			if n != len(printed) {
				t.Errorf("the page has %d outputs, want %d", n, len(printed))
			}
			updated = strings.Replace(updated, section, shown, 1)
		})
	}
	if *update && updated != string(page) {
		if err := os.WriteFile("../../docs/ci.md", []byte(updated), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

var buildID = regexp.MustCompile(`\b[0-9a-f]{12}(, [0-9a-f]{12})*\b`)

var textBlock = regexp.MustCompile("(?s)```text\n(.*?)```\n")

// githubScripts returns the scripts of a job's steps in GitHub Actions. The only condition that it
// knows is the one for the branch main, which it takes as true.
func githubScripts(text []byte) (scripts []string, err error) {
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct{ Run, If string }
		}
	}
	if err := yaml.Unmarshal(text, &workflow); err != nil {
		return nil, err
	}
	for _, step := range workflow.Jobs["gate"].Steps {
		if step.If != "" && step.If != "github.ref == 'refs/heads/main'" {
			return nil, fmt.Errorf("unknown condition %s", step.If)
		}
		if step.Run != "" {
			scripts = append(scripts, step.Run)
		}
	}
	return scripts, nil
}

// gitlabScripts returns the script of a job in GitLab, whose lines run in one shell.
func gitlabScripts(text []byte) ([]string, error) {
	var jobs map[string]struct{ Script []string }
	err := yaml.Unmarshal(text, &jobs)
	return []string{strings.Join(jobs["gate"].Script, "\n")}, err
}

// runPipeline runs the scripts for each commit, and returns the output of the gates. The first commit
// is the reference. If a recipe keeps its reference in the store, the pipeline of the first commit runs
// twice: as for any commit, and as if started by hand.
func runPipeline(t *testing.T, r ciRecipe, scripts []string) (printed []string) {
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	good, slow := planted(t, 1000), planted(t, 1075)
	commits := []struct {
		subject, source string
		status          int
	}{
		{"first", good, r.first}, {"slower", slow, 5}, {"other", slow + "/* another change */\n", 5}, {"repaired", good, 0},
	}
	shell(t, dir, nil, "git init -q --bare -b main origin.git; git clone -q origin.git work 2>/dev/null; cd work; git config user.name me; git config user.email me@example.com")
	standIn := filepath.Join(dir, "bin")
	if err := errors.Join(os.Mkdir(standIn, 0o777), os.WriteFile(filepath.Join(standIn, "perf"), []byte("#!/bin/sh\nexec recorded-perf \"$@\"\n"), 0o777)); err != nil {
		t.Fatal(err)
	}
	rounds, err := filepath.Abs("../../queries/compare/testdata/rounds.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range commits {
		makefile, err := os.ReadFile("testdata/ci/Makefile")
		if err := errors.Join(err, os.WriteFile(filepath.Join(work, "bench.c"), []byte(c.source), 0o644), os.WriteFile(filepath.Join(work, "Makefile"), makefile, 0o644)); err != nil {
			t.Fatal(err)
		}
		shell(t, work, nil, "git add -A; git commit -q -m "+c.subject+"; git push -q origin main")
		env := []string{"CI_COMMIT_BRANCH=main", "CI_PIPELINE_SOURCE=push", "CI_COMMIT_SHA=" + c.subject, "STACKMILL_STORE=" + filepath.Join(dir, "store"),
			"ROUNDS=" + rounds, "FIRST_ROUND=" + strconv.Itoa(10*i)}
		if !*realPerf {
			env = append(env, "PATH="+standIn+":"+os.Getenv("PATH"))
		}
		if i == 0 && r.first == 0 { // the reference is set by hand
			shell(t, work, nil, "git tag performance-good; git push -q origin performance-good")
			continue
		}
		out, status := runJob(t, dir, scripts, env)
		if status != c.status {
			t.Errorf("%s: status %d, want %d:\n%s", c.subject, status, c.status, out)
		}
		if i == 0 {
			if !strings.Contains(out, "label accepted=yes") {
				t.Errorf("the first pipeline says %s", out)
			}
			env = append(env, "CI_PIPELINE_SOURCE=web", "FIRST_ROUND=50")
			if out, status = runJob(t, dir, scripts, env); status != 0 {
				t.Errorf("started by hand: status %d: %s", status, out)
			}
		}
		if *realPerf {
			t.Logf("%s: status %d\n%s", c.subject, status, out)
		}
		printed = append(printed, out)
	}
	return printed
}

// planted returns the source of the program, in which search takes this many thousandths of its time in
// the good build.
func planted(t *testing.T, thousandths int) string {
	t.Helper()
	text, err := os.ReadFile("testdata/ci/bench.c")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Replace(string(text), "#define PLANT 1000", "#define PLANT "+strconv.Itoa(thousandths), 1)
}

// runJob runs scripts in a new clone of the repository, as a CI system does: it stops at the first
// script that fails. It returns the exit status, and the output of the gate.
func runJob(t *testing.T, dir string, scripts, env []string) (gate string, status int) {
	t.Helper()
	clone, err := os.MkdirTemp(dir, "job")
	if err != nil {
		t.Fatal(err)
	}
	shell(t, clone, nil, "git clone -q ../origin.git .")
	if slices.ContainsFunc(scripts, func(s string) bool { return strings.Contains(s, "git worktree") }) { // the job has a store of its own
		env = append(env, "STACKMILL_STORE="+filepath.Join(clone, "performance-store"))
	}
	var outputs string
	for _, script := range scripts {
		out, errs, s := shell(t, clone, env, script)
		if status = s; status != 0 && status != 5 {
			outputs += errs
		}
		if strings.Contains(script, "stackmill gate") {
			outputs += out
		}
		if status != 0 {
			break
		}
	}
	return gateOutput(outputs), status
}

// gateOutput returns the gate's part of the output of a script: from the line that begins with an
// outcome.
func gateOutput(text string) string {
	at := regexp.MustCompile(`(?m)^(passed|violated|undecided)`).FindStringIndex(text)
	if at == nil {
		return text
	}
	return text[at[0]:]
}

// shell runs a script. Without an environment, it must succeed.
func shell(t *testing.T, dir string, env []string, script string) (stdout, stderr string, status int) {
	t.Helper()
	var out, errs bytes.Buffer
	c := exec.CommandContext(t.Context(), "bash", "-eo", "pipefail", "-c", script)
	c.Dir, c.Stdout, c.Stderr, c.Env = dir, &out, &errs, append(os.Environ(), env...)
	err := c.Run()
	var ended *exec.ExitError
	if err != nil && (env == nil || !errors.As(err, &ended)) {
		t.Fatalf("%s: %v\n%s%s", script, err, &out, &errs)
	}
	if ended != nil {
		status = ended.ExitCode()
	}
	return out.String(), errs.String(), status
}

// recordedPerf replaces perf in TestRecipes: `perf record ... -o runs/new-7.data ./bench` writes a
// recording that has, for each function of the program, the value of one of the runs in $ROUNDS: the
// run of the same build in round $FIRST_ROUND + 7.
func recordedPerf() {
	if err := repeatRecording(os.Args); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func repeatRecording(args []string) error {
	output, program := args[slices.Index(args, "-o")+1], args[len(args)-1]
	binary, err := os.ReadFile(program)
	rounds, err2 := os.ReadFile(os.Getenv("ROUNDS"))
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	side, number, ok := strings.Cut(strings.TrimSuffix(filepath.Base(output), ".data"), "-")
	if !ok {
		side, number = "", side
	}
	round, err := strconv.Atoi(number)
	if err != nil {
		return err
	}
	first, err := strconv.Atoi(os.Getenv("FIRST_ROUND"))
	if err != nil {
		return err
	}
	round += first
	build := "base"
	switch {
	case bytes.Contains(binary, []byte("plant=1075")):
		build = "total"
	case side == "new":
		build = "again"
	}
	values := map[string]int{}
	for line := range strings.Lines(string(rounds)) {
		f := strings.Fields(line)
		if f[0] == build && f[1] == strconv.Itoa(round) {
			if values[f[2]], err = strconv.Atoi(f[3]); err != nil {
				return err
			}
		}
	}
	if values["<Total>"] == 0 {
		return fmt.Errorf("%s: no round %d of %s", os.Getenv("ROUNDS"), round, build)
	}
	content, err := composePerf(program, values, args, round)
	if err != nil {
		return err
	}
	return os.WriteFile(output, content, 0o644)
}

// composePerf returns a perf.data file with samples of cpu-clock:u, one for each 200 µs of the
// values of the program's functions, in ns.
func composePerf(program string, values map[string]int, args []string, round int) ([]byte, error) {
	const (
		sampleType, period          = 1 | 2 | 4, 200000 // IP, TID, TIME
		flags                       = 1<<5 | 1<<18      // without the kernel; all records have TID and TIME
		headerSize, attrSize        = 104, 120
		hostname, eventDesc, cmd    = 3, 12, 11 // features
		commRecord, mmapRecord, pid = 3, 1, 4711
	)
	f, err := elf.Open(program)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		return nil, err
	}
	absolute, err := filepath.Abs(program)
	if err != nil {
		return nil, err
	}
	code := f.Progs[slices.IndexFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 })]
	const base = 0x555555554000
	start := uint64(round) * 1e12
	order := binary.LittleEndian
	words := func(list ...uint64) (out []byte) {
		for _, w := range list {
			out = order.AppendUint64(out, w)
		}
		return out
	}
	text := func(s string) []byte { return append([]byte(s), make([]byte, 8-len(s)%8)...) }
	var data []byte
	record := func(kind uint32, misc uint16, body []byte) {
		data = order.AppendUint32(data, kind)
		data = order.AppendUint16(data, misc)
		data = append(order.AppendUint16(data, uint16(8+len(body))), body...)
	}
	thread := uint64(pid) | uint64(pid)<<32
	id := words(thread, start)
	record(commRecord, 1<<13, slices.Concat(words(thread), text("bench"), id))
	size := (code.Memsz + 0xfff) &^ 0xfff
	record(mmapRecord, 2, slices.Concat(words(thread, base+code.Vaddr&^0xfff, size, code.Off&^0xfff), text(absolute), id))
	left, now := values["<Total>"], start
	sample := func(function string, value int) error {
		n := slices.IndexFunc(symbols, func(s elf.Symbol) bool { return s.Name == function })
		if n < 0 {
			return fmt.Errorf("%s has no function %s", program, function)
		}
		for range value / period {
			now += period
			record(9, 2, words(base+symbols[n].Value+4, thread, now))
		}
		left -= value
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if name != "<Total>" {
			if err := sample(name, values[name]); err != nil {
				return nil, err
			}
		}
	}
	if err := sample("main", left); err != nil {
		return nil, err
	}
	attr := slices.Concat(words(1|104<<32, 0, period, sampleType, 0, flags), make([]byte, 104-48), words(0, 0))
	sized := func(s string) []byte { return append(order.AppendUint32(nil, uint32(len(text(s)))), text(s)...) }
	command := order.AppendUint32(nil, uint32(len(args)))
	for _, a := range args {
		command = append(command, sized(a)...)
	}
	events := slices.Concat(order.AppendUint32(order.AppendUint32(nil, 1), 104), attr[:104], order.AppendUint32(nil, 0), sized("cpu-clock:u"))
	features := [][]byte{sized("runner"), command, events}
	index, payloads := []byte(nil), []byte(nil)
	for _, p := range features {
		index = append(index, words(uint64(headerSize+attrSize+len(data)+16*len(features)+len(payloads)), uint64(len(p)))...)
		payloads = append(payloads, p...)
	}
	header := append([]byte("PERFILE2"), words(headerSize, attrSize, headerSize, attrSize, uint64(headerSize+attrSize), uint64(len(data)), 0, 0, 1<<hostname|1<<cmd|1<<eventDesc, 0, 0, 0)...)
	return slices.Concat(header, attr, data, index, payloads), nil
}
