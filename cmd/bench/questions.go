package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"stackmill/queries"
)

// Maximum times of an answer about many experiments, in ms: by a new process before compact
// (scaleAnswer) and after it, and on an open connection.
const (
	scaleAnswer    = 250
	compactAnswer  = 150
	answerWhenOpen = 50
)

// scaleQuestions are questions about a store of many experiments, as the arguments of a command
// (verb) and as SQL. JOB is replaced by the name of an experiment.
var scaleQuestions = []struct{ name, verb, sql string }{
	{"functions of one experiment", "report functions --limit 10 --experiment JOB",
		"SELECT function, exclusive, inclusive FROM function_metrics WHERE experiment = 'JOB' AND mode = 'user' ORDER BY exclusive DESC, function LIMIT 10"},
	{"top functions of all", "",
		"SELECT function, sum(exclusive) AS value FROM function_totals WHERE mode = 'user' AND metric = 'heapallocbytes' AND kind <> 'artificial' GROUP BY 1 ORDER BY 2 DESC LIMIT 10"},
	{"trend of one function", "",
		"SELECT experiment, inclusive FROM function_trends WHERE mode = 'user' AND metric = 'heapallocbytes' AND function = 'malloc' ORDER BY 1"},
	{"list of experiments", "experiments", "SELECT * FROM experiments ORDER BY experiment"},
}

// namedViews are the views that scaleByName queries by the name of an experiment. They read
// different tables.
var namedViews = []string{"function_metrics", "callers_callees", "call_tree", "folded", "source", "cut_stacks"}

// scaleByName measures queries by a new process for all rows that a view has of one experiment. It
// adds a figure for the slowest view.
func (b *bench) scaleByName(job *strings.Replacer, when string) error {
	var asked []contender
	for _, view := range namedViews {
		sql := job.Replace("SELECT count(*), count(COLUMNS(*)) FROM " + view + " WHERE experiment = 'JOB'")
		asked = append(asked, contender{args: []string{b.program, "query", "--store", b.store(), sql}})
	}
	if err := takeTurns(b.rounds, asked); err != nil {
		return err
	}
	slowest := 0
	for i := range asked {
		if asked[i].runs.elapsed() > asked[slowest].runs.elapsed() {
			slowest = i
		}
	}
	b.figures.add(figure{work: fmt.Sprintf("the slowest of %d views of one experiment by its name%s", len(namedViews), when), against: namedViews[slowest] + ", SQL of the program",
		value: milliseconds(asked[slowest].runs.elapsed()), unit: "ms"})
	return nil
}

// scaleQuestions measures the answers to the questions, by a new process and on an open connection.
func (b *bench) scaleQuestions(string) error {
	when, target := "", float64(scaleAnswer)
	if b.compacted {
		when, target = ", compacted", compactAnswer
	}
	job := strings.NewReplacer("JOB", fmt.Sprintf("job-%05d.er", b.experiments/2))
	var asked []contender
	for _, q := range scaleQuestions {
		verb := strings.Fields(job.Replace(q.verb))
		if len(verb) == 0 {
			verb = []string{"query", q.sql}
		}
		asked = append(asked, contender{args: append([]string{b.program, verb[0], "--store", b.store()}, verb[1:]...)})
	}
	if err := takeTurns(b.rounds, asked); err != nil {
		return err
	}
	for i, q := range scaleQuestions {
		b.figures.add(figure{work: q.name + when, value: milliseconds(asked[i].runs.elapsed()), unit: "ms", target: target})
	}
	if err := b.scaleByName(job, when); err != nil {
		return err
	}
	db, err := queries.Open(context.Background(), b.store())
	if err != nil {
		return err
	}
	defer db.Close()
	for _, q := range scaleQuestions {
		took, err := b.answerTime(func(ctx context.Context) error { return readAll(ctx, db, job.Replace(q.sql)) })
		if err != nil {
			return err
		}
		b.figures.add(figure{work: q.name + when, against: "an open connection", value: took, unit: "ms", target: answerWhenOpen})
	}
	return b.scaleCompare(db, when)
}

// answerTime returns the median time that ask takes, in ms.
func (b *bench) answerTime(ask func(context.Context) error) (float64, error) {
	var times []time.Duration
	for range 2*b.rounds + 1 {
		begin := time.Now()
		if err := ask(context.Background()); err != nil {
			return 0, err
		}
		times = append(times, time.Since(begin))
	}
	return milliseconds(median(times)), nil
}

// readAll runs SQL and discards the rows.
func readAll(ctx context.Context, db *queries.DB, query string) error {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	values, targets := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
	}
	return rows.Err()
}
