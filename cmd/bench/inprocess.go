package main

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"stackmill/pipeline"
)

// chainRate is the target in million samples with call chains per second of one processor. Each
// round of other programs has rateRounds runs in this process.
const (
	chainRate  = 1.0
	rateRounds = 5
)

// inProcess measures the cost of a sample with a call chain from the recording to Parquet on disk,
// without starting a program or making the catalog: in this process, which has read the recording
// before, as when many are ingested.
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

// cpuTime returns the user and system CPU time that a function takes in this process.
func cpuTime(do func() error) (time.Duration, error) {
	var before, after syscall.Rusage
	err := errors.Join(syscall.Getrusage(syscall.RUSAGE_SELF, &before), do(), syscall.Getrusage(syscall.RUSAGE_SELF, &after))
	return time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano()), err
}
