package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"stackmill/pipeline"
)

// inProcess measures what a sample of the call chains costs from the file to
// Parquet on disk, without the program's start and the store's catalog: in this
// process, which has read the recording before, as in an ingest of many.
func inProcess(dir string, rounds int) error {
	path, symfs := filepath.Join(dir, chainsFile), filepath.Join(dir, "perf", "symfs")
	store := filepath.Join(dir, "store")
	var rates []float64
	for range rounds + 1 {
		if err := os.RemoveAll(store); err != nil {
			return err
		}
		before, err := processTime()
		if err != nil {
			return err
		}
		_, err = pipeline.Ingest(context.Background(), pipeline.Options{
			Store: store, Cache: filepath.Join(dir, "cache"), Jobs: 1, Memory: memoryTarget, SymFS: symfs,
		}, path)
		if err != nil {
			return err
		}
		after, err := processTime()
		if err != nil {
			return err
		}
		rates = append(rates, perfSamples/(after-before).Seconds())
	}
	rates = rates[1:]
	slices.Sort(rates)
	rate := rates[len(rates)/2]
	fmt.Printf("\n%s from file to Parquet, in one process: %.0f samples/s/core, target at least %d: %s\n", path, rate, chainRate, verdict(rate >= chainRate))
	return nil
}

// processTime is the CPU time of this process, user and system.
func processTime() (time.Duration, error) {
	var u syscall.Rusage
	err := syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), err
}
