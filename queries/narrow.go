package queries

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"

	"stackmill/schema/storedir"
)

// Narrow returns a session of the same store in which only the samples that pass a filter
// count: tables and views of the usual names have their values, summed again from these
// samples by stack. What describes code, stacks, data objects and experiments is as it was.
// Experiments that are kept as sums only have no samples, so that nothing is left of them.
//
// The session shares the engine, and its memory; it is closed first. Its tables are in the
// engine's own database, and macros of each of its connections put them in place of the
// catalog's. If views are named, it is made for them alone, which is faster: others that
// read more fail.
func (db *DB) Narrow(ctx context.Context, f Filter, views ...string) (*DB, error) {
	all, err := f.Conditions()
	if err != nil {
		return nil, err
	}
	libraries, err := f.libraries(ctx, db)
	if err != nil {
		return nil, err
	}
	read, err := readBy(views)
	if err != nil {
		return nil, err
	}
	n := &narrowing{from: db, sees: db.defined(), schema: fmt.Sprintf("memory.filtered_%d", sessions.Add(1)), filter: f, libraries: libraries}
	n.need(read)
	session := *db
	session.base, session.DB, session.Libraries, session.chosen, session.metrics = db.DB, sql.OpenDB(n), libraries, f.chooses(), new(metrics)
	if err := n.build(ctx, session.DB, all); err != nil {
		return nil, errors.Join(err, session.DB.Close())
	}
	return &session, nil
}

// sessions counts the narrowed sessions of all engines.
var sessions atomic.Int64

// narrowing makes the tables of a narrowed session, and its connections.
type narrowing struct {
	from    *DB
	schema  string // where its tables are
	filter  Filter
	macros  []string           // of each connection; none while it is built
	metrics map[[2]string]bool // that experiments have: kinds of samples and names, and kinds with no name
	needed  map[string]bool    // tables and views
	sees    *definitions       // of what its views are made of

	libraries []Library // whose functions are not shown as usual
}

// Connect implements driver.Connector.
func (n *narrowing) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := n.from.Driver().(driver.Connector).Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := run(conn.(driver.ExecerContext), n.macros); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// Driver implements driver.Connector.
func (n *narrowing) Driver() driver.Driver { return n.from.Driver() }

// Close gives the tables' memory back: sql.DB.Close calls it.
func (n *narrowing) Close() error {
	_, err := n.from.DB.ExecContext(context.Background(), "DROP SCHEMA IF EXISTS "+n.schema+" CASCADE")
	return err
}

// build makes the tables by a connection that sees the store as it is, and then lets all
// connections see them.
func (n *narrowing) build(ctx context.Context, session *sql.DB, conditions []string) error {
	conn, err := session.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	c, err := understand(ctx, conn, conditions)
	if err == nil {
		err = c.check(ctx, n.from)
	}
	if err != nil {
		return err
	}
	if err := n.look(ctx, conn); err != nil {
		return &statementError{err}
	}
	exec := func(statements ...string) error {
		for _, s := range statements {
			if _, err := conn.ExecContext(ctx, s); err != nil {
				return err
			}
		}
		return nil
	}
	if err := exec("CREATE SCHEMA " + n.schema); err != nil {
		return err
	}
	if n.filter.chooses() {
		if err := exec(n.samples(c)...); err != nil {
			return &FilterError{fmt.Errorf("condition %s: %s", strings.Join(conditions, " AND "), firstLine(err))}
		}
	}
	if n.filter.chooses() && n.needsSamples() {
		if err := exec(n.create(sampleValues, n.valuesOfSamples())); err != nil {
			return &statementError{err}
		}
	}
	for _, p := range parts {
		if p.make != nil && n.needs(p.of) && !p.keeps(n) {
			if err := exec(n.create(p.of.Name, p.make(n))); err != nil {
				return &statementError{err}
			}
		}
	}
	if err := n.compute(ctx, conn); err != nil {
		return &statementError{err}
	}
	n.macros = n.rows()
	return exec(n.macros...)
}

// look finds out which metrics there are, if the session's tables depend on it.
func (n *narrowing) look(ctx context.Context, conn *sql.Conn) error {
	if !n.filter.chooses() {
		return nil
	}
	rows, err := conn.QueryContext(ctx, "SELECT DISTINCT kind, metric FROM metrics")
	if err != nil {
		return err
	}
	defer rows.Close()
	n.metrics = map[[2]string]bool{}
	for rows.Next() {
		var kind, metric string
		if err := rows.Scan(&kind, &metric); err != nil {
			return err
		}
		n.metrics[[2]string{kind, ""}], n.metrics[[2]string{kind, metric}] = true, true
	}
	return rows.Err()
}

