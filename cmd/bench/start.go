package main

import (
	"os"
	"time"
)

const (
	startTarget = 20 // ms
	startRounds = 10 // for each round of others
)

// start measures how long the program takes to start, and to find that a recording
// is in the store already.
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
	ms := func(c contender) float64 { return float64(c.runs.elapsed()) / float64(time.Millisecond) }
	b.figures.add(figure{work: "start of the program", value: ms(both[0]), unit: "ms", target: startTarget})
	b.figures.add(figure{work: "ingest of what is there", value: ms(both[1]), unit: "ms"})
	return os.RemoveAll(b.store())
}
