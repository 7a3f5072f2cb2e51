package queries

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"path/filepath"
	"slices"

	"stackmill/schema/storedir"
)

// Subset returns a session that has only the experiments that the selectors match, as OpenWith does
// with Options.Only. It shares the store's engine: close the session before db. The error wraps
// ErrNone if a selector matches no experiment.
func (db *DB) Subset(ctx context.Context, selectors ...string) (*DB, error) {
	session := *db
	if err := session.restrict(ctx, Limits{}, selectors); err != nil {
		return nil, err
	}
	session.metrics = new(metrics)
	session.DB = sql.OpenDB(&subsetConnector{db, useCatalog(session.sees)})
	return &session, nil
}

// subsetConnector connects to a session that has only some experiments.
type subsetConnector struct {
	from *DB
	use  func(driver.ExecerContext) error // restricts a connection to the experiments
}

// Connect implements driver.Connector.
func (c *subsetConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.from.Driver().(driver.Connector).Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.use(conn.(driver.ExecerContext)); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// Driver implements driver.Connector. It returns the connector, which sessions find by DB.Driver.
func (c *subsetConnector) Driver() driver.Driver { return c }

// Open implements driver.Driver. It ignores the name, and connects to the same store.
func (c *subsetConnector) Open(string) (driver.Conn, error) { return c.Connect(context.Background()) }

// useCatalog returns a function that makes a new connection see the catalog. With a subset, it
// makes temporary macros and tables that hide the catalog's.
func useCatalog(subset *definitions) func(driver.ExecerContext) error {
	return func(conn driver.ExecerContext) error {
		if err := run(conn, []string{"USE " + catalogName}); err != nil || subset == nil {
			return err
		}
		return errors.Join(run(conn, subset.changes("TEMP")), subset.fill(conn.(driver.Conn), "temp"))
	}
}

// restrict limits a session to the experiments that the selectors match. The engine then opens no
// files of other batches, and skips row groups of other experiments by their statistics.
func (db *DB) restrict(ctx context.Context, limits Limits, selectors []string) error {
	only, err := db.selected(ctx, limits, selectors)
	if err != nil {
		return db.mentionLeftOut(err)
	}
	db.open = db.open.restricted(only)
	db.sees = db.open.define(db.Store)
	db.setCount()
	return nil
}

// readCommits returns the absolute path of a store and its commits; if batches are given, only theirs. It checks the
// commits' versions.
func readCommits(store string, batches []string) (path string, c *storedir.Contents, raw *storedir.RawCommits, err error) {
	if path, err = filepath.Abs(store); err != nil {
		return "", nil, nil, err
	}
	if err := storedir.Pull(path); err != nil {
		return "", nil, nil, err
	}
	if batches == nil {
		raw, err = storedir.ReadRawCommits(path)
	} else {
		raw, err = storedir.ReadRawCommitsOf(path, batches)
	}
	if err != nil {
		return "", nil, nil, err
	}
	c = raw.Parse()
	return path, c, raw, c.CheckVersions()
}

// openBatches has the open experiments, sorted by id, and their batches, in which all others are
// hidden.
type openBatches struct {
	batches     []storedir.Batch
	experiments []Experiment
}

// Batches returns the batches of the open experiments, with all other experiments hidden.
func (db *DB) Batches() []storedir.Batch { return db.open.batches }

// Experiments returns the open experiments, sorted by id.
func (db *DB) Experiments() []Experiment { return db.open.experiments }

func (o openBatches) define(store string) *definitions {
	return define(store, o.batches, o.experiments, columnForm{})
}

// restricted returns those of the open experiments that have these ids, and their batches.
func (o openBatches) restricted(only map[string]bool) (r openBatches) {
	for _, e := range o.experiments {
		if only[e.ExperimentID] {
			r.experiments = append(r.experiments, e)
		}
	}
	for _, b := range o.batches {
		if b, ok := showOnly(b, only); ok {
			r.batches = append(r.batches, b)
		}
	}
	return r
}

// showOnly returns the batch with all other experiments hidden, and whether a visible one is left.
func showOnly(b storedir.Batch, only map[string]bool) (storedir.Batch, bool) {
	hidden, left := slices.Clone(b.Hidden), false
	for e := range b.Visible {
		if only[e.ExperimentID] {
			left = true
		} else {
			hidden = append(hidden, e.ExperimentID)
		}
	}
	slices.Sort(hidden)
	b.Hidden = hidden
	return b, left
}
