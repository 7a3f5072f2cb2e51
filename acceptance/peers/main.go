// Command peers records real programs with perf and gprofng, ingests each
// recording into a fresh store, and compares the values of every function with
// what the peers show. A difference counts as explained only if the recording, the
// symbol tables or the machine code prove the rule that makes it.
package main

import (
	"context"
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
	if work == "" {
		if work, err = os.MkdirTemp("", "stackmill-peers-"); err != nil {
			return 0, err
		}
		defer os.RemoveAll(work)
	}
	if work, err = filepath.Abs(work); err != nil {
		return 0, err
	}
	if err := os.MkdirAll(work, 0o755); err != nil {
		return 0, err
	}
	r := &recorder{work, map[string]bool{}}
	if !again {
		if r, err = newRecorder(ctx, work); err != nil {
			return 0, err
		}
	}
	total := &result{name: "total", rules: map[string]int{}}
	recordings := 0
	for _, p := range programs {
		if lack := missing(append([]string{"perf"}, p.needs...)...); lack != nil {
			fmt.Printf("%-24s left out, %s\n", p.name, hint(lack))
			continue
		}
		for _, m := range p.modes {
			name := p.name + "-" + m.name
			if !chosen.MatchString(name) {
				continue
			}
			file := filepath.Join(work, name+".data")
			if !again {
				if file, err = r.perf(ctx, p, m); err != nil {
					return 0, err
				}
			}
			c, err := comparePerf(ctx, file, work, m)
			if err != nil {
				c = &comparison{problems: []string{err.Error()}}
			}
			got := c.result(name)
			got.print(os.Stdout, details)
			total.plus(got)
			recordings++
		}
	}
	total.name = fmt.Sprintf("%d recordings", recordings)
	total.print(os.Stdout, 0)
	return total.unexplained, nil
}

// unwound and chains tell what a mode records.
func (m mode) unwound() bool { return strings.Contains(m.options, "dwarf") }
func (m mode) chains() bool  { return m.name != none.name }
