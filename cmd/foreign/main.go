// Command foreign checks recordings of other people. It ingests each into a fresh store and
// compares the store with what the tool of the format shows: `perf script` for perf.data files,
// pprof's library for profiles, `gprofng display text` for experiments. It takes folders or files,
// and prints a line for each recording:
//
//	go run ./cmd/foreign -binary bin/stackmill FOLDER...
//
// perf's samples are compared one by one. A difference is `wrong`, unless its cause is known and
// stackmill is right; then it is a named difference. A line also has stackmill's errors (lost data)
// and warnings, which may be false alarms, and the time and memory of both programs. The exit
// status is 1 if anything is wrong.
//
// Start reading with run, which compares one recording after the other.
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
	"syscall"
	"time"
)

func main() {
	binary := flag.String("binary", "bin/stackmill", "the program to try")
	limit := flag.Duration("limit", 2*time.Minute, "how long each recording may take")
	check := flag.Bool("check", false, "also prove each store")
	symbols := flag.String("symbols", "", "a build-id cache with load objects of the recordings, for both sides")
	flag.Parse()
	wrong, err := run(context.Background(), options{*binary, *symbols, *limit, *check}, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "foreign:", err)
		os.Exit(2)
	}
	if wrong > 0 {
		os.Exit(1)
	}
}

type options struct {
	binary, symbols string
	limit           time.Duration
	check           bool
}

// run compares all recordings below the paths and returns how many are wrong.
func run(ctx context.Context, o options, paths []string) (wrong int, err error) {
	if o.binary, err = filepath.Abs(o.binary); err != nil {
		return 0, err
	}
	counts := map[string]int{}
	for _, root := range paths {
		list, err := recordings(root)
		if err != nil {
			return wrong, err
		}
		for _, path := range list {
			r := compare(ctx, o, path)
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

// recordings returns the paths of recordings below root: folders of experiments, and files.
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

// result is the outcome of the comparison of a recording.
type result struct {
	path, format, status string
	collector            string
	samples              int64
	wrong                []string       // differences in which stackmill may be wrong
	named                map[string]int // by known cause: number of samples that differ, although stackmill is right
	errors               []string       // stackmill's errors and warnings
	peer                 string         // why the other tool shows nothing to compare with; "" if it does
	ours, theirs         usage
}

// usage is the elapsed time and the peak memory of a program.
type usage struct {
	time  time.Duration
	bytes int64
}

func (s usage) String() string {
	return fmt.Sprintf("%.2f s %d MB", s.time.Seconds(), s.bytes>>20)
}

func spentBy(cmd *exec.Cmd, began time.Time) usage {
	s := usage{time: time.Since(began)}
	if resources, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		s.bytes = resources.Maxrss << 10
	}
	return s
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
	s += fmt.Sprintf(" [%v, peer %v]", r.ours, r.theirs)
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

// differ records a difference in which stackmill may be wrong, up to a maximum.
func (r *result) differ(format string, args ...any) {
	const most = 8
	if len(r.wrong) < most {
		r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
	}
}

// remark records differences with a known cause, in which stackmill is right.
func (r *result) remark(samples int, format string, args ...any) {
	if samples == 0 {
		return
	}
	if r.named == nil {
		r.named = map[string]int{}
	}
	r.named[fmt.Sprintf(format, args...)] += samples
}

// compare ingests a recording into a fresh store, and compares the store with what the other tool
// shows.
func compare(ctx context.Context, o options, path string) *result {
	ctx, cancel := context.WithTimeout(ctx, o.limit)
	defer cancel()
	r := &result{path: path}
	work, err := os.MkdirTemp("", "stackmill-foreign-")
	if err != nil {
		r.differ("%v", err)
		return r
	}
	defer os.RemoveAll(work)
	p := &program{ctx, o.binary, filepath.Join(work, "store"), o.symbols}
	if err := r.ingest(p, work); err != nil {
		r.differ("%v", err)
	}
	if o.check && r.format != "" {
		if out, err := p.run("check"); err != nil {
			r.differ("check: %v: %s", err, out)
		}
	}
	return r
}

func (r *result) ingest(p *program, work string) error {
	status, complaints, err := r.run(p)
	if err != nil {
		return err
	}
	if strings.Contains(complaints, "panic:") || strings.Contains(complaints, "goroutine 1 [") || status < 0 {
		return fmt.Errorf("ingest ended with %d: %s", status, complaints)
	}
	if status == 1 {
		r.peer = strings.TrimSpace(complaints)
		return nil
	}
	var found []struct {
		Format, Status, Collector string
		Samples                   int64
		Problems                  []string
	}
	if err := p.query(`SELECT format, status, samples, collector,
			(SELECT list(concat(severity, ': ', reason, ' (', count, '): ', message)) FROM problems WHERE severity <> 'info') AS problems
		FROM experiments`, &found); err != nil || len(found) == 0 {
		r.peer = strings.TrimSpace(complaints)
		return err
	}
	f := found[0]
	r.format, r.status, r.samples, r.collector, r.errors = f.Format, f.Status, f.Samples, f.Collector, f.Problems
	switch r.format {
	case "perf":
		return r.comparePerf(p, work)
	case "pprof":
		return r.comparePprof(p, work)
	}
	return r.compareGprofng(p)
}

// program is the stackmill to check, with the store to use.
type program struct {
	ctx           context.Context
	binary, store string
	symbols       string // folder with a build-id cache; "": none
}

// run runs a verb of stackmill and returns what it prints.
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

// run ingests the recording. It returns the exit status and what stackmill printed about problems.
func (r *result) run(p *program) (status int, complaints string, err error) {
	cmd := exec.CommandContext(p.ctx, p.binary, "ingest", "--store", p.store, "--debug-dir", cmp.Or(p.symbols, os.DevNull), r.path)
	began := time.Now()
	out, err := cmd.CombinedOutput()
	r.ours = spentBy(cmd, began)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return exit.ExitCode(), string(out), nil
	}
	return 0, string(out), err
}

// query runs SQL with stackmill and decodes the rows into a list of structures.
func (p *program) query(sql string, to any) error {
	out, err := p.run("query", "--format", "json", sql)
	if err != nil {
		return err
	}
	return json.Unmarshal(out, to)
}
