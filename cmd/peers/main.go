// Command peers records real programs with perf and gprofng (the peers), ingests each recording
// into a fresh store, and compares the values of all functions with those that the peer shows. A
// difference counts as explained only if the recording, symbol tables or machine code prove that
// one of these is the reason: a rule of docs/semantics.md, or a peculiarity of the peer:
//
//	`unwinder`: perf's unwinder skips frames or gets lost, but calls in the machine code confirm
//	the store's stack
//	`corrupt-chain`: perf discards a chain because of one bad word
//	`gprofng-text-size`: gprofng shows code as unknown, in functions that do not exist
//	`realloc`: gprofng counts reallocated blocks as leaked, as many as its algorithm predicts
//
// Start reading with run, which records and compares one program after the other.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

func main() {
	work := flag.String("work", "", "folder for inputs and recordings, which are kept there (default: a temporary one)")
	only := flag.String("only", "", "record only what matches this regular expression")
	again := flag.Bool("again", false, "compare the recordings that are in -work already")
	details := flag.Int("details", 3, "how many unexplained functions of a recording are shown")
	flag.Parse()
	unexplained, err := run(context.Background(), *work, *only, *again, *details)
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(2)
	}
	if unexplained > 0 {
		os.Exit(1)
	}
}

func run(ctx context.Context, work, only string, again bool, details int) (unexplained int, err error) {
	chosen, err := regexp.Compile(only)
	if err != nil {
		return 0, err
	}
	work, remove, err := workFolder(work)
	if err != nil {
		return 0, err
	}
	defer remove()
	r := &recorder{work, map[string]bool{}}
	if !again {
		if r, err = newRecorder(ctx, work); err != nil {
			return 0, err
		}
	}
	total := &result{name: "total", rules: map[string]int{}}
	recordings := 0
	for _, j := range jobs(r, again) {
		if !chosen.MatchString(j.name) {
			continue
		}
		if lack := missing(j.needs...); lack != nil {
			fmt.Printf("%-24s left out, %s\n", j.name, hint(lack))
			continue
		}
		got, err := inFolder(work, func(folder string) (*result, error) { return j.run(ctx, folder) })
		if err != nil {
			got = &result{name: j.name, unexplained: 1, failed: []string{err.Error()}}
		}
		got.print(os.Stdout, details)
		total.plus(got)
		recordings++
	}
	total.name = fmt.Sprintf("%d recordings", recordings)
	total.print(os.Stdout, 0)
	return total.unexplained, nil
}

// workFolder creates the folder with this name. Without a name, it creates a temporary folder,
// which remove deletes.
func workFolder(name string) (work string, remove func(), err error) {
	if name != "" {
		if work, err = filepath.Abs(name); err != nil {
			return "", nil, err
		}
		return work, func() {}, os.MkdirAll(work, 0o755)
	}
	if work, err = os.MkdirTemp("", "stackmill-peers-"); err != nil {
		return "", nil, err
	}
	remove = func() { os.RemoveAll(work) }
	if err := os.Chmod(work, 0o755); err != nil { // recorded servers may run as other users
		remove()
		return "", nil, err
	}
	return work, remove, nil
}

// inFolder creates a folder in work, calls f with it, and removes it.
func inFolder(work string, f func(folder string) (*result, error)) (*result, error) {
	folder, err := os.MkdirTemp(work, "store-")
	if err != nil {
		return nil, err
	}
	r, err := f(folder)
	return r, errors.Join(err, os.RemoveAll(folder))
}

// job makes a recording and compares it.
type job struct {
	name  string
	needs []string
	run   func(ctx context.Context, folder string) (*result, error) // the store is made in folder
}

// jobs returns all jobs. If again is set, they use the recordings made before.
func jobs(r *recorder, again bool) (list []job) {
	for _, p := range programs {
		for _, m := range p.modes {
			name := p.name + "-" + m.name
			list = append(list, job{name, append([]string{"perf"}, p.needs...), func(ctx context.Context, folder string) (*result, error) {
				file := filepath.Join(r.work, name+".data")
				if !again {
					if err := r.perf(ctx, p, m, file); err != nil {
						return nil, err
					}
				}
				c, err := comparePerf(ctx, file, folder, m)
				if err != nil {
					return nil, err
				}
				return c.result(name), nil
			}})
		}
	}
	for _, x := range experiments {
		list = append(list, job{x.name + ".er", append([]string{"gprofng", "gcc"}, x.needs...), func(ctx context.Context, folder string) (*result, error) {
			path := filepath.Join(r.work, x.name+".er")
			if !again {
				if err := r.gprofng(ctx, x, path); err != nil {
					return nil, err
				}
			}
			return compareGprofng(ctx, x.name+".er", path, folder)
		}})
	}
	return list
}

// unwound reports whether a mode records stack dumps, and chains whether it records any stacks.
func (m mode) unwound() bool { return strings.Contains(m.options, "dwarf") }
func (m mode) chains() bool  { return m.name != none.name }
