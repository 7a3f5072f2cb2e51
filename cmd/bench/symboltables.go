package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"stackmill/stages/loadobject/cache"
	"stackmill/stages/loadobject/symtab"
)

// loadObjects returns paths of large programs and libraries that this machine has, and of stackmill
// itself, which has debug information for Go and C++.
func loadObjects(program string) (paths []string) {
	patterns := []string{program, "/lib/*-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib/gcc/*/*/cc1"}
	if root, err := exec.Command("go", "env", "GOROOT").Output(); err == nil {
		patterns = append(patterns, filepath.Join(strings.TrimSpace(string(root)), "pkg", "tool", "*", "compile"))
	}
	for _, p := range patterns {
		found, _ := filepath.Glob(p) // the patterns are valid
		for _, path := range found {
			if real, err := filepath.EvalSymlinks(path); err == nil && !slices.Contains(paths, real) {
				paths = append(paths, real)
			}
		}
	}
	return paths
}

// symbolTables prints how long it takes to make the symbol tables of load objects, and to read them
// from the disk cache, and how much memory they use.
func (b *bench) symbolTables() error {
	t := table.NewWriter()
	t.SetOutputMirror(os.Stdout)
	t.AppendHeader(table.Row{"table of", "from", "median", "symbols", "symbols/s", "lines", "lines/s", "KiB"})
	for _, path := range loadObjects(b.program) {
		for _, from := range []string{"files", "cache"} {
			options := cache.Options{}
			if from == "cache" {
				options.CacheDir = b.cache()
				if _, err := cache.New(options).Local().Load(path); err != nil {
					return err
				}
			}
			loaded, elapsed, memory, err := loadTable(path, options, b.rounds)
			if err != nil {
				return err
			}
			s, symbols, lines := elapsed.Seconds(), loaded.Functions.Len(), loaded.Lines.Len()
			t.AppendRow(table.Row{filepath.Base(path), from, elapsed.Round(10 * time.Microsecond), symbols, fmt.Sprintf("%.0f", float64(symbols)/s),
				lines, fmt.Sprintf("%.0f", float64(lines)/s), memory >> 10})
		}
	}
	t.Render()
	return nil
}

// loadTable loads the symbol table of a load object several times. It returns the last table, the
// median time, and the bytes of memory that the table uses.
func loadTable(path string, options cache.Options, rounds int) (loaded *symtab.Table, elapsed time.Duration, memory int64, err error) {
	var times []time.Duration
	for range rounds {
		loaded = nil
		before := heap()
		begin := time.Now()
		if loaded, err = cache.New(options).Local().Load(path); err != nil {
			return nil, 0, 0, err
		}
		times = append(times, time.Since(begin))
		memory = heap() - before
	}
	return loaded, median(times), memory, nil
}

// heap returns the bytes in use on the heap, after a garbage collection.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
