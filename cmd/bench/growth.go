package main

import (
	"fmt"
	"iter"
	"path/filepath"
	"runtime"
)

// growthTarget is how much the cost of a sample may grow, and coresTarget how many of two
// processors must be busy.
const (
	growthTarget = 1.1
	coresTarget  = 1.8
)

// inputs returns the recordings for which the cost of a sample is compared with that in longer
// recordings. If a recording could not be made, it adds a skipped figure.
func (b *bench) inputs(work string) (all []*input, err error) {
	in, err := largePackage.recording(b.dir)
	if skip, err := b.unrecorded(work+", perf fp", err); err != nil {
		return nil, err
	} else if !skip {
		all = append(all, in)
	}
	heap := &input{name: "gprofng heap, a server", samples: b.records}
	heap.long = &input{name: heap.name, samples: lengthened * b.records}
	heap.large = heap.long
	for _, h := range []*input{heap, heap.long} {
		if h.path, err = recording(b.dir, h.samples); err != nil {
			return nil, err
		}
	}
	return append(all, heap), nil
}

// growth compares the CPU time per sample in a recording and in one that is several times as long,
// and measures how many processors the longer recordings keep busy.
func (b *bench) growth() error {
	inputs, err := b.inputs("CPU of a sample")
	if err != nil {
		return err
	}
	for _, in := range inputs {
		sizes := []contender{b.ingest("", in.path), b.ingest("", in.long.path), b.ingest("", in.large.path)}
		if in.large == in.long {
			sizes = sizes[:2]
		}
		if err := takeTurns(b.rounds, sizes); err != nil {
			return err
		}
		one := sizes[0].runs.cpu().Seconds() / float64(in.samples)
		long := sizes[1].runs.cpu().Seconds() / float64(in.long.samples)
		fmt.Printf("\n%s: %.2f µs of CPU for a sample of %d, %.2f of %d (in %.1f s)\n",
			in.name, one*1e6, in.samples, long*1e6, in.long.samples, sizes[1].runs.elapsed().Seconds())
		b.figures.add(figure{work: fmt.Sprintf("CPU of a sample, %s, %d×", in.name, lengthened), against: "1×", value: long / one, target: growthTarget})
		for i, larger := range []*input{in.long, in.large}[:len(sizes)-1] {
			cores := figure{work: fmt.Sprintf("processors busy, %s, %d×", in.name, larger.samples/in.samples), value: sizes[i+1].runs.cores(), target: coresTarget, atLeast: true}
			if runtime.NumCPU() < 2 {
				cores.skipped = "there is one processor"
			}
			b.figures.add(cores)
		}
	}
	return nil
}

// splitProcesses is the number of processes over which samples are distributed.
const splitProcesses = 200

// processes compares the CPU time per sample in two recordings of the same samples. In one of them,
// all samples belong to one process, in the other to many processes with the same mappings.
func (b *bench) processes() error {
	work := fmt.Sprintf("CPU of a sample, %d processes", splitProcesses)
	in, err := largePackage.recording(b.dir)
	if skip, err := b.unrecorded(work, err); skip {
		return err
	}
	var pair []contender
	samples := 0
	for _, split := range []bool{false, true} {
		path := filepath.Join(b.dir, fmt.Sprintf("split-%t.data", split))
		if samples, err = repool(in.path, path, "compile", splitProcesses, split); err != nil {
			return err
		}
		pair = append(pair, b.ingest("", path))
	}
	if err := takeTurns(b.rounds, pair); err != nil {
		return err
	}
	one, many := pair[0].runs.cpu().Seconds()/float64(samples), pair[1].runs.cpu().Seconds()/float64(samples)
	fmt.Printf("\n%d samples: %.2f µs of CPU for one in 1 process, %.2f in %d\n", samples, one*1e6, many*1e6, splitProcesses)
	b.figures.add(figure{work: work, against: "1", value: many / one, target: growthTarget})
	return nil
}

// repool writes a recording with the samples of all processes of a program. There they belong to that
// many threads: of one process or, if split is set, of a process each. It returns how many there are.
func repool(from, to, program string, threads int, split bool) (samples int, err error) {
	err = rewrite(from, to, func(head []byte, in iter.Seq[perfRecord], emit func([]byte)) error {
		p, err := pool(head, in, program)
		if err != nil {
			return err
		}
		samples = len(p.samples)
		p.write(threads, split, emit)
		return nil
	})
	return samples, err
}
