package queries

import (
	"context"
	"database/sql/driver"
	"errors"
	"slices"
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
	list := &db.said.counts
	chosen, err := (&selection{ctx, whole, list.experiments}).any(o.Only)
	if err != nil {
		return nil, err
	}
	only := map[string]bool{}
	for i, is := range chosen {
		if is {
			only[list.experiments[i].ExperimentID] = true
		}
	}
	list.keep(only)
	return db.said.defined()
}

// keep leaves out all other experiments.
func (l *visible) keep(only map[string]bool) {
	var kept visible
	for _, e := range l.experiments {
		if only[e.ExperimentID] {
			kept.experiments = append(kept.experiments, e)
		}
	}
	for _, b := range l.batches {
		hidden := slices.Clone(b.Hidden)
		for e := range b.Visible {
			if !only[e.ExperimentID] {
				hidden = append(hidden, e.ExperimentID)
			}
		}
		if slices.Sort(hidden); len(hidden) < len(b.Experiments) {
			b.Hidden = hidden
			kept.batches = append(kept.batches, b)
		}
	}
	*l = kept
}
