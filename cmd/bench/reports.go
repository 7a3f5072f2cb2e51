package main

import (
	"context"
	"fmt"
	"time"

	"stackmill/queries"
	standard "stackmill/queries/report"
)

// Maximum times on an open connection, in ms: for a standard report of one experiment of many, or
// all rows of a view about it, and for a filtered report.
const (
	reportWhenOpen   = 250
	filteredWhenOpen = 500
)

// filters are one filter that selects samples, and one that hides functions.
var filters = []struct {
	name string
	queries.Filter
}{
	{"filtered", queries.Filter{Where: []string{"cpu % 2 = 0 AND time_ns > 0"}}},
	{"hiding", queries.Filter{Hide: []string{"*"}}},
}

// question is a query on an open connection.
type question struct {
	name string
	ask  func(ctx context.Context) error
}

// scaleReports measures all standard reports of one experiment of many, and all rows about it in
// each view.
func (b *bench) scaleReports(string) error {
	ctx := context.Background()
	job := fmt.Sprintf("job-%05d.er", b.experiments/2)
	one, err := queries.OpenWith(ctx, b.store(), queries.Options{Only: []string{job}})
	if err != nil {
		return err
	}
	defer one.Close()
	if err := b.slowest("reports", reportWhenOpen, reportsOf(one, queries.Filter{})); err != nil {
		return err
	}
	for _, f := range filters {
		if err := b.slowest(f.name+" reports", filteredWhenOpen, reportsOf(one, f.Filter)); err != nil {
			return err
		}
	}
	all, err := queries.Open(ctx, b.store())
	if err != nil {
		return err
	}
	defer all.Close()
	views, err := viewsOf(all, one.Experiments()[0].ExperimentID)
	if err != nil {
		return err
	}
	return b.slowest("views", reportWhenOpen, views)
}

// reportsOf returns the questions for all standard reports, with a filter.
func reportsOf(db *queries.DB, f queries.Filter) (list []question) {
	for _, r := range standard.Reports {
		request := &standard.Request{Report: r, Mode: "user", Alias: "manual", Width: time.Second, Limit: 10}
		list = append(list, question{r.Name, func(ctx context.Context) error {
			session := db
			if !f.IsEmpty() {
				var err error
				if session, err = db.Filter(ctx, f, request.Reads()...); err != nil {
					return err
				}
				defer session.Close()
			}
			q, err := standard.Ask(ctx, session, request)
			if err == nil {
				_, err = q.Table(ctx)
			}
			return err
		}})
	}
	return list
}

// viewsOf returns a question for each view: all rows with the experiment's id.
func viewsOf(db *queries.DB, id string) (list []question, err error) {
	views, err := queries.Views()
	for _, v := range views {
		if len(v.Parameters) > 0 || v.Columns[0].Name != "experiment_id" {
			continue
		}
		query := "SELECT count(COLUMNS(*)) FROM " + v.Name + " WHERE experiment_id = " + queries.Quote(id)
		list = append(list, question{v.Name, func(ctx context.Context) error {
			_, err := db.Records(ctx, query)
			return err
		}})
	}
	return list, err
}

// slowest asks the questions and prints their times. It adds a figure for the slowest; the maximum
// is `may` ms.
func (b *bench) slowest(what string, may float64, list []question) error {
	when := ""
	if b.compacted {
		when = ", compacted"
	}
	fmt.Printf("\n%s of one experiment of %d%s, ms:\n", what, b.experiments, when)
	longest, name := 0.0, ""
	for _, a := range list {
		took, err := b.answerTime(a.ask)
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		fmt.Printf("  %-28s %6.0f\n", a.name, took)
		if took > longest {
			longest, name = took, a.name
		}
	}
	b.figures.add(figure{work: fmt.Sprintf("the slowest of %d %s of one experiment%s", len(list), what, when), against: name + ", on an open connection",
		value: longest, unit: "ms", target: may})
	return nil
}
