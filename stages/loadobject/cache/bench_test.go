package cache

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"stackmill/stages/loadobject/symtab"
)

// lined builds a program with debug information.
func lined(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	source, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "lined")
	text := "package main\n\nimport (\n\t\"encoding/json\"\n\t\"net/http\"\n\t\"os\"\n)\n\nfunc main() {\n\tr, _ := http.Get(os.Args[1])\n\tjson.NewEncoder(os.Stdout).Encode(r)\n}\n"
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		b.Fatal(err)
	}
	if out, err := exec.Command("go", "build", "-o", program, source).CombinedOutput(); err != nil {
		b.Skipf("%v: %s", err, out)
	}
	return program
}

// BenchmarkTables loads tables from the files and from the disk cache. It reports the numbers of
// functions and of line rows, and as B/table the memory that a table keeps.
func BenchmarkTables(b *testing.B) {
	paths := []string{lined(b)}
	for _, path := range systemObjects(b) {
		switch name := filepath.Base(path); {
		case strings.HasPrefix(name, "libc."), strings.HasPrefix(name, "libstdc++"), name == "compile", name == "cc1":
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		for _, cached := range []bool{false, true} {
			name, options := "cold", Options{DebugDirs: []string{}}
			if cached {
				name, options.CacheDir = "cached", b.TempDir()
			}
			b.Run(filepath.Base(path)+"/"+name, func(b *testing.B) { benchmarkLoad(b, path, options) })
		}
	}
}

func benchmarkLoad(b *testing.B, path string, options Options) {
	var table *symtab.Table
	if options.CacheDir != "" {
		load(b, New(options), path)
	}
	before := heap()
	table = load(b, New(options), path)
	kept := heap() - before
	b.ReportAllocs()
	for b.Loop() {
		table = load(b, New(options), path)
	}
	seconds := b.Elapsed().Seconds() / float64(b.N)
	b.ReportMetric(float64(table.Functions.Len())/seconds, "symbols/s")
	b.ReportMetric(float64(table.Lines.Len())/seconds, "lines/s")
	b.ReportMetric(float64(kept), "B/table")
	b.ReportMetric(float64(table.Bytes())/float64(kept), "estimated/B")
}

// heap returns the bytes of heap in use.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
