package main

import (
	"context"
	"path/filepath"
	"time"

	"stackmill/stages/decode"
	"stackmill/stages/decode/perfdata"
	"stackmill/stages/loadobject/cache"
	"stackmill/stages/symbolize"
	"stackmill/stages/unwind"
)

// dumpRate is the minimum of stack dumps unwound per second of CPU time, in thousands.
const dumpRate = 250

// unwinding measures the CPU time to read and unwind the recording of stack dumps, without the rest
// of an ingest. The first round does not count, because it compiles call frame information.
func (b *bench) unwinding() error {
	path, symfs, err := dumps(b.dir)
	if err != nil {
		return err
	}
	rec := perfdata.New().Open(context.Background(), path)
	defer rec.Close()
	rec.Locate = func(object string) []decode.Candidate {
		return []decode.Candidate{{Path: filepath.Join(symfs, object), Origin: "path"}}
	}
	loader := cache.New(cache.Options{CacheDir: b.cache()}).Local()
	resolver := symbolize.New(rec, rec, loader)
	unwinder := unwind.NewDumpUnwinder(unwind.NewFrameTables(loader, &rec.Problems))
	var rates []float64
	for range rateRounds*b.rounds + 1 {
		var spent time.Duration
		for _, p := range rec.Processes {
			unwinder.Process(resolver.Process(p, "."))
			took, err := cpuTime(func() error {
				_, err := unwind.Complete(p, unwinder.Walkers)
				return err
			})
			if err != nil {
				return err
			}
			spent += took
		}
		rates = append(rates, dumpSamples/spent.Seconds())
	}
	b.figures.add(figure{
		work: "unwinding alone", value: median(rates[1:]) / 1e3, unit: "k samples/s/core", target: dumpRate, atLeast: true,
	})
	return nil
}