// table writes the name of one of the session's tables.
func (n *narrowing) table(name string) string { return n.schema + "." + name }

// create writes a statement that makes one of them.
func (n *narrowing) create(name, query string) string {
	return "CREATE TABLE " + n.table(name) + " AS\n" + query
}

// firstLine is an error of the engine without what it quotes.
func firstLine(err error) string {
	first, _, _ := strings.Cut(err.Error(), "\n")
	return first
}

// Share is what a narrowed session has of one metric of one experiment.
type Share struct {
	ExperimentID, Metric, Unit string
	Value, Whole               int64
}

// Shares returns what is left of the metrics that have values, and what there was.
func (db *DB) Shares(ctx context.Context) ([]Share, error) {
	const sums = "SELECT v.experiment_id, v.metric, t.unit, sum(v.value)::BIGINT FROM stack_values v LEFT JOIN metrics t ON t.experiment_id = v.experiment_id AND t.metric = v.metric GROUP BY ALL ORDER BY ALL"
	var shares []Share
	at := map[[2]string]int{}
	for _, from := range []*sql.DB{db.base, db.DB} {
		rows, err := from.QueryContext(ctx, sums)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		for rows.Next() {
			var s Share
			var value int64
			if err := rows.Scan(&s.ExperimentID, &s.Metric, &s.Unit, &value); err != nil {
				return nil, err
			}
			if from == db.base {
				s.Whole = value
				at[[2]string{s.ExperimentID, s.Metric}] = len(shares)
				shares = append(shares, s)
			} else {
				shares[at[[2]string{s.ExperimentID, s.Metric}]].Value = value
			}
		}
		if err := rows.Err(); err != nil {
			return nil, err
		}
	}
	return shares, nil
}

// Emptied returns the pairs of an experiment's id and a metric of which the filter of a
// narrowed session leaves nothing: where no metric is asked for, others are shown.
func (db *DB) Emptied(ctx context.Context) (map[[2]string]bool, error) {
	emptied := map[[2]string]bool{}
	if !db.chosen {
		return emptied, nil
	}
	pairs, err := db.Records(ctx, `SELECT experiment_id, metric FROM metrics
		ANTI JOIN (SELECT DISTINCT experiment_id, metric FROM stack_values WHERE value <> 0) v USING (experiment_id, metric)`)
	for _, p := range pairs {
		emptied[[2]string{p.Text("experiment_id"), p.Text("metric")}] = true
	}
	return emptied, err
}

// MetricRemark says which metrics come first in a narrowed session where its filter leaves
// nothing of those that would; empty if they are the same.
func (db *DB) MetricRemark(ctx context.Context) (string, error) {
	if !db.chosen {
		return "", nil
	}
	const query = "SELECT string_agg(DISTINCT metric, ', ' ORDER BY metric) FROM default_metrics"
	var usual, left sql.NullString
	if err := db.base.QueryRowContext(ctx, query).Scan(&usual); err != nil {
		return "", err
	}
	if err := db.QueryRowContext(ctx, query).Scan(&left); err != nil {
		return "", err
	}
	if usual == left {
		return "", nil
	}
	return fmt.Sprintf("the filter leaves nothing of %s: %s is shown first", usual.String, cmp.Or(left.String, "no metric")), nil
}

// Narrowed reports whether only the samples that pass a filter count.
func (db *DB) Narrowed() bool { return db.base != nil }

// Remarks say what readers of answers should know: what is left out of all of them, and what a
// filter leaves of a narrowed session.
func (db *DB) Remarks(ctx context.Context) (remarks []string, err error) {
	remarks = db.LeftOut()
	if !db.Narrowed() {
		return remarks, nil
	}
	if n := db.sumsOnly(); n > 0 {
		remarks = append(remarks, fmt.Sprintf("%d of the experiments are kept as sums only, without samples: nothing of them is left", n))
	}
	if !db.chosen {
		return remarks, nil
	}
	var left bool
	if err := db.QueryRowContext(ctx, "SELECT EXISTS (FROM stack_values)").Scan(&left); err != nil {
		return nil, err
	}
	if !left {
		remarks = append(remarks, "no sample passes the filter")
	}
	return remarks, nil
}

// sumsOnly is how many experiments have no samples, since they are kept as sums only.
func (db *DB) sumsOnly() (n int) {
	for _, e := range db.Experiments() {
		if e.Status == storedir.Summary {
			n++
		}
	}
	return n
}
