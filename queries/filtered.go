package queries

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"stackmill/schema/storedir"
)

// Filter returns a session of the same store in which only the samples that pass a filter count:
// tables and views have their usual names, but values are summed again from these samples.
// Descriptions of code, stacks, data objects and experiments stay the same. Summaries have no
// samples, so they have no values in the session.
//
// The session shares the engine and its memory: close it before db. Its tables are in the engine's
// own database, and macros of its connections hide the catalog's. If views are named, the session
// is made faster, because it has only what these need: reading other views fails.
func (db *DB) Filter(ctx context.Context, f Filter, views ...string) (*DB, error) {
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
	fs := &filteredSession{from: db, sees: db.sees, schema: fmt.Sprintf("memory.filtered_%d", sessions.Add(1)), filter: f, libraries: libraries}
	fs.need(read)
	session := *db
	session.unfiltered, session.DB, session.Libraries, session.fewerSamples, session.metrics = db.DB, sql.OpenDB(fs), libraries, f.chooses(), new(metrics)
	if err := fs.build(ctx, session.DB, all); err != nil {
		return nil, errors.Join(err, session.DB.Close())
	}
	return &session, nil
}

// sessions counts the filtered sessions of all engines, to name their schemas.
var sessions atomic.Int64

// filteredSession makes the tables of a filtered session, and connects to it.
type filteredSession struct {
	from    *DB
	schema  string // name of the schema that has the session's tables
	filter  Filter
	macros  []string           // SQL that defines macros over the session's tables; none while the tables are made
	metrics map[[2]string]bool // pairs of kind and metric that exist, and for each kind one without a metric
	needed  map[string]bool    // tables and views
	sees    *definitions       // the unfiltered content

	libraries []Library // load objects whose functions are hidden
}

// Connect implements driver.Connector.
func (fs *filteredSession) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := fs.from.Driver().(driver.Connector).Connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := run(conn.(driver.ExecerContext), fs.macros); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// Driver implements driver.Connector.
func (fs *filteredSession) Driver() driver.Driver { return fs.from.Driver() }

// Close frees the tables' memory. sql.DB.Close calls it.
func (fs *filteredSession) Close() error {
	_, err := fs.from.DB.ExecContext(context.Background(), "DROP SCHEMA IF EXISTS "+fs.schema+" CASCADE")
	return err
}

// build makes the tables, on a connection that sees the unfiltered store. It then makes the macros
// that all connections of the session get.
func (fs *filteredSession) build(ctx context.Context, session *sql.DB, conditions []string) error {
	conn, err := session.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	c, err := parsePredicate(ctx, conn, conditions)
	if err == nil {
		err = c.check(ctx, fs.from)
	}
	if err != nil {
		return err
	}
	if err := fs.readMetrics(ctx, conn); err != nil {
		return &statementError{err}
	}
	if err := execute(ctx, conn, "CREATE SCHEMA "+fs.schema); err != nil {
		return err
	}
	var tables []string
	if fs.filter.chooses() {
		if err := execute(ctx, conn, fs.samples(c)...); err != nil {
			return &FilterError{fmt.Errorf("--where: %s: %s", strings.Join(conditions, " AND "), firstLine(err.Error()))}
		}
		if fs.needsSamples() {
			tables = append(tables, fs.create(sampleValues, fs.valuesOfSamples()))
		}
	}
	for _, p := range derivedTables {
		if p.make != nil && fs.needs(p.of) && !p.keeps(fs) {
			tables = append(tables, fs.create(p.of.Name, p.make(fs)))
		}
	}
	if err = execute(ctx, conn, tables...); err == nil {
		err = fs.compute(ctx, conn)
	}
	if err != nil {
		return &statementError{err}
	}
	fs.macros = fs.rows()
	return execute(ctx, conn, fs.macros...)
}

