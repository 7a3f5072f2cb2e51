// Command foreign compares recordings that others made with what the tools of their own
// formats show of them: perf.data files with `perf script`, profiles with pprof's library,
// experiments with `gprofng display text`. It takes folders or files, ingests each recording
// into a fresh store with the program, and prints a line for each:
//
//	go run ./acceptance/foreign -binary bin/stackmill FOLDER...
//
// A difference is `wrong`. What the program says was lost (errors) is printed as well, so that
// a false alarm is seen. The exit status is 1 if anything is wrong.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	binary := flag.String("binary", "bin/stackmill", "the program to try")
	limit := flag.Duration("limit", 2*time.Minute, "how long each recording may take")
	check := flag.Bool("check", false, "also prove each store")
	flag.Parse()
	wrong, err := run(context.Background(), *binary, flag.Args(), *limit, *check)
	if err != nil {
		fmt.Fprintln(os.Stderr, "foreign:", err)
		os.Exit(2)
	}
	if wrong > 0 {
		os.Exit(1)
	}
}

// run compares all recordings below the paths and returns how many are wrong.
func run(ctx context.Context, binary string, paths []string, limit time.Duration, check bool) (wrong int, err error) {
	if binary, err = filepath.Abs(binary); err != nil {
		return 0, err
	}
	counts := map[string]int{}
	for _, root := range paths {
		list, err := recordings(root)
		if err != nil {
			return wrong, err
		}
		for _, path := range list {
			r := compare(ctx, binary, path, limit, check)
			fmt.Println(r)
			counts[r.verdict()]++
			counts[r.format+" recordings"]++
			if len(r.wrong) > 0 {
				wrong++
			}
		}
	}
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		fmt.Printf("%6d %s\n", counts[k], k)
	}
	return wrong, nil
}

// recordings returns the experiments and files below a path, in order.
func recordings(root string) (list []string, err error) {
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && filepath.Ext(path) == ".er":
			list = append(list, path)
			return filepath.SkipDir
		case e.Type().IsRegular():
			list = append(list, path)
		}
		return nil
	})
	return list, err
}

// result is what the comparison of one recording found.
type result struct {
	path, format, status string
	samples              int64
	wrong                []string       // differences from the peer
	named                map[string]int // differences that are right, and the number of samples they are about
	errors               []string       // what the program says is lost or doubtful
	peer                 string         // why there is nothing to compare with
}

func (r *result) verdict() string {
	switch {
	case len(r.wrong) > 0:
		return "wrong"
	case r.peer != "":
		return "not compared"
	case len(r.named) > 0:
		return "named"
	}
	return "equal"
}

func (r *result) String() string {
	s := fmt.Sprintf("%-12s %-7s %8d %-9s %s", r.verdict(), cmp.Or(r.format, "?"), r.samples, cmp.Or(r.status, "-"), r.path)
	if r.peer != "" {
		s += "\n    peer: " + r.peer
	}
	for _, name := range slices.Sorted(maps.Keys(r.named)) {
		s += fmt.Sprintf("\n    named: %s: %d", name, r.named[name])
	}
	for _, w := range r.wrong {
		s += "\n    wrong: " + w
	}
	for _, e := range r.errors {
		s += "\n    " + e
	}
	return s
}

// differ notes a difference.
func (r *result) differ(format string, args ...any) {
	const most = 8
	if len(r.wrong) < most {
		r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
	}
}

// remark names a difference that is right.
func (r *result) remark(samples int, format string, args ...any) {
	if samples == 0 {
		return
	}
	if r.named == nil {
		r.named = map[string]int{}
	}
	r.named[fmt.Sprintf(format, args...)] += samples
}

// compare ingests a recording into a fresh store and compares it.
func compare(ctx context.Context, binary, path string, limit time.Duration, check bool) *result {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r := &result{path: path}
	work, err := os.MkdirTemp("", "stackmill-foreign-")
	if err != nil {
		r.differ("%v", err)
		return r
	}
	defer os.RemoveAll(work)
	p := &program{ctx, binary, filepath.Join(work, "store")}
	if err := r.ingest(p, work); err != nil {
		r.differ("%v", err)
	}
	if check && r.format != "" {
		if out, err := p.run("check"); err != nil {
			r.differ("check: %v: %s", err, out)
		}
	}
	return r
}

func (r *result) ingest(p *program, work string) error {
	status, complaints, err := p.ingest(r.path)
	if err != nil {
		return err
	}
	if strings.Contains(complaints, "panic:") || strings.Contains(complaints, "goroutine 1 [") || status < 0 {
		return fmt.Errorf("ingest ended with %d: %s", status, complaints)
	}
	var found []struct {
		Format  string `json:"format"`
		Status  string `json:"status"`
		Samples int64  `json:"samples"`
	}
	if status == 1 {
		r.peer = strings.TrimSpace(complaints)
		return nil
	}
	if err := p.query(`SELECT format, status, samples FROM experiments`, &found); err != nil || len(found) == 0 {
		r.peer = strings.TrimSpace(complaints)
		return err
	}
	r.format, r.status, r.samples = found[0].Format, found[0].Status, found[0].Samples
	var problems []struct {
		Severity, Reason, Message string
		Count                     int64
	}
	if err := p.query(`SELECT severity, reason, message, count FROM problems WHERE severity <> 'info'`, &problems); err != nil {
		return err
	}
	for _, e := range problems {
		r.errors = append(r.errors, fmt.Sprintf("%s: %s (%d): %s", e.Severity, e.Reason, e.Count, e.Message))
	}
	var broken []map[string]any
	if err := p.query(`SELECT * FROM conservation LIMIT 3`, &broken); err != nil {
		return err
	}
	for _, b := range broken {
		r.differ("conservation: %v", b)
	}
	switch r.format {
	case "perf":
		return r.comparePerf(p)
	case "pprof":
		return r.comparePprof(p, work)
	}
	return r.compareGprofng(p)
}

// program is the program that is tried, with a store of its own.
type program struct {
	ctx           context.Context
	binary, store string
}

// run runs a verb and returns what it prints.
func (p *program) run(verb string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(p.ctx, p.binary, append([]string{verb, "--store", p.store}, args...)...)
	var complaints strings.Builder
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", verb, err, complaints.String())
	}
	return out, err
}

// ingest returns the exit status, and what the program complains of.
func (p *program) ingest(path string) (status int, complaints string, err error) {
	cmd := exec.CommandContext(p.ctx, p.binary, "ingest", "--store", p.store, "--debug-dir", os.DevNull, path)
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode(), string(out), nil
	}
	return 0, string(out), err
}

// query reads the rows of a query into a list of structures.
func (p *program) query(sql string, to any) error {
	out, err := p.run("query", "--format", "json", sql)
	if err != nil {
		return err
	}
	return json.Unmarshal(out, to)
}
