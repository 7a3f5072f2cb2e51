package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"stackmill/pipeline"
	"stackmill/queries"
)

//go:embed programs
var sources embed.FS

// examine builds and records programs, ingests the recordings into a store in the folder out, and
// returns the differences from the programs' logs.
func examine(ctx context.Context, out string, builds []*build) (findings []string, err error) {
	out, err = filepath.Abs(out)
	if err != nil {
		return nil, err
	}
	if err := prepare(ctx, out); err != nil {
		return nil, err
	}
	var recordings []string
	built := map[string]*build{}
	for i, err := range recordAll(ctx, out, builds) {
		b := builds[i]
		if err != nil {
			findings = append(findings, fmt.Sprintf("%s: %v", b.name, err))
			continue
		}
		recordings = append(recordings, filepath.Join(out, b.name, b.name+".data"))
		built[b.name+".data"] = b
	}
	more, err := compare(ctx, out, recordings, built)
	return append(findings, more...), err
}

// compare ingests recordings into a store and returns the differences from the programs' logs.
func compare(ctx context.Context, out string, recordings []string, built map[string]*build) (findings []string, err error) {
	store := filepath.Join(out, "store")
	if err := os.RemoveAll(store); err != nil {
		return findings, err
	}
	results, err := pipeline.Ingest(ctx, pipeline.Options{Store: store, Cache: filepath.Join(out, "cache"), Jobs: 2, Memory: 1 << 30}, recordings...)
	if err != nil {
		return findings, err
	}
	for _, r := range results {
		if r.Err != nil {
			findings = append(findings, fmt.Sprintf("%s: %v", r.Path, r.Err))
		}
	}
	db, err := queries.Open(ctx, store)
	if err != nil {
		return findings, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	list, err := readStore(ctx, db)
	if err != nil {
		return findings, err
	}
	found := func(name, text string) {
		findings = append(findings, fmt.Sprintf("%s: %s", strings.TrimSuffix(name, ".data"), text))
	}
	samples, touches := 0, 0
	for name, e := range list {
		samples += len(e.samples)
		b := built[name]
		truth, err := readTruth(filepath.Join(out, b.name, "truth"))
		if err != nil {
			return findings, err
		}
		touches += len(truth)
		for text, in := range compareStacks(b, e, truth) {
			found(name, fmt.Sprintf("%s (%s)", text, strings.Join(in, ", ")))
		}
	}
	if err := compareViews(ctx, db, list, found); err != nil {
		return findings, err
	}
	if err := compareExports(ctx, db, samples, func(text string) { findings = append(findings, text) }); err != nil {
		return findings, err
	}
	proof, err := queries.Check(ctx, db.Store, queries.CheckOptions{SQL: true})
	if err != nil {
		return findings, err
	}
	for _, w := range proof.Wrong {
		findings = append(findings, fmt.Sprint("check: ", w))
	}
	slices.Sort(findings)
	fmt.Printf("%d recordings, %d samples, %d of them with known truth, %d findings\n", len(list), samples, touches, len(findings))
	return findings, nil
}

// compareStacks compares the stacks of an experiment with the program's log. It returns
// descriptions of differing samples, with the modes in which they differ.
func compareStacks(b *build, e *experiment, truth map[uint64]*touch) map[string][]string {
	known := map[string]bool{}
	for _, t := range truth {
		for _, el := range t.path {
			name, _, _ := strings.Cut(el.function, "@")
			known[name] = true
		}
	}
	findings := map[string][]string{}
	for i, mode := range modes {
		found := func(text string) {
			if !slices.Contains(findings[text], mode) {
				findings[text] = append(findings[text], mode)
			}
		}
		m := &matcher{build: b, mode: i, known: known, ids: map[string]int64{}, keys: map[int64]string{}}
		seen := map[uint64]bool{}
		for _, s := range e.samples {
			t := truth[s.page]
			if t == nil {
				continue
			}
			if seen[s.page] {
				found(fmt.Sprintf("page %#x twice", s.page))
			}
			seen[s.page] = true
			if t.pid != s.pid || t.tid != s.tid {
				found(fmt.Sprintf("thread %d of %d, want %d of %d", s.tid, s.pid, t.tid, t.pid))
			}
			if text := m.compare(t, s.stacks[i], s.reason); text != "" {
				found(text)
			}
		}
		if len(seen) != len(truth) {
			found(fmt.Sprintf("%d touches, want %d", len(seen), len(truth)))
		}
	}
	return findings
}

// prepare writes the sources of the programs and compiles truth.o, which they use to log.
func prepare(ctx context.Context, out string) error {
	src := filepath.Join(out, "src")
	if err := os.MkdirAll(src, 0o777); err != nil {
		return err
	}
	files, err := sources.ReadDir("programs")
	if err != nil {
		return err
	}
	for _, f := range files {
		text, err := sources.ReadFile("programs/" + f.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(src, f.Name()), text, 0o666); err != nil {
			return err
		}
	}
	return shell(ctx, out, "gcc -O2 -fno-omit-frame-pointer -c src/truth.c -o truth.o")
}

// recordAll builds and records programs, two at a time.
func recordAll(ctx context.Context, out string, builds []*build) []error {
	errs := make([]error, len(builds))
	next := make(chan int)
	var group sync.WaitGroup
	for range 2 {
		group.Go(func() {
			for i := range next {
				errs[i] = record(ctx, filepath.Join(out, builds[i].name), builds[i])
			}
		})
	}
	for i := range builds {
		next <- i
	}
	close(next)
	group.Wait()
	return errs
}

// record builds a program in a folder, unless it is there already, and records it.
func record(ctx context.Context, folder string, b *build) error {
	if _, err := os.Stat(filepath.Join(folder, b.name+".data")); err == nil {
		return nil
	}
	if err := errors.Join(os.RemoveAll(folder), os.MkdirAll(folder, 0o777)); err != nil {
		return err
	}
	if err := shell(ctx, folder, "set -e\nS=../src\n"+b.steps); err != nil {
		return err
	}
	chains := map[string]string{"dwarf": "--call-graph dwarf,16384", "fp": "--call-graph fp"}[b.chains]
	script := "TRUTH=$PWD/truth perf record -d -e page-faults:u -c 1 -m 4096 " + chains + " -o recorded ./prog && mv recorded " + b.name + ".data"
	err := shell(ctx, folder, script)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == crashed {
		err = shell(ctx, folder, script)
	}
	return err
}

// crashed is the exit status of the shell if perf crashes, which perf 6.1 rarely does when it exits.
const crashed = 128 + int(syscall.SIGSEGV)

func shell(ctx context.Context, folder, script string) error {
	c := exec.CommandContext(ctx, "sh", "-c", script)
	c.Dir = folder
	if text, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s\n%s", err, script, text)
	}
	return nil
}
