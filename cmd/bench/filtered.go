package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// Maximum time and memory of a filtered report by a new process: for one large experiment, and for
// many small ones together.
const (
	filteredRecords = 1_000_000
	filteredAnswer  = 800 // ms
	filteredMemory  = 250 // MiB
	filteredMany    = 300
	filteredOfMany  = 500 // ms
)

// filteredReports are the reports that are measured.
var filteredReports = []string{"functions", "call-tree"}

// filtered measures reports that select some of the samples.
func (b *bench) filtered() error {
	large, err := recording(b.dir, filteredRecords)
	if err != nil {
		return err
	}
	jobs := filepath.Join(b.dir, fmt.Sprintf("filtered-%d", filteredMany))
	if err := many(b.dir, jobs, 0, filteredMany, nightSize); err != nil {
		return err
	}
	for _, of := range []struct {
		name, path string
		ms, memory float64
	}{
		{fmt.Sprintf("%d samples", filteredRecords), large, filteredAnswer, filteredMemory},
		{fmt.Sprintf("%d small experiments", filteredMany), jobs, filteredOfMany, 0},
	} {
		ingest := b.ingest("", of.path, "--recursive")
		if err := ingest.run(); err != nil {
			return err
		}
		var asked []contender
		for _, report := range filteredReports {
			asked = append(asked, contender{args: []string{b.program, "report", report, "--store", b.store(), "--limit", "10", "--where", filters[0].Where[0]}})
		}
		if err := takeTurns(b.rounds, asked); err != nil {
			return err
		}
		for i, report := range filteredReports {
			work := fmt.Sprintf("filtered %s of %s", report, of.name)
			b.figures.add(figure{work: work, value: milliseconds(asked[i].runs.elapsed()), unit: "ms", target: of.ms})
			b.figures.add(figure{work: work + ", memory", value: float64(asked[i].runs.memory() >> 20), unit: "MiB", target: of.memory})
		}
	}
	return os.RemoveAll(b.store())
}
