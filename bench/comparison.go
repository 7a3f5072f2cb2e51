package main

import (
	"context"
	"time"

	"stackmill/queries"
	"stackmill/queries/compare"
)

// compareWhenOpen is what a comparison of groups may take, ms, on an open connection.
const compareWhenOpen = 1000

// scaleCompare compares the functions of 100 experiments with those of 100 others.
func (b *bench) scaleCompare(db *queries.DB, when string) error {
	if b.experiments < 200 {
		b.figures.skip("functions of 100 experiments against 100"+when, "there are fewer")
		return nil
	}
	r := compare.Usual
	r.Base, r.Test = []string{"job-000??.er"}, []string{"job-001??.er"}
	var times []time.Duration
	for range 2*b.rounds + 1 {
		begin := time.Now()
		if _, err := compare.Run(context.Background(), db, r); err != nil {
			return err
		}
		times = append(times, time.Since(begin))
	}
	b.figures.add(figure{work: "functions of 100 experiments against 100" + when, against: "an open connection", value: milliseconds(median(times)), unit: "ms", target: compareWhenOpen})
	return nil
}
