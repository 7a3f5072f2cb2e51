// Command bench compares `stackmill ingest` with `gprofng display text` on one
// large recording of heap calls, which it makes, and measures how fast load
// objects' tables are made. See `make bench`.
package main

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
)

// The targets: not slower than gprofng, and within this much memory.
const memoryTarget = 512 << 20

func main() {
	program := flag.String("program", "bin/stackmill", "the `stackmill` to measure")
	dir := flag.String("dir", ".bench", "where the recording and the stores are kept")
	records := flag.Int("records", 4_000_000, "records of the recording")
	rounds := flag.Int("rounds", 3, "rounds; the medians are compared")
	flag.Parse()
	if err := compare(*program, *dir, *records, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func compare(program, dir string, records, rounds int) error {
	path, err := recording(dir, records)
	if err != nil {
		return err
	}
	input, err := size(path)
	if err != nil {
		return err
	}
	fmt.Printf("%s: %d records, %.0f MB, %d rounds\n", path, records, float64(input)/1e6, rounds)

	store, cache := filepath.Join(dir, "store"), filepath.Join(dir, "cache")
	ingest := []string{"ingest", "--store", store, "--cache", cache, path}
	contenders := []contender{
		{name: "stackmill ingest, cold cache", remove: []string{store, cache}, args: append([]string{program}, ingest...)},
		{name: "stackmill ingest, warm cache", remove: []string{store}, args: append([]string{program}, ingest...)},
	}
	if gprofng, err := exec.LookPath("gprofng"); err == nil {
		contenders = append(contenders, contender{name: "gprofng display text -functions",
			args: []string{gprofng, "display", "text", "-limit", "0", "-functions", path}})
	} else {
		fmt.Println("gprofng is not installed: nothing to compare with")
	}
	for range rounds {
		for i := range contenders {
			if err := contenders[i].run(); err != nil {
				return err
			}
		}
	}
	stored, err := size(filepath.Join(store, "tables"))
	if err != nil {
		return err
	}
	report(contenders, records, input, stored)
	return symbolTables(program, cache, rounds)
}

// contender is one of the commands that are compared.
type contender struct {
	name   string
	remove []string // before each run
	args   []string
	runs   []run
}

func (c *contender) run() error {
	for _, path := range c.remove {
		if err := os.RemoveAll(path); err != nil {
			return err
		}
	}
	r, err := measure(c.args[0], c.args[1:]...)
	c.runs = append(c.runs, r)
	return err
}

func report(contenders []contender, records int, input, stored int64) {
	t := table.NewWriter()
	t.SetOutputMirror(os.Stdout)
	t.AppendHeader(table.Row{"", "median", "records/s", "MB/s", "peak MiB"})
	for _, c := range contenders {
		m := median(c.runs)
		s := m.elapsed.Seconds()
		t.AppendRow(table.Row{c.name, m.elapsed.Round(time.Millisecond), fmt.Sprintf("%.0f", float64(records)/s),
			fmt.Sprintf("%.1f", float64(input)/1e6/s), m.memory >> 20})
	}
	t.Render()
	fmt.Printf("store: %.1f MB, %.2f bytes per record\n", float64(stored)/1e6, float64(stored)/float64(records))
	ours := median(contenders[1].runs)
	if len(contenders) > 2 {
		ratio := median(contenders[2].runs).elapsed.Seconds() / ours.elapsed.Seconds()
		fmt.Printf("speed: %.2f times gprofng's, target at least 1: %s\n", ratio, verdict(ratio >= 1))
	}
	fmt.Printf("memory: %d MiB, target at most %d: %s\n", ours.memory>>20, memoryTarget>>20, verdict(ours.memory <= memoryTarget))
}

func verdict(met bool) string {
	if met {
		return "met"
	}
	return "missed"
}

// size returns the sum of the sizes of the files below a folder.
func size(dir string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}
