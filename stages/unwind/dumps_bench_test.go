package unwind_test

import (
	"path/filepath"
	"testing"

	"stackmill/acceptance/corpus"
	"stackmill/stages/decode"
	"stackmill/stages/decode/perfdata"
	"stackmill/stages/loadobject/cache"
	"stackmill/stages/loadobject/cfi"
	"stackmill/stages/symbolize"
	"stackmill/stages/unwind"
)

// BenchmarkDumps unwinds the dumps of real recordings again and again.
func BenchmarkDumps(b *testing.B) {
	folder := b.TempDir()
	if err := corpus.Perf(folder); err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"p_signals_dwarf", "p_cxx_dwarf", "p_deep_dwarf"} {
		b.Run(name, func(b *testing.B) {
			rec := perfdata.New().Open(filepath.Join(folder, "perf", name+".data"))
			defer rec.Close()
			rec.Locate = func(path string) []decode.Candidate {
				return []decode.Candidate{{Path: filepath.Join(folder, "symfs", path), Origin: "path"}}
			}
			loader := cache.New(cache.Options{DebugDirs: []string{filepath.Join(folder, "none")}})
			r := symbolize.New(rec, rec, loader)
			dumps := unwind.NewDumps(unwind.NewFrameTables(loader, &rec.Problems))
			p := rec.Processes[0]
			dumps.Process(r.Process(p, "map"))
			samples, frames := 0, 0
			count := func(d *decode.StackDump) *cfi.Stack {
				s := dumps.Unwind(d)
				samples++
				frames += len(s.Words)
				return s
			}
			for b.Loop() {
				if _, err := unwind.Complete(p, count); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(samples)/b.Elapsed().Seconds(), "samples/s")
			b.ReportMetric(float64(frames)/float64(samples), "frames/sample")
			b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(frames), "ns/frame")
		})
	}
}
