package main

import (
	"os"
)

const (
	startTarget = 20 // ms
	startRounds = 10 // runs per round of other measurements
)

// start measures a run of the program that only finds that a recording is in the store already.
func (b *bench) start() error {
	path, symfs, err := chains(b.dir)
	if err != nil {
		return err
	}
	first := b.ingest("", path, "--symfs", symfs)
	if err := first.run(); err != nil {
		return err
	}
	both := []contender{{args: []string{b.program, "version"}}, {args: first.args}}
	if err := takeTurns(startRounds*b.rounds, both); err != nil {
		return err
	}
	b.figures.add(figure{work: "start of the program", value: milliseconds(both[0].runs.elapsed()), unit: "ms", target: startTarget})
	b.figures.add(figure{work: "ingest of what is there", value: milliseconds(both[1].runs.elapsed()), unit: "ms"})
	return os.RemoveAll(b.store())
}
