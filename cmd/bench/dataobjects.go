package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/internal/corpus"
	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/decode/perfdata"
	"stackmill/stages/loadobject/cache"
	"stackmill/stages/program"
	"stackmill/stages/samples"
	"stackmill/stages/symbolize"
)

// accessCount is the number of memory accesses in the recordings. accessTime is the maximum of
// seconds to find their data objects, besides the time to read the recordings.
const (
	accessCount = 1_000_000
	accessTime  = 1
)

// dataObjects measures the time to find the data objects of memory accesses, in common builds of
// the programs of testdata whose data objects are known. The time to read the events does not
// count, nor does the first round, which makes the tables of the programs.
func (b *bench) dataObjects() error {
	files, err := accessFiles(b.dir)
	if err != nil {
		return err
	}
	recordings, err := filepath.Glob(filepath.Join(files, "accesses", "*.data"))
	if err != nil {
		return err
	}
	loader := cache.New(cache.Options{CacheDir: b.cache()}).Local()
	var times []time.Duration
	instructions := 0
	for range b.rounds + 1 {
		spent := time.Duration(0)
		instructions = 0
		for _, path := range recordings {
			took, n, err := attributed(path, filepath.Join(files, "symfs"), loader)
			if err != nil {
				return err
			}
			spent += took
			instructions += n
		}
		times = append(times, spent)
	}
	b.figures.add(figure{
		work:  fmt.Sprintf("%d accesses to memory by %d instructions", accessCount, instructions),
		value: median(times[1:]).Seconds(), unit: "s", target: accessTime,
	})
	return nil
}

// attributed finds the data objects of a recording's events. It returns the CPU time that this
// takes, garbage collection included, and the number of instructions that access memory. It reads
// the events twice, to subtract the time for reading.
func attributed(path, symfs string, loader *cache.Recording) (spent time.Duration, instructions int, err error) {
	rec := perfdata.New().Open(context.Background(), path)
	defer rec.Close()
	rec.Locate = func(object string) []decode.Candidate {
		return []decode.Candidate{{Path: filepath.Join(symfs, object), Origin: "path"}, {Path: object, Origin: "path"}}
	}
	resolver := symbolize.New(rec, rec, loader)
	metrics := samples.Metrics(rec)
	drop := func(*schema.Table, arrow.RecordBatch) error { return nil }
	data := samples.NewData("", rec, metrics, resolver, loader, drop)
	for _, p := range rec.Processes {
		resolved := resolver.Process(p, ".")
		reading, err := cpuTime(func() error { return events(rec, p, metrics, nil) })
		if err != nil {
			return 0, 0, err
		}
		all, err := cpuTime(func() error { return events(rec, p, metrics, data.Process(p, p.Stacks, resolved, nil)) })
		if err != nil {
			return 0, 0, err
		}
		spent += all - reading
	}
	distinct := map[program.LocationNo]bool{}
	for _, s := range data.Sums {
		distinct[s.Location()] = true
	}
	return spent, len(distinct), nil
}

// events reads a process's events. If there is a finder, it finds their data objects.
func events(rec *decode.Recording, p *decode.Process, metrics []schema.Metric, finder *samples.DataProcess) error {
	reader := p.Events(schema.Perf)
	defer reader.Close()
	deriver := samples.NewDeriver(rec, p, schema.Perf, nil, samples.NewFiles())
	counter, first := samples.NewCounter(metrics), int64(0)
	for {
		batch, err := reader.Next()
		if err != nil || batch == nil {
			return err
		}
		b := deriver.Batch(batch, first)
		counter.Add(b)
		if finder != nil {
			err = finder.Add(b)
		}
		first += batch.NumRows()
		b.Release()
		if err != nil {
			return err
		}
	}
}

// accessFiles returns a folder with the long recordings in accesses/ and their programs in symfs/.
// It makes them if they are missing.
func accessFiles(dir string) (string, error) {
	return made(filepath.Join(dir, "accesses"), makeAccesses)
}

func makeAccesses(part string) error {
	if err := errors.Join(os.MkdirAll(filepath.Join(part, "accesses"), 0o777), corpus.Data(part)); err != nil {
		return err
	}
	found, err := filepath.Glob(filepath.Join(part, "data", "*_O2.data")) // some 1000 instructions in all
	if err != nil {
		return err
	}
	found = slices.DeleteFunc(found, func(f string) bool { return strings.HasPrefix(filepath.Base(f), "watch") }) // page faults
	for i, f := range found {
		n := accessCount*(i+1)/len(found) - accessCount*i/len(found)
		if err := prolong(f, filepath.Join(part, "accesses", filepath.Base(f)), n, 0); err != nil {
			return err
		}
	}
	return nil
}
