// Command bench compares `stackmill ingest` with `gprofng display text` and
// `perf report` on large recordings, which it makes, and measures how fast load
// objects' tables are made. See `make bench`.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
)

// The targets: not slower than the other program, and within this much memory.
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
	if err := heapCalls(program, dir, records, rounds); err != nil {
		return err
	}
	if err := callChains(program, dir, rounds); err != nil {
		return err
	}
	if err := stackDumps(program, dir, rounds); err != nil {
		return err
	}
	if err := compiler(program, dir, rounds); err != nil {
		return err
	}
	if err := largeFile(program, dir); err != nil {
		return err
	}
	if err := inProcess(dir, 5*rounds); err != nil {
		return err
	}
	if err := unwinding(dir, 5*rounds); err != nil {
		return err
	}
	if err := dataObjects(dir, rounds); err != nil {
		return err
	}
	return symbolTables(program, filepath.Join(dir, "cache"), rounds)
}

// heapCalls compares the reading of heap calls with gprofng's.
func heapCalls(program, dir string, records, rounds int) error {
	path, err := recording(dir, records)
	if err != nil {
		return err
	}
	c := contest{path: path, records: records, cold: true, memory: memoryTarget, ratio: 1}
	if gprofng, err := exec.LookPath("gprofng"); err == nil {
		c.peer = contender{name: "gprofng display text -functions", args: []string{gprofng, "display", "text", "-limit", "0", "-functions", path}}
	}
	return c.hold(program, dir, rounds)
}

// The recordings of call chains and of stack dumps: how many samples they have,
// and the targets for what of a core's second is read.
const (
	chainsFile, perfSamples, chainRate = "chains.data", 200_000, 1_000_000
	dumpsFile, dumpSamples, dumpRate   = "dumps.data", 24_000, 250_000
	dumpBytes                          = 8192
)

// largeSamples is how many make a recording of more than 384 MB.
const largeSamples = 5_000_000

// callChains compares the reading of perf's frame pointer chains with perf's own.
func callChains(program, dir string, rounds int) error {
	files, err := perfFiles(dir)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, chainsFile)
	if err := prolong(filepath.Join(files, "perf", "p_cxx_fp.data"), path, perfSamples, 0); err != nil {
		return err
	}
	symfs := filepath.Join(files, "symfs")
	c := contest{path: path, records: perfSamples, flags: []string{"--symfs", symfs}, memory: memoryTarget, ratio: 1}
	if perf, err := exec.LookPath("perf"); err == nil {
		c.peer = contender{name: "perf report --children -g none", args: []string{perf, "report", "--stdio", "--children", "-g", "none", "--symfs", symfs, "-i", path}}
	}
	return c.hold(program, dir, rounds)
}

// stackDumps compares the unwinding of perf's stack dumps with perf's own. There
// is not a target for the ratio: the program has a few shallow stacks, again and
// again, and perf is done before a store's catalog is written and on the disk.
func stackDumps(program, dir string, rounds int) error {
	files, err := perfFiles(dir)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, dumpsFile)
	if err := prolong(filepath.Join(files, "perf", "p_recur_dwarf.data"), path, dumpSamples, dumpBytes); err != nil {
		return err
	}
	symfs := filepath.Join(files, "symfs")
	c := contest{path: path, records: dumpSamples, flags: []string{"--symfs", symfs}, memory: memoryTarget}
	if perf, err := exec.LookPath("perf"); err == nil {
		c.peer = contender{name: "perf report --no-inline", args: []string{perf, "report", "--stdio", "--no-inline", "--symfs", symfs, "-i", path}}
	}
	return c.hold(program, dir, rounds)
}

// compiler compares the reading of the stack dumps of a real program with perf's.
func compiler(program, dir string, rounds int) error {
	path, samples, err := compilation(dir)
	if errors.Is(err, errNoCompilation) {
		fmt.Printf("\n%s: skipped: %v\n", compilationFile, err)
		return nil
	}
	if err != nil {
		return err
	}
	c := contest{path: path, records: samples, memory: memoryTarget, ratio: 3}
	if perf, err := exec.LookPath("perf"); err == nil {
		c.peer = contender{name: "perf report --no-inline", args: []string{perf, "report", "--stdio", "--no-inline", "-i", path}}
	}
	return c.hold(program, dir, rounds)
}

// largeFile reads a recording that is larger than the memory allowed.
func largeFile(program, dir string) error {
	files, err := perfFiles(dir)
	if err != nil {
		return err
	}
	path := filepath.Join(dir, "large.data")
	if err := prolong(filepath.Join(files, "perf", "p_cxx_fp.data"), path, largeSamples, 0); err != nil {
		return err
	}
	defer os.Remove(path)
	c := contest{path: path, records: largeSamples, flags: []string{"--symfs", filepath.Join(files, "symfs"), "--memory", "384M"}, memory: 384 << 20}
	return c.hold(program, dir, 1)
}

// contest compares the ingest of one recording with another program's reading of it.
type contest struct {
	path    string
	records int
	flags   []string // of ingest
	cold    bool     // also with an empty cache
	memory  int64    // that it may take, bytes
	ratio   float64  // how many times as fast as the peer it should be; 0: no target
	peer    contender
}

func (c *contest) hold(program, dir string, rounds int) error {
	input, err := size(c.path)
	if err != nil {
		return err
	}
	fmt.Printf("\n%s: %d records, %.0f MB, %d rounds\n", c.path, c.records, float64(input)/1e6, rounds)
	store, cache := filepath.Join(dir, "store"), filepath.Join(dir, "cache")
	args := append([]string{program, "ingest", "--store", store, "--cache", cache, c.path}, c.flags...)
	contenders := []contender{{name: "stackmill ingest, warm cache", remove: []string{store}, args: args}}
	if c.cold {
		contenders = append(contenders, contender{name: "stackmill ingest, cold cache", remove: []string{store, cache}, args: args})
	}
	if c.peer.args != nil {
		contenders = append(contenders, c.peer)
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
	c.report(contenders, input, stored)
	return nil
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

func (c *contest) report(contenders []contender, input, stored int64) {
	t := table.NewWriter()
	t.SetOutputMirror(os.Stdout)
	t.AppendHeader(table.Row{"", "median", "CPU", "records/s", "records/s/core", "MB/s", "peak MiB"})
	for _, k := range contenders {
		m := median(k.runs)
		rate := func(d time.Duration) string { return fmt.Sprintf("%.0f", float64(c.records)/d.Seconds()) }
		t.AppendRow(table.Row{k.name, m.elapsed.Round(time.Millisecond), m.cpu.Round(time.Millisecond), rate(m.elapsed), rate(m.cpu),
			fmt.Sprintf("%.1f", float64(input)/1e6/m.elapsed.Seconds()), m.memory >> 20})
	}
	t.Render()
	fmt.Printf("store: %.1f MB, %.2f bytes per record\n", float64(stored)/1e6, float64(stored)/float64(c.records))
	ours := median(contenders[0].runs)
	if last := contenders[len(contenders)-1]; c.peer.args != nil {
		ratio := median(last.runs).elapsed.Seconds() / ours.elapsed.Seconds()
		fmt.Printf("speed: %.2f times that of %s", ratio, last.name)
		if c.ratio > 0 {
			fmt.Printf(", target at least %.0f: %s", c.ratio, verdict(ratio >= c.ratio))
		}
		fmt.Println()
	}
	fmt.Printf("memory: %d MiB, target at most %d: %s\n", ours.memory>>20, c.memory>>20, verdict(ours.memory <= c.memory))
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
