package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"golang.org/x/sys/unix"
)

// contest compares the ingest of one recording with another program's reading of it.
type contest struct {
	work    string // name of the recording in figures
	path    string
	samples int
	flags   []string // flags of ingest
	cold    bool     // also measure ingest with an empty cache
	peer    contender
	ratio   float64 // maximum of the time of ingest, divided by the time of the peer
	bytes   float64 // maximum of bytes in the store per sample; 0: no limit
}

// contender is a command whose time and memory are compared with others.
type contender struct {
	name   string
	remove []string // paths that putAside moves away before each run
	args   []string // command line; empty: the program is not installed
	runs   runs
}

// hold runs a contest and adds its figures.
func (b *bench) hold(c contest) error {
	input, err := size(c.path)
	if err != nil {
		return err
	}
	fmt.Printf("\n%s: %d samples, %.0f MB, %d rounds\n", c.path, c.samples, float64(input)/1e6, b.rounds)
	contenders := []contender{b.ingest("stackmill ingest, warm cache", c.path, c.flags...)}
	if c.cold {
		cold := b.ingest("stackmill ingest, cold cache", c.path, c.flags...)
		cold.remove = append(cold.remove, b.cache())
		contenders = append(contenders, cold)
	}
	if c.peer.args != nil {
		contenders = append(contenders, c.peer)
	}
	if err := takeTurns(b.rounds, contenders); err != nil {
		return err
	}
	stored, err := tableSizes(b.store())
	if err != nil {
		return err
	}
	c.report(contenders, input)
	fmt.Println(stored)
	own := contenders[0].runs.elapsed()
	if c.peer.args == nil {
		b.figures.skip(c.work, c.peer.name+" is not there")
	} else {
		peer := contenders[len(contenders)-1].runs.elapsed()
		b.figures.add(figure{work: c.work, against: c.peer.name, value: own.Seconds() / peer.Seconds(), target: c.ratio})
	}
	b.figures.add(figure{work: "bytes of a sample, " + c.work, value: float64(stored.total()) / float64(c.samples), target: c.bytes})
	return nil
}

// report prints the contenders' times and memory; input is the size of the recording in bytes.
func (c *contest) report(contenders []contender, input int64) {
	t := table.NewWriter()
	t.SetOutputMirror(os.Stdout)
	t.AppendHeader(table.Row{"", "median", "CPU", "samples/s", "samples/s/core", "MB/s", "peak MiB"})
	for _, k := range contenders {
		elapsed, cpu := k.runs.elapsed(), k.runs.cpu()
		rate := func(d time.Duration) string { return fmt.Sprintf("%.0f", float64(c.samples)/d.Seconds()) }
		t.AppendRow(table.Row{k.name, elapsed.Round(time.Millisecond), cpu.Round(time.Millisecond), rate(elapsed), rate(cpu),
			fmt.Sprintf("%.1f", float64(input)/1e6/elapsed.Seconds()), k.runs.memory() >> 20})
	}
	t.Render()
}

// ingest returns the contender that reads a recording into a new store.
func (b *bench) ingest(name, path string, flags ...string) contender {
	args := append([]string{b.program, "ingest", "--store", b.store(), "--cache", b.cache()}, flags...)
	return contender{name: name, remove: []string{b.store()}, args: append(args, path)}
}

func (b *bench) store() string { return filepath.Join(b.dir, "store") }
func (b *bench) cache() string { return filepath.Join(b.dir, "cache") }

// takeTurns runs the contenders in rounds, each once per round, so that other load on the machine
// affects all of them alike. First it writes cached files to the disk: otherwise a contender that
// flushes its own files would have to wait for those, too.
func takeTurns(rounds int, contenders []contender) error {
	unix.Sync()
	for range rounds {
		for i := range contenders {
			if err := contenders[i].run(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *contender) run() error {
	for _, path := range c.remove {
		if err := putAside(path); err != nil {
			return err
		}
	}
	r, err := measure(c.args[0], c.args[1:]...)
	c.runs = append(c.runs, r)
	return err
}

// asideDir is the folder to which putAside moves files; it is in the folder in which they are.
const asideDir = "aside"

// putAside moves a file or folder away, but does not delete it: when ext4 creates a file, it looks
// at all files that were deleted in the last minutes. That took a fifth of the time of an ingest
// when stores were deleted between rounds.
func putAside(path string) error {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	aside := filepath.Join(filepath.Dir(path), asideDir)
	if err := os.MkdirAll(aside, 0o777); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(aside, "")
	if err != nil {
		return err
	}
	return os.Rename(path, filepath.Join(dir, filepath.Base(path)))
}
