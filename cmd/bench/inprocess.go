package main

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"stackmill/pipeline"
)

// chainRate is the minimum of samples with call chains per second of CPU time, in millions. There
// are rateRounds runs for each round of other measurements, because a run in this process is short.
const (
	chainRate  = 1.0
	rateRounds = 5
)

// inProcess measures the CPU time per sample with a call chain, from the recording to Parquet files on
// disk. It ingests in this process, and the first round does not count: starting a program and making
// a catalog are left out, as if many recordings were ingested at once.
func (b *bench) inProcess() error {
	path, symfs, err := chains(b.dir)
	if err != nil {
		return err
	}
	var rates []float64
	for range rateRounds*b.rounds + 1 {
		if err := os.RemoveAll(b.store()); err != nil {
			return err
		}
		took, err := cpuTime(func() error {
			o := pipeline.Options{Store: b.store(), Cache: b.cache(), Jobs: 1, Memory: 512 << 20, SymFS: symfs}
			_, err := pipeline.Ingest(context.Background(), o, path)
			return err
		})
		if err != nil {
			return err
		}
		rates = append(rates, perfSamples/took.Seconds())
	}
	b.figures.add(figure{
		work:  "from file to Parquet, perf fp, repeating stacks",
		value: median(rates[1:]) / 1e6, unit: "M samples/s/core", target: chainRate, atLeast: true,
	})
	return nil
}

// cpuTime returns the user and system CPU time that this process takes while do runs.
func cpuTime(do func() error) (time.Duration, error) {
	var before, after syscall.Rusage
	err := errors.Join(syscall.Getrusage(syscall.RUSAGE_SELF, &before), do(), syscall.Getrusage(syscall.RUSAGE_SELF, &after))
	return time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()), err
}
