package queries

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
)

// Subset returns a session that has only the experiments that the selectors match, like OpenWith
// with Options.Only. It shares the engine, so close it first. The error wraps ErrNone if a
// selector matches no experiment.
func (db *DB) Subset(ctx context.Context, selectors ...string) (*DB, error) {
	session := *db
	if err := session.restrict(ctx, Limits{}, selectors); err != nil {
		return nil, err
	}
	session.metrics = new(metrics)
	session.DB = sql.OpenDB(&subsetConnector{db, &catalogScope{session.sees}})
	return &session, nil
}

// subsetConnector makes the connections of a session of some experiments.
type subsetConnector struct {
	from  *DB
	scope *catalogScope
}

// Connect implements driver.Connector.
func (c *subsetConnector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.from.Driver().(driver.Connector).Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := c.scope.use(conn.(driver.ExecerContext)); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// Driver implements driver.Connector: sessions find their connector by it.
func (c *subsetConnector) Driver() driver.Driver { return c }

// Open implements driver.Driver: it connects to the same store, whatever the name.
func (c *subsetConnector) Open(string) (driver.Conn, error) { return c.Connect(context.Background()) }

// catalogScope limits what connections see of the attached catalog.
type catalogScope struct {
	subset *definitions // of some experiments; nil if connections see all
}

// use makes a new connection see the catalog. Temporary macros and tables hide the catalog's
// if it sees a subset.
func (s *catalogScope) use(conn driver.ExecerContext) error {
	if err := run(conn, []string{"USE " + catalogName}); err != nil || s.subset == nil {
		return err
	}
	return errors.Join(run(conn, s.subset.changes("TEMP")), s.subset.fill(conn.(driver.Conn), "temp"))
}

// restrict limits a session to the experiments that the selectors match. Then files of other
// batches are not opened, and row groups of other experiments are skipped by their statistics.
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