// readMetrics reads which kinds of samples and metrics exist. It is needed only for conditions on
// samples.
func (fs *filteredSession) readMetrics(ctx context.Context, conn *sql.Conn) error {
	if !fs.filter.chooses() {
		return nil
	}
	known, err := recordsOf(ctx, conn, "SELECT DISTINCT kind, metric FROM metrics")
	fs.metrics = map[[2]string]bool{}
	for _, m := range known {
		kind := m.Text("kind")
		fs.metrics[[2]string{kind, ""}], fs.metrics[[2]string{kind, m.Text("metric")}] = true, true
	}
	return err
}

// table returns the name of one of the session's tables.
func (fs *filteredSession) table(name string) string { return fs.schema + "." + name }

// create returns the statement that makes one of the session's tables from a query.
func (fs *filteredSession) create(name, query string) string {
	return "CREATE TABLE " + fs.table(name) + " AS\n" + query
}

// firstLine returns a message of the engine without the statement that it quotes.
func firstLine(message string) string {
	first, _, _ := strings.Cut(message, "\n")
	return first
}

// Share is the part of one metric of one experiment that a filter leaves.
type Share struct {
	ExperimentID, Metric, Unit string
	Value, Whole               int64
}

// Shares returns what the filter leaves of each metric that has values.
func (db *DB) Shares(ctx context.Context) ([]Share, error) {
	const sums = "SELECT v.experiment_id, v.metric, t.unit, sum(v.value)::BIGINT AS value FROM stack_values v LEFT JOIN metrics t ON t.experiment_id = v.experiment_id AND t.metric = v.metric GROUP BY ALL ORDER BY ALL"
	var shares []Share
	at := map[[2]string]int{}
	for _, from := range []*sql.DB{db.unfiltered, db.DB} {
		records, err := recordsOf(ctx, from, sums)
		if err != nil {
			return nil, err
		}
		for _, r := range records {
			key := [2]string{r.Text("experiment_id"), r.Text("metric")}
			if from == db.unfiltered {
				at[key] = len(shares)
				shares = append(shares, Share{key[0], key[1], r.Text("unit"), 0, r.Number("value")})
			} else {
				shares[at[key]].Value = r.Number("value")
			}
		}
	}
	return shares, nil
}

// Emptied returns the pairs of experiment id and metric for which the filter leaves no values. Such
// a metric is not shown by default.
func (db *DB) Emptied(ctx context.Context) (map[[2]string]bool, error) {
	emptied := map[[2]string]bool{}
	if !db.fewerSamples {
		return emptied, nil
	}
	pairs, err := db.Records(ctx, `SELECT experiment_id, metric FROM metrics
		ANTI JOIN (SELECT DISTINCT experiment_id, metric FROM stack_values WHERE value <> 0) v USING (experiment_id, metric)`)
	for _, p := range pairs {
		emptied[[2]string{p.Text("experiment_id"), p.Text("metric")}] = true
	}
	return emptied, err
}

// MetricRemark returns a text that names the default metrics, if the filter leaves no values of the
// usual ones; else "".
func (db *DB) MetricRemark(ctx context.Context) (string, error) {
	if !db.fewerSamples {
		return "", nil
	}
	const query = "SELECT string_agg(DISTINCT metric, ', ' ORDER BY metric) FROM default_metrics"
	var usual, left sql.NullString
	if err := db.unfiltered.QueryRowContext(ctx, query).Scan(&usual); err != nil {
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

// IsFiltered reports whether this is a filtered session.
func (db *DB) IsFiltered() bool { return db.unfiltered != nil }

// Remarks returns texts to show with every answer: what the store lacks, and what a filter leaves.
func (db *DB) Remarks(ctx context.Context) (remarks []string, err error) {
	remarks = db.LeftOut()
	if !db.IsFiltered() {
		return remarks, nil
	}
	sumsOnly := slices.DeleteFunc(slices.Clone(db.Experiments()), func(e Experiment) bool { return e.Status != storedir.Summary })
	if n := len(sumsOnly); n > 0 {
		remarks = append(remarks, fmt.Sprintf("the filter leaves nothing of %s kept as sums, without samples", Count(n, "experiment")))
	}
	if !db.fewerSamples {
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
