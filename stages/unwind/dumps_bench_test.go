package unwind_test

import (
	"path/filepath"
	"testing"

	"stackmill/internal/corpus"
	"stackmill/stages/decode"
	"stackmill/stages/decode/perfdata"
	"stackmill/stages/loadobject/cache"
	"stackmill/stages/symbolize"
	"stackmill/stages/unwind"
)

// BenchmarkDumps unwinds the dumps of real recordings.
func BenchmarkDumps(b *testing.B) {
	folder := b.TempDir()
	if err := corpus.Perf(folder); err != nil {
		b.Fatal(err)
	}
	for _, name := range []string{"p_signals_dwarf", "p_cxx_dwarf", "p_deep_dwarf"} {
		b.Run(name, func(b *testing.B) {
			rec := perfdata.New().Open(b.Context(), filepath.Join(folder, "perf", name+".data"))
			defer rec.Close()
			rec.Locate = func(path string) []decode.Candidate {
				return []decode.Candidate{{Path: filepath.Join(folder, "symfs", path), Origin: "path"}}
			}
			loader := cache.New(cache.Options{DebugDirs: []string{filepath.Join(folder, "none")}}).Local()
			r := symbolize.New(rec, rec, loader)
			dumps := unwind.NewDumpUnwinder(unwind.NewFrameTables(loader, &rec.Problems))
			p := rec.Processes[0]
			dumps.Process(r.Process(p, "map"))
			samples := 0
			for b.Loop() {
				if _, err := unwind.Complete(p, dumps.Walkers); err != nil {
					b.Fatal(err)
				}
				samples += p.Dumps.Len()
			}
			b.ReportMetric(float64(samples)/b.Elapsed().Seconds(), "samples/s")
		})
	}
}
