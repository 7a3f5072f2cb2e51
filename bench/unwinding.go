package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"stackmill/stages/decode"
	"stackmill/stages/decode/perfdata"
	"stackmill/stages/loadobject/cache"
	"stackmill/stages/loadobject/cfi"
	"stackmill/stages/symbolize"
	"stackmill/stages/unwind"
)

// unwinding measures the unwinding of the recording of stack dumps alone, with
// the reading of its samples. Call frame information is compiled in the first
// round, which does not count.
func unwinding(dir string, rounds int) error {
	path := filepath.Join(dir, dumpsFile)
	rec := perfdata.New().Open(path)
	defer rec.Close()
	rec.Locate = func(object string) []decode.Candidate {
		return []decode.Candidate{{Path: filepath.Join(dir, "perf", "symfs", object), Origin: "path"}}
	}
	loader := cache.New(cache.Options{CacheDir: filepath.Join(dir, "cache")})
	resolver := symbolize.New(rec, rec, loader)
	dumps := unwind.NewDumps(unwind.NewFrameTables(loader, &rec.Problems))
	var rates []float64
	frames := 0
	for range rounds + 1 {
		frames = 0
		var spent time.Duration
		for _, p := range rec.Processes {
			dumps.Process(resolver.Process(p, "."))
			before, err := processTime()
			if err != nil {
				return err
			}
			_, err = unwind.Complete(p, func(d *decode.StackDump) *cfi.Stack {
				s := dumps.Unwind(d)
				frames += len(s.Words)
				return s
			})
			if err != nil {
				return err
			}
			after, err := processTime()
			if err != nil {
				return err
			}
			spent += after - before
		}
		rates = append(rates, dumpSamples/spent.Seconds())
	}
	rates = rates[1:]
	slices.Sort(rates)
	rate := rates[len(rates)/2]
	fmt.Printf("%s unwound alone: %.0f samples/s/core, %.1f frames each, target at least %d: %s\n",
		path, rate, float64(frames)/dumpSamples, dumpRate, verdict(rate >= dumpRate))
	return nil
}
