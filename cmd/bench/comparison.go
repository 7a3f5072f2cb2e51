package main

import (
	"context"
	"fmt"
	"slices"

	"stackmill/queries"
	"stackmill/queries/compare"
)

// compareWhenOpen is the maximum time, in ms, to compare two groups on an open connection.
const compareWhenOpen = 1000

// scaleCompare compares the functions of two groups of 100 experiments each.
func (b *bench) scaleCompare(db *queries.DB, when string) error {
	if b.experiments < 200 {
		b.figures.skip("functions of 100 experiments against 100"+when, "there are fewer")
		return nil
	}
	r := compare.Defaults()
	r.Base, r.Test = []string{"job-000??.er"}, []string{"job-001??.er"}
	of := fmt.Sprintf("functions of 100 experiments against 100%s", when)
	if err := b.compared(of, func(ctx context.Context) error {
		_, err := compare.Run(ctx, db, r)
		return err
	}); err != nil {
		return err
	}
	groups, err := queries.OpenWith(context.Background(), b.store(), queries.Options{Only: slices.Concat(r.Base, r.Test)})
	if err != nil {
		return err
	}
	defer groups.Close()
	for _, f := range filters {
		if err := b.compared(of+", "+f.name, func(ctx context.Context) error {
			session, err := groups.Filter(ctx, f.Filter, r.Reads()...)
			if err != nil {
				return err
			}
			defer session.Close()
			_, err = compare.Run(ctx, session, r)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// compared measures the time of a comparison.
func (b *bench) compared(what string, run func(context.Context) error) error {
	took, err := b.answerTime(run)
	if err != nil {
		return err
	}
	b.figures.add(figure{work: what, against: "an open connection", value: took, unit: "ms", target: compareWhenOpen})
	return nil
}
