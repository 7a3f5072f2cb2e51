package queries

import (
	"context"
	"database/sql/driver"
	"errors"
	"slices"

	"stackmill/storedir"
)

// sight is what connections see of an attached catalog: all of it, or a part of the store.
type sight struct{ part *definitions }

// use makes a new connection see the catalog.
func (see *sight) use(conn driver.ExecerContext) error {
	if err := run(conn, []string{"USE " + catalogName}); err != nil || see.part == nil {
		return err
	}
	return errors.Join(run(conn, see.part.changes("TEMP")), see.part.fill(conn.(driver.Conn), "temp"))
}

// restrict leaves out all experiments but those that selectors stand for, and defines the
// rest. The files of other batches are not opened then, and of the rows of others in the
// same files those not read that statistics tell apart.
func (db *DB) restrict(ctx context.Context, o Options) (*definitions, error) {
	whole := func() (*DB, error) { return OpenWith(ctx, db.Store, Options{Limits: o.Limits, Cache: o.Cache}) }
	chosen, err := (&selection{ctx, whole, db.Experiments}).any(o.Only)
	if err != nil {
		return nil, err
	}
	db.keep(chosen)
	return define(db.Store, db.Batches, db.Experiments)
}

// keep leaves out all other experiments.
func (db *DB) keep(keep []bool) {
	kept := map[string]bool{}
	var experiments []Experiment
	for i, k := range keep {
		if k {
			experiments = append(experiments, db.Experiments[i])
			kept[db.Experiments[i].ExperimentID] = true
		}
	}
	var batches []storedir.Batch
	for _, b := range db.Batches {
		hidden := slices.Clone(b.Hidden)
		for e := range b.Visible {
			if !kept[e.ExperimentID] {
				hidden = append(hidden, e.ExperimentID)
			}
		}
		if slices.Sort(hidden); len(hidden) < len(b.Experiments) {
			b.Hidden = hidden
			batches = append(batches, b)
		}
	}
	db.Batches, db.Experiments = batches, experiments
}
