package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Maximum values for a store of many experiments; only scaleCores is a minimum.
const (
	scaleCPU     = 10  // ms of CPU time per experiment
	scaleEven    = 1.2 // cost of the last experiments, divided by that of the first ones
	scaleFiles   = 2   // files per experiment
	scaleBytes   = 20  // kilobytes per experiment
	scaleAgain   = 1000
	scaleTen     = 500
	scaleCores   = 1.8
	compactCPU   = 10
	compactFiles = 0.1
	compactBytes = 17
	checkCPU     = 15
	scaleMemory  = 1024 // MiB: --memory of compact and check, and the maximum that they may use
)

// scale measures a store of many small experiments: what each of them costs, and how long questions
// about all of them take before and after batches are merged.
func (b *bench) scale() error {
	root := filepath.Join(b.dir, fmt.Sprintf("scale-%d", b.experiments))
	if err := many(b.dir, root, 0, b.experiments, nightSize); err != nil {
		return err
	}
	for _, part := range []func(root string) error{b.scaleParts, b.scaleIngest, b.scaleNews, b.scaleQuestions, b.scaleReports,
		b.scaleCheck, b.scaleCompact, b.scaleQuestions, b.scaleReports} {
		if err := part(root); err != nil {
			return err
		}
	}
	return os.RemoveAll(b.store())
}

// scaleParts ingests the experiments in parts of a thousand (two halves if there are fewer), and
// compares the cost of the first and the last part. Afterwards the cache is filled, for the other
// measurements.
func (b *bench) scaleParts(root string) error {
	nights := (b.experiments + nightSize - 1) / nightSize
	size := max(1, min(10, nights/2))
	if nights < 2 {
		b.figures.skip("CPU of the last small experiments", "they are of one night")
		return nil
	}
	part := func(first int) []string {
		args := b.ingest("", "--recursive").args
		for n := first; n < min(first+size, nights); n++ {
			args = append(args, filepath.Join(root, nightFolder(n)))
		}
		return args
	}
	warm := contender{args: part(0), remove: []string{b.store()}}
	if err := warm.run(); err != nil {
		return err
	}
	var first, last contender
	for range b.rounds {
		first.remove = []string{b.store()}
		for n := 0; n+size <= nights; n += size {
			c := &contender{}
			switch {
			case n == 0:
				c = &first
			case n+2*size > nights:
				c = &last
			}
			c.args = part(n)
			if err := c.run(); err != nil {
				return err
			}
		}
	}
	b.figures.add(figure{work: fmt.Sprintf("CPU of the last %d small experiments", size*nightSize), against: fmt.Sprintf("the first %d", size*nightSize),
		value: last.runs.cpu().Seconds() / first.runs.cpu().Seconds(), target: scaleEven})
	return nil
}

// scaleIngest measures the ingest of all experiments at once.
func (b *bench) scaleIngest(root string) error {
	ingest := []contender{b.ingest("", root, "--recursive")}
	if err := takeTurns(b.rounds, ingest); err != nil {
		return err
	}
	fmt.Printf("\n%d experiments: %.1f s\n", b.experiments, ingest[0].runs.elapsed().Seconds())
	b.figures.add(figure{work: "CPU of a small experiment", value: b.eachMS(ingest[0]), unit: "ms", target: scaleCPU})
	b.figures.add(figure{work: "processors busy, small experiments", value: ingest[0].runs.cores(), target: scaleCores, atLeast: true})
	return b.scaleSizes("", scaleFiles, scaleBytes)
}

// eachMS returns a command's CPU time per experiment, in ms.
func (b *bench) eachMS(c contender) float64 {
	return milliseconds(c.runs.cpu()) / float64(b.experiments)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// scaleSizes measures files and bytes per experiment; the parameters are the maximum values.
func (b *bench) scaleSizes(when string, files, bytes float64) error {
	stored, err := tableSizes(b.store())
	if err != nil {
		return err
	}
	n, err := filesBelow(b.store())
	if err != nil {
		return err
	}
	fmt.Println(stored)
	all := float64(b.experiments)
	b.figures.add(figure{work: "files of a small experiment" + when, value: float64(n) / all, target: files})
	b.figures.add(figure{work: "bytes of a small experiment" + when, value: float64(stored.total()) / 1e3 / all, unit: "kB", target: bytes})
	return nil
}

// scaleNews measures the ingest when all experiments are in the store already, and then with ten
// new ones.
func (b *bench) scaleNews(root string) error {
	again := contender{args: b.ingest("", root, "--recursive").args}
	var ten contender
	for round := range b.rounds {
		more := filepath.Join(b.dir, fmt.Sprintf("scale-%d-more-%d", b.experiments, round))
		if err := many(b.dir, more, b.experiments+10*round, 10, 10); err != nil {
			return err
		}
		if err := again.run(); err != nil {
			return err
		}
		ten.args = b.ingest("", more, "--recursive", root).args
		if err := ten.run(); err != nil {
			return err
		}
	}
	b.figures.add(figure{work: "ingest of nothing new among many", value: milliseconds(again.runs.elapsed()), unit: "ms", target: scaleAgain})
	b.figures.add(figure{work: "ingest of ten new ones among many", value: milliseconds(ten.runs.elapsed()), unit: "ms", target: scaleTen})
	return nil
}

// scaleCheck measures `check` of the whole store.
func (b *bench) scaleCheck(string) error {
	c := contender{args: []string{b.program, "check", "--store", b.store(), "--memory", fmt.Sprint(scaleMemory, "M")}}
	if err := c.run(); err != nil {
		return err
	}
	b.figures.add(figure{work: "check: CPU of a small experiment", value: b.eachMS(c), unit: "ms", target: checkCPU})
	b.figures.add(figure{work: "check: peak resident size", against: fmt.Sprintf("--memory %dM", scaleMemory), value: float64(c.runs.memory() >> 20), unit: "MiB", target: scaleMemory})
	return nil
}

// scaleCompact merges the batches. It measures only one run, since afterwards there is nothing to
// merge.
func (b *bench) scaleCompact(string) error {
	c := contender{args: []string{b.program, "compact", "--store", b.store(), "--keep", "0", "--memory", fmt.Sprint(scaleMemory, "M")}}
	if err := c.run(); err != nil {
		return err
	}
	b.figures.add(figure{work: "compact: CPU of a small experiment", value: b.eachMS(c), unit: "ms", target: compactCPU})
	b.figures.add(figure{work: "compact: peak resident size", against: fmt.Sprintf("--memory %dM", scaleMemory), value: float64(c.runs.memory() >> 20), unit: "MiB", target: scaleMemory})
	time.Sleep(2 * time.Second) // times of commits are whole seconds: from then on, all merged batches are in the past
	if err := (&contender{args: c.args}).run(); err != nil {
		return err
	}
	b.compacted = true
	return b.scaleSizes(", compacted", compactFiles, compactBytes)
}
