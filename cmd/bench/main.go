// Command bench makes large recordings and compares the time of `stackmill ingest` on them with
// that of `gprofng display text` and `perf report`. It also measures what a sample costs in time,
// memory and bytes. See `make bench`.
//
// Start reading with bench.run, which measures the rows that rowNames lists; each row has a file.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"stackmill/internal/corpus"
)

// bench holds what all rows share.
type bench struct {
	program, dir string
	records      int // number of records in the recording of a server
	experiments  int // number of experiments in the store of many
	nights       int // number of nights in the simulated year
	rounds       int
	compacted    bool // the batches in the store of many experiments were merged
	figures      figures
	costs        costs // costs of the tasks of a plan, for the simulation
}

// rows are all measurements, in order. Each makes the recordings that it needs, so that it can run
// alone.
var rows = []struct {
	name    string
	measure func(*bench) error
}{
	{"heap", (*bench).heapCalls},
	{"server", (*bench).server},
	{"chains", (*bench).callChains},
	{"dumps", (*bench).stackDumps},
	{"compiler", (*bench).compiler},
	{"distinct", (*bench).distinctStacks},
	{"build", (*bench).manyProcesses},
	{"switches", (*bench).switches},
	{"growth", (*bench).growth},
	{"resident", (*bench).resident},
	{"filtered", (*bench).filtered},
	{"processes", (*bench).processes},
	{"corpus", (*bench).corpusBytes},
	{"scale", (*bench).scale},
	{"year", (*bench).year},
	{"digest", (*bench).digests},
	{"cluster", (*bench).cluster},
	{"simulation", (*bench).simulation},
	{"start", (*bench).start},
	{"rate", (*bench).inProcess},
	{"unwinding", (*bench).unwinding},
	{"accesses", (*bench).dataObjects},
	{"tables", (*bench).symbolTables},
}

func main() {
	if len(os.Args) > 2 && os.Args[1] == measured {
		os.Exit(measureHere(os.Args[2], os.Args[3:]...))
	}
	b := &bench{costs: typical}
	flag.StringVar(&b.program, "program", "bin/stackmill", "the `stackmill` to measure")
	flag.StringVar(&b.dir, "dir", ".bench", "where the recordings and the stores are kept")
	flag.IntVar(&b.records, "records", 4_000_000, "records of the recording of a server's heap calls")
	flag.IntVar(&b.experiments, "experiments", 1000, "small experiments of a store of many")
	flag.IntVar(&b.nights, "nights", 60, "nights of a year of a store")
	flag.IntVar(&b.rounds, "rounds", 3, "rounds; the medians are compared")
	profile := flag.String("profile", "", "measure nothing, but write a profile of the program to this `file`, for go build -pgo")
	only := flag.String("only", "", "measure only the rows that match this regular expression, of "+rowNames())
	flag.Parse()
	run := func() error { return b.run(*only) }
	if *profile != "" {
		run = func() error { return b.profile(*profile) }
	}
	if err := errors.Join(run(), corpus.Remove()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func rowNames() (names string) {
	for i, r := range rows {
		if i > 0 {
			names += ", "
		}
		names += r.name
	}
	return names
}

// run measures the rows whose names match, and prints all figures at the end. If a row fails, it
// continues with the next one.
func (b *bench) run(only string) (err error) {
	chosen, err := regexp.Compile("^(" + only + ")")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(b.dir, 0o777); err != nil {
		return err
	}
	aside := filepath.Join(b.dir, asideDir)
	defer func() { err = errors.Join(err, os.RemoveAll(aside)) }()
	for _, r := range rows {
		if !chosen.MatchString(r.name) {
			continue
		}
		if e := r.measure(b); e != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", r.name, e))
		}
	}
	b.figures.print(os.Stdout)
	return err
}
