// Command mutate damages recordings and load objects, which it parses for that, and lets stackmill
// ingest the damaged ones (mutants) and check the stores. No mutant may crash stackmill, hang it,
// or make it take more than twice its memory limit. None may leave a store in which check finds
// defects, or lose samples without an error or warning: the samples are compared with those of the
// undamaged recording. The table truths lists the damages that stackmill cannot notice.
//
// The printed seed, base and mutation make the same mutant again.
//
// Start reading with run, which makes the mutants and judges them.
package main

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"
)

type flags struct {
	count          int
	seed           uint64
	jobs           int
	keep, binary   string
	base, mutation string
	group          int
	fuzz           time.Duration
	verbose        bool
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == launcher {
		if err := launch(os.Args[2], os.Args[3:]...); err != nil {
			fmt.Fprintln(os.Stderr, "mutate:", err)
			os.Exit(2)
		}
		return
	}
	var f flags
	flag.IntVar(&f.count, "n", 3000, "how many mutants")
	flag.Uint64Var(&f.seed, "seed", 1, "the first mutant's seed")
	flag.IntVar(&f.jobs, "jobs", runtime.NumCPU(), "mutants side by side")
	flag.StringVar(&f.keep, "keep", "mutants", "folder for mutants that fail; a single one is kept anyway")
	flag.StringVar(&f.binary, "binary", "", "the program (default: it is built)")
	flag.StringVar(&f.base, "base", "", "only of recordings that match this regular expression")
	flag.StringVar(&f.mutation, "mutation", "", "only by mutations that match this regular expression")
	flag.IntVar(&f.group, "group", 10, "how many mutants share a store, which is checked once")
	flag.DurationVar(&f.fuzz, "fuzz", 0, "then run all fuzz targets for this time in total")
	flag.BoolVar(&f.verbose, "v", false, "print every mutant")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	failed, err := run(ctx, f, os.Stdout)
	if err == nil && f.fuzz > 0 {
		var found int
		found, err = fuzzAll(ctx, f.fuzz, f.jobs, os.Stdout)
		failed += found
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(2)
	}
	if failed > 0 {
		os.Exit(1)
	}
}

// run makes the mutants, prints those that fail, and prints a summary.
func run(ctx context.Context, f flags, w io.Writer) (failed int, err error) {
	if f.count == 0 {
		return 0, nil
	}
	work, err := os.MkdirTemp("", "stackmill-mutants-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(work)) }()
	next, err := f.chooser()
	if err != nil {
		return 0, err
	}
	if f.binary == "" {
		if f.binary, err = build(ctx, work); err != nil {
			return 0, err
		}
	}
	db, err := sql.Open("duckdb", "?memory_limit=200MB&threads=1")
	if err != nil {
		return 0, err
	}
	defer db.Close()
	t := &tester{flags: f, work: work, program: program{path: f.binary}, oracle: oracle{db}, next: next, out: w}
	if err := t.prepare(ctx); err != nil {
		return 0, err
	}
	sum, err := t.all(ctx)
	if sum != nil {
		sum.print(w)
		failed = sum.failed
	}
	return failed, err
}

// chooser returns a function that chooses a mutant by a seed, among those that the flags select.
func (f flags) chooser() (func(uint64) mutant, error) {
	baseIs, err := regexp.Compile("^(" + f.base + ")$")
	if err != nil {
		return nil, err
	}
	mutationIs, err := regexp.Compile("^(" + f.mutation + ")$")
	if err != nil {
		return nil, err
	}
	var chosen []*base
	for _, b := range bases {
		if f.base == "" || baseIs.MatchString(b.name) {
			chosen = append(chosen, b)
		}
	}
	var ways []mutation
	for _, m := range mutations {
		if f.mutation == "" || mutationIs.MatchString(m.name) {
			ways = append(ways, m)
		}
	}
	if len(chosen) == 0 || len(ways) == 0 {
		return nil, errors.New("no recording or no mutation of that name")
	}
	return chooser(chosen, ways), nil
}

func build(ctx context.Context, work string) (string, error) {
	binary := filepath.Join(work, "stackmill")
	out, err := exec.CommandContext(ctx, "go", "build", "-tags", "duckdb_arrow", "-o", binary, "stackmill/cmd/stackmill").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return binary, nil
}

func mega(bytes int64) string { return fmt.Sprintf("%d MB", bytes>>20) }
