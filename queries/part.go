package queries

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"slices"
)

// Part returns a session of an open store that has no experiments but those that the
// selectors stand for, as OpenWith with Options.Only. It shares the engine, and is closed
// first. The error wraps ErrNone if a selector stands for none.
func (db *DB) Part(ctx context.Context, selectors ...string) (*DB, error) {
	chosen, err := db.Select(ctx, selectors...)
	if err != nil {
		return nil, db.perhapsLeftOut(err)
	}
	only := make(map[string]bool, len(chosen))
	for _, e := range chosen {
		only[e.ExperimentID] = true
	}
	list := visible{db.Batches(), db.Experiments()}
	list.keep(only)
	part := define(db.Store, list.batches, list.experiments)
	session := *db
	session.said, session.sees = &said{store: db.Store, glance: db.said.glance, only: only}, part
	session.said.counting.Do(func() { session.said.counts = list })
	session.counted(list.experiments)
	session.metrics = new(metrics)
	session.DB = sql.OpenDB(&parting{db, &sight{part}})
	return &session, nil
}

// parting makes the connections of a session that has a part of a store.
type parting struct {
	from *DB
	see  *sight
}

// Connect implements driver.Connector.
func (p *parting) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := p.from.Driver().(driver.Connector).Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := p.see.use(conn.(driver.ExecerContext)); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// Driver leads from a session to its connector.
func (p *parting) Driver() driver.Driver { return p }

// Open implements driver.Driver: it connects to the same store, whatever the name.
func (p *parting) Open(string) (driver.Conn, error) { return p.Connect(context.Background()) }

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
	whole := func() (*DB, error) { return OpenWith(ctx, db.Store, Options{Limits: o.Limits}) }
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
	return db.said.defined(), nil
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
