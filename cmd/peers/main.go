// Command peers records real programs with perf and gprofng, ingests each
// recording into a fresh store, and compares the values of every function with
// what the peers show. A difference counts as explained only if the recording, the
// symbol tables or the machine code prove the rule that makes it.
//
// Most explanations are rules of docs/semantics.md. Others are peculiarities of the peers:
// `unwinder`: perf's unwinder skips frames or goes astray, and the calls in the machine code
// confirm the store's stack; `corrupt-chain`: perf discards a chain for one bad word;
// `gprofng-text-size`: gprofng takes code for unknown and makes functions up; `realloc`: gprofng
// counts reallocated blocks as leaked, exactly as many as its algorithm predicts.
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

// workFolder makes the named folder or, without a name, a temporary one, which remove deletes.
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
	if err := os.Chmod(work, 0o755); err != nil { // some servers run as other users
		remove()
		return "", nil, err
	}
	return work, remove, nil
}

// inFolder calls f with a new folder below work, and then removes the folder.
func inFolder(work string, f func(folder string) (*result, error)) (*result, error) {
	folder, err := os.MkdirTemp(work, "store-")
	if err != nil {
		return nil, err
	}
	r, err := f(folder)
	return r, errors.Join(err, os.RemoveAll(folder))
}

// job is a recording, with the function that compares it.
type job struct {
	name  string
	needs []string
	run   func(ctx context.Context, folder string) (*result, error) // folder is for its store
}

// jobs returns all jobs; again: the recordings exist already.
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

// unwound reports whether a mode records stack dumps; chains, whether it records call chains.
func (m mode) unwound() bool { return strings.Contains(m.options, "dwarf") }
func (m mode) chains() bool  { return m.name != none.name }
