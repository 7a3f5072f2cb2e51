//go:build cgo

// Package forget finds the experiments to delete from a store.
package forget

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"stackmill/queries"
	"stackmill/schema"
	"stackmill/schema/storedir"
)

// Request describes the experiments to delete.
type Request struct {
	Store       string
	Selectors   []string
	HasAge      bool
	Age         time.Duration // only older experiments, if HasAge
	RollupsOnly bool          // keep what describes experiments, and their sums by function
	WithTimes   bool          // also find when experiments were recorded

	Open func(ctx context.Context, selectors ...string) (*queries.DB, error)
}

// Experiment is an experiment to delete.
type Experiment struct {
	queries.Experiment
	Started time.Time
	Bytes   int64 // its share of the batch's files, by samples
}

// Commit deletes the experiments.
func Commit(c *storedir.Contents, list []Experiment, rollupsOnly bool, program string) error {
	var ids []string
	for _, e := range list {
		ids = append(ids, e.ExperimentID)
	}
	status := storedir.Forgotten
	if rollupsOnly {
		status = storedir.Summary
	}
	return c.Delete(ids, status, program)
}

// ParseAge reads a duration such as 90d, 2w or 36h.
func ParseAge(s string) (time.Duration, error) {
	const day = 24 * time.Hour
	for suffix, unit := range map[string]time.Duration{"d": day, "w": 7 * day} {
		if digits, ok := strings.CutSuffix(s, suffix); ok {
			if n, err := strconv.ParseUint(digits, 10, 13); err == nil {
				return time.Duration(n) * unit, nil
			}
		}
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return d, nil
	}
	return 0, fmt.Errorf("%q is not an age (write 90d, 2w or 36h)", s)
}

// Find returns the experiments that a request selects.
func Find(ctx context.Context, r Request) (list []Experiment, err error) {
	selectors := r.Selectors
	if !r.HasAge && !r.RollupsOnly {
		if list, selectors, err = r.damaged(); err != nil || len(selectors) == 0 {
			return list, err
		}
	}
	db, err := r.Open(ctx, selectors...)
	if err != nil {
		return nil, err
	}
	defer db.Close()
	started, err := r.startTimes(ctx, db)
	if err != nil {
		return nil, err
	}
	parts := r.sizes(db.Batches())
	for _, e := range db.Experiments() {
		at := started[e.ExperimentID]
		if at.IsZero() {
			at = e.Ingested
		}
		done := r.RollupsOnly && e.Status == storedir.Summary
		if !done && (!r.HasAge || time.Since(at) > r.Age) {
			list = append(list, Experiment{e, at, parts[e.ExperimentID]})
		}
	}
	return list, nil
}

// damaged handles selectors that are names or ids of damaged experiments, which the store leaves
// out. It returns these experiments, and the other selectors.
func (r *Request) damaged() (list []Experiment, others []string, err error) {
	if err := storedir.Pull(r.Store); err != nil {
		return nil, nil, err
	}
	c, err := storedir.ReadContents(r.Store)
	if err != nil {
		return nil, r.Selectors, nil // opening the store says why
	}
	for _, s := range r.Selectors {
		before := len(list)
		for _, e := range c.ToReingest {
			if s == e.ExperimentID || s == e.Experiment {
				list = append(list, Experiment{Experiment: queries.Experiment{Entry: e, Name: e.Experiment}})
			}
		}
		if len(list) == before {
			others = append(others, s)
		}
	}
	return list, others, nil
}

// startTimes returns when experiments were recorded, if the request needs it. Only then are files
// of the store read, which other programs may replace meanwhile.
func (r *Request) startTimes(ctx context.Context, db *queries.DB) (map[string]time.Time, error) {
	started := map[string]time.Time{}
	if !r.HasAge && !r.WithTimes {
		return started, nil
	}
	rows, err := db.Records(ctx, "SELECT experiment_id, started FROM experiments")
	for _, row := range rows {
		if at, ok := row["started"].(time.Time); ok {
			started[row.Text("experiment_id")] = at
		}
	}
	return started, err
}

// sizes returns how many bytes of files deleting each experiment would free.
func (r *Request) sizes(batches []storedir.Batch) map[string]int64 {
	parts := map[string]int64{}
	for i := range batches {
		var bytes, samples float64
		for _, file := range batches[i].Files {
			if t := schema.ByName(file.Table); !r.RollupsOnly || t == nil || !t.Summary {
				bytes += float64(file.Bytes)
			}
		}
		for _, e := range batches[i].Experiments {
			samples += float64(e.Samples) + 1
		}
		for e := range batches[i].Visible {
			parts[e.ExperimentID] = int64(bytes * (float64(e.Samples) + 1) / samples)
		}
	}
	return parts
}
