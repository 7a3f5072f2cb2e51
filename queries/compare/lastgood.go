package compare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stackmill/queries"
)

// LastGood is a selector of the base. It selects the newest accepted runs before the test's runs.
const LastGood = "last-good"

// AcceptedKey is the key of the label of accepted runs, AcceptedValue its value.
const (
	AcceptedKey   = "accepted"
	AcceptedValue = "yes"
)

// ErrNoneAccepted is wrapped by the error of ResolveLastGood if no runs before the test's runs are
// accepted.
var ErrNoneAccepted = errors.New("nothing is accepted")

// UsesLastGood reports whether the request asks for the last accepted runs as the base.
func (r *Request) UsesLastGood() bool { return slices.Contains(r.Base, LastGood) }

// ResolveLastGood replaces LastGood in the base by the ids of the newest accepted runs before the
// test's runs. The selector of the test, such as commit=4f2a, names a label. Runs with the same value
// of that label form a group. The base is the accepted runs of the newest group, by start, that has
// any: runs of the same programs that match the other terms of the selector and are all older than the
// test's runs. The whole store must be open.
func (r *Request) ResolveLastGood(ctx context.Context, db *queries.DB) error {
	if len(r.Base) > 1 || len(r.Test) != 1 {
		return fmt.Errorf("--base %s: there is another --base, or several --test", LastGood)
	}
	test, err := db.Select(ctx, r.Test...)
	if err != nil {
		return fmt.Errorf("--test: %w", err)
	}
	key, rest := groupKey(r.Test[0], test)
	if key == "" {
		return fmt.Errorf("--base %s: --test %s does not name a label that all of its runs have (write --test commit=4f2a)", LastGood, r.Test[0])
	}
	older, programs, err := olderRuns(ctx, db, test)
	if err != nil {
		return err
	}
	if rest != "" {
		matching, err := db.Select(ctx, rest)
		if err != nil {
			return fmt.Errorf("--test: %w", err)
		}
		older = slices.DeleteFunc(older, func(o olderRun) bool {
			return !slices.ContainsFunc(matching, func(e queries.Experiment) bool { return e.ExperimentID == o.ExperimentID })
		})
	}
	group := newestAccepted(older, key, test[0].Labels[key])
	if group == nil {
		of := ""
		if len(programs) > 0 && programs[0] != "" {
			of = "of " + Few(programs) + " "
		}
		return fmt.Errorf("--base %s: %w: no runs %sbefore %s have the label %s=%s (label runs of a good state, or give gate --allow-first)",
			LastGood, ErrNoneAccepted, of, r.Test[0], AcceptedKey, AcceptedValue)
	}
	r.Base = ids(group)
	r.good = fmt.Sprintf("%s (%s=%s)", LastGood, key, group[0].Labels[key])
	return nil
}

// groupKey returns the key of the first term KEY=VALUE of a selector that all selected runs have as a
// label, and the other terms.
func groupKey(selector string, selected []queries.Experiment) (key, rest string) {
	terms := strings.Split(selector, ",")
	for i, t := range terms {
		k, v, _ := strings.Cut(strings.TrimSpace(t), "=")
		if v != "" && !slices.ContainsFunc(selected, func(e queries.Experiment) bool { return e.Labels[k] != v }) {
			return k, strings.Join(slices.Delete(terms, i, i+1), ",")
		}
	}
	return "", ""
}

// olderRun is a run that may belong to the last good group.
type olderRun struct {
	queries.Experiment
	started int64 // when it started or, if that is unknown, when it was ingested; µs
	older   bool  // whether it started before all runs of the test
}

// olderRuns returns all runs of the test's programs, and the names of these programs.
func olderRuns(ctx context.Context, db *queries.DB, test []queries.Experiment) (runs []olderRun, programs []string, err error) {
	records, err := db.Records(ctx, `WITH times AS (SELECT experiment_id, target, epoch_us(COALESCE(started::TIMESTAMP, ingested::TIMESTAMP)) AS t FROM experiments),
		test AS (SELECT * FROM times WHERE experiment_id IN (`+queries.Quote(ids(test)...)+`))
		SELECT experiment_id, target, t, t < (SELECT min(t) FROM test) AS older FROM times WHERE target IN (SELECT target FROM test) ORDER BY experiment_id`)
	if err != nil {
		return nil, nil, err
	}
	all := map[string]queries.Experiment{}
	for _, e := range db.Experiments() {
		all[e.ExperimentID] = e
	}
	for _, r := range records {
		id := r.Text("experiment_id")
		if slices.ContainsFunc(test, func(e queries.Experiment) bool { return e.ExperimentID == id }) {
			programs = append(programs, r.Text("target"))
		}
		older, _ := r["older"].(bool)
		runs = append(runs, olderRun{all[id], r.Number("t"), older})
	}
	slices.Sort(programs)
	return runs, slices.Compact(programs), nil
}

// newestAccepted returns the accepted runs of the newest group before the test's; nil if there are
// none.
func newestAccepted(runs []olderRun, key, test string) []queries.Experiment {
	groups := map[string][]olderRun{}
	for _, r := range runs {
		if v := r.Labels[key]; v != "" && v != test && r.Labels[AcceptedKey] == AcceptedValue && r.Status != "failed" {
			groups[v] = append(groups[v], r)
		}
	}
	newest := func(group []olderRun) olderRun {
		return slices.MaxFunc(group, func(a, b olderRun) int {
			return cmp.Or(cmp.Compare(a.started, b.started), a.Ingested.Compare(b.Ingested), strings.Compare(a.ExperimentID, b.ExperimentID))
		})
	}
	var last []olderRun
	for _, group := range groups {
		if slices.ContainsFunc(group, func(r olderRun) bool { return !r.older }) {
			continue
		}
		if last == nil || newest([]olderRun{newest(group), newest(last)}).ExperimentID == newest(group).ExperimentID {
			last = group
		}
	}
	var list []queries.Experiment
	for _, r := range last {
		list = append(list, r.Experiment)
	}
	return list
}
