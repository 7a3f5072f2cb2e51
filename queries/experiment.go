package queries

import (
	"context"
	"database/sql"
	"path"
	"slices"
	"strings"
	"time"

	"stackmill/internal/cachekey"
	"stackmill/schema"
	"stackmill/schema/storedir"
)

// Experiment is one experiment of a store.
type Experiment struct {
	storedir.Entry
	Name     string    // for people, unique in the store
	Ingested time.Time // when its batch was committed

	batch string // the batch with its rows
}

// State is a hash of all that the store knows about an experiment except its rows. The rows change
// only with the generation, which the hash includes.
func (e *Experiment) State() string {
	return cachekey.Hash(e.Generation, e.Name, e.Path, e.Status, e.Ingested.UnixNano(), e.FileTime.UnixNano(), e.Labels)
}

// experimentsOf returns the visible experiments of batches by id.
func experimentsOf(batches []storedir.Batch) []Experiment {
	type entry struct {
		*storedir.Entry
		in *storedir.Batch
	}
	var found []entry
	for i := range batches {
		for e := range batches[i].Visible {
			found = append(found, entry{e, &batches[i]})
		}
	}
	slices.SortFunc(found, func(a, b entry) int { return strings.Compare(a.ExperimentID, b.ExperimentID) })
	list := make([]Experiment, len(found))
	for i, e := range found {
		list[i] = Experiment{Entry: *e.Entry, Ingested: e.IngestedAt(e.in.Ingested), batch: e.in.Batch}
	}
	nameUniquely(list)
	return list
}

// CopiedTogether returns a text about experiments whose start is known only from the time of their
// file, although the file was probably copied without its time; "" if there are none. ids are the
// experiments to look at; nil: all.
func (db *DB) CopiedTogether(ctx context.Context, ids map[string]bool) (string, error) {
	unsure := map[string]time.Time{}
	for _, e := range db.Experiments() {
		if (ids == nil || ids[e.ExperimentID]) && !e.FileTime.IsZero() && !e.FileOriginal {
			unsure[e.ExperimentID] = e.FileTime
		}
	}
	if len(unsure) == 0 {
		return "", nil
	}
	records, err := db.Records(ctx, "SELECT experiment_id, duration_ns FROM experiments WHERE started_from = "+quote(schema.StartedByFile))
	if err != nil {
		return "", err
	}
	var files []storedir.FileTime
	for _, r := range records {
		if at, is := unsure[r.Text("experiment_id")]; is {
			files = append(files, storedir.FileTime{Time: at, Length: time.Duration(r.Number("duration_ns"))})
		}
	}
	return storedir.CopiedTogether(files), nil
}

// nameUniquely sets the names of experiments: the base name, after as many parent directories as
// make it unique. If several recordings have the same path, their ids are appended.
func nameUniquely(list []Experiment) {
	parents := make([]string, len(list)) // the rest of the path
	at := make(map[string]int, len(list))
	for i := range list {
		e := &list[i]
		parents[i], e.Name = path.Dir(e.Path), e.Experiment
		at[e.Path]++
	}
	for {
		named := make(map[string]int, len(list))
		for i := range list {
			named[list[i].Name]++
		}
		if len(named) == len(list) {
			return
		}
		for i := range list {
			e, base := &list[i], path.Base(parents[i])
			switch {
			case named[e.Name] == 1:
			case at[e.Path] > 1 || base == "." || base == "/":
				e.Name += "@" + e.ExperimentID
			default:
				e.Name, parents[i] = base+"/"+e.Name, path.Dir(parents[i])
			}
		}
	}
}

// ExtraColumns are the columns of ListExperiments that are not columns of the view experiments.
var ExtraColumns = []string{"experiment", "errors", "warnings", "labels"}

// ListExperiments returns a row for each experiment, with the given columns or all. All are the
// columns of the view experiments, the numbers of errors and warnings, and the labels as a JSON
// object.
func (db *DB) ListExperiments(ctx context.Context, columns ...string) (*sql.Rows, error) {
	all := "*"
	if len(columns) > 0 {
		all = strings.Join(columns, ", ")
	}
	return db.QueryContext(ctx, `
WITH found AS MATERIALIZED (
  SELECT experiment_id, count(*) FILTER (severity = 'error') AS errors, count(*) FILTER (severity = 'warning') AS warnings
  FROM problems GROUP BY ALL
),
named AS MATERIALIZED (
  SELECT experiment_id, json_group_object(label, value) AS labels FROM labels GROUP BY ALL
)
SELECT `+all+` FROM (SELECT e.*, COALESCE(f.errors, 0) AS errors, COALESCE(f.warnings, 0) AS warnings, COALESCE(l.labels, '{}'::JSON) AS labels
FROM experiments e LEFT JOIN found f USING (experiment_id) LEFT JOIN named l USING (experiment_id)) ORDER BY experiment`)
}
