package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"stackmill/internal/corpus"
)

// corpusTarget is the maximum of bytes in tables per sample, for all recordings of testdata.
const corpusTarget = 17

// corpusParts are the parts of testdata: each is a folder of recordings, some with a folder of
// their load objects.
var corpusParts = []struct {
	folder string
	unpack func(dir string) error
	symfs  bool
}{
	{"gprofng", unpackExperiments, false},
	{"perf", corpus.Perf, true},
	{"data", corpus.Data, true},
	{"symbols", corpus.Symbols, true},
	{"objects", corpus.Objects, false},
}

func unpackExperiments(dir string) error {
	root, err := corpus.Root()
	if err != nil {
		return err
	}
	return corpus.Unpack(filepath.Join(root, "testdata", "gprofng", "experiments.tar.gz"), dir)
}

// corpusBytes measures the bytes per sample in a store of all recordings of testdata. They are
// small, and each has functions, lines and load objects that the others do not have.
func (b *bench) corpusBytes() error {
	dir := filepath.Join(b.dir, "corpus")
	if err := errors.Join(os.RemoveAll(dir), os.RemoveAll(b.store())); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	samples := 0
	for _, part := range corpusParts {
		folder := filepath.Join(dir, part.folder)
		if err := errors.Join(os.MkdirAll(folder, 0o777), part.unpack(folder)); err != nil {
			return err
		}
		args := []string{"ingest", "--recursive", "--store", b.store(), "--cache", b.cache()}
		if part.symfs {
			args = append(args, "--symfs", filepath.Join(folder, "symfs"))
		}
		n, err := ingested(exec.Command(b.program, append(args, folder)...))
		if err != nil {
			return err
		}
		samples += n
	}
	stored, err := tableSizes(b.store())
	if err != nil {
		return err
	}
	fmt.Printf("\nthe corpus: %d samples\n%v\n", samples, stored)
	b.figures.add(figure{work: "bytes of a sample, the corpus", value: float64(stored.total()) / float64(samples), target: corpusTarget})
	return nil
}

// lostStatus is the exit status of an ingest that found damaged recordings, as in the corpus.
const lostStatus = 3

var samplesSaid = regexp.MustCompile(`: (\d+) samples in `)

// ingested runs an ingest and returns the number of samples in its report.
func ingested(cmd *exec.Cmd) (samples int, err error) {
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState.ExitCode() != lostStatus {
		return 0, fmt.Errorf("%v: %w\n%s", cmd, err, out)
	}
	said := samplesSaid.FindSubmatch(out)
	if said == nil {
		return 0, fmt.Errorf("%v: no number of samples in its output\n%s", cmd, out)
	}
	return strconv.Atoi(string(said[1]))
}
