package queries

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"stackmill/schema"
	"stackmill/schema/storedir"
)

// checkMemory is the most memory that the SQL engine takes for a check by default.
const checkMemory = 2 << 30

// checkRows is how many rows the experiments have that are checked together, at least: a
// store of any size takes the memory of a part of it.
const checkRows = 1 << 20

// shared are the views that many invariants read, each after those that it reads: a
// check computes them once.
var shared = []string{"location_levels", "node_depths", "mode_nodes", "node_modes", "node_values", "leaf_values", "call_paths", "uneven_nodes"}

// share puts a table with a view's rows in the view's place. A view that cannot be read
// stays, for its readers to say so.
func (db *DB) share(ctx context.Context, name string) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, s := range []string{"CREATE TABLE shared AS FROM " + name, "DROP VIEW " + name, "ALTER TABLE shared RENAME TO " + name} {
		if _, err := conn.ExecContext(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// mustBeEmpty is a query that returns no rows when a table or view is right.
type mustBeEmpty struct{ where, wrong, sql string }

// checkViews proves what the views say of these batches. What is not proved by reading
// their files is left to the queries that must return no rows, on catalogs of their own.
func (p *Proof) checkViews(ctx context.Context, store string, batches []storedir.Batch, o CheckOptions) error {
	views, err := Views()
	if err != nil {
		return err
	}
	p.count(views)
	open, ofData := batches, []storedir.Batch(nil)
	if !o.SQL {
		if open, ofData, err = p.proveBatches(ctx, store, batches, o); err != nil {
			return err
		}
	}
	if err := p.checkByEngine(ctx, store, batches, o.Limits); err != nil {
		return err
	}
	all := func(string) bool { return true }
	if err := p.checkBySQL(ctx, store, open, all, o.Limits, o.Progress); err != nil {
		return err
	}
	return p.checkBySQL(ctx, store, ofData, aboutData, o.Limits, o.Progress)
}

// checkBySQL runs the invariants of some views, and the checks of tables with all of them.
func (p *Proof) checkBySQL(ctx context.Context, store string, batches []storedir.Batch, about func(view string) bool, limits Limits, progress func(string, int, int)) error {
	limits.Memory -= limits.Memory / 4 // the rest is this program's
	parts := checkedTogether(batches)
	for n, part := range parts {
		err := p.checkPart(ctx, store, part, about, limits, func(done, total int) { progress("SQL", n*total+done, len(parts)*total) })
		if err != nil {
			return err
		}
	}
	return nil
}

// checkedTogether parts a store's experiments. No query that must return no rows
// compares experiments. A batch of more rows than are checked together is parted as well:
// where its rows are sorted by experiment, few row groups are read for each part.
func checkedTogether(batches []storedir.Batch) (parts [][]storedir.Batch) {
	start, rows := 0, int64(0)
	for i := range batches {
		more := rowsThatCount(&batches[i])
		if more >= 2*checkRows {
			if start < i {
				parts = append(parts, batches[start:i])
			}
			for _, b := range parted(batches[i], int(more/checkRows)) {
				parts = append(parts, []storedir.Batch{b})
			}
			start, rows = i+1, 0
			continue
		}
		if rows += more; rows >= checkRows {
			parts, start, rows = append(parts, batches[start:i+1]), i+1, 0
		}
	}
	if start < len(batches) {
		parts = append(parts, batches[start:])
	}
	return parts
}

// rowsThatCount estimates how many rows of a batch count.
func rowsThatCount(b *storedir.Batch) (rows int64) {
	for _, f := range b.Files {
		rows += f.Rows
	}
	if n := int64(len(b.Experiments)); n > 0 {
		rows = rows * int64(len(experimentsOf([]storedir.Batch{*b}))) / n
	}
	return rows
}

// parted returns a batch as some, in each of which other experiments count.
func parted(b storedir.Batch, n int) (parts []storedir.Batch) {
	var ids []string
	for e := range b.Visible {
		ids = append(ids, e.ExperimentID)
	}
	slices.Sort(ids)
	n = max(min(n, len(ids)), 1)
	for i := range n {
		from, until := len(ids)*i/n, len(ids)*(i+1)/n
		part := b
		part.Hidden = slices.Concat(b.Hidden, ids[:from], ids[until:])
		slices.Sort(part.Hidden)
		parts = append(parts, part)
	}
	return parts
}

// checkPart is checkViews for some of the experiments.
func (p *Proof) checkPart(ctx context.Context, store string, batches []storedir.Batch, about func(view string) bool, limits Limits, progress func(done, total int)) error {
	experiments := experimentsOf(batches)
	checks, err := viewChecks(experiments, about)
	if err != nil {
		return err
	}
	d := checkedTables(store, batches, experiments)
	files, err := readablePaths(store, filesIn(batches), false)
	if err != nil {
		return err
	}
	may := access{Limits: limits, most: checkMemory, files: files, locked: true}
	engine, err := inMemory(ctx, store, d, may)
	if err != nil {
		if undone(err) || ctx.Err() != nil {
			return err
		}
		p.add("views", "cannot be read: %v", err)
		return nil
	}
	defer engine.Close()
	db := &DB{DB: engine, Store: store}
	for _, name := range shared {
		if err := db.share(ctx, name); ctx.Err() != nil || undone(err) {
			return errors.Join(ctx.Err(), err)
		}
	}
	for n, c := range checks {
		progress(n, len(checks))
		rows, err := db.first(ctx, c.sql)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case undone(err):
			return fmt.Errorf("%s: %w", c.where, err)
		case err != nil:
			p.add(c.where, "cannot be read: %v", err)
		case rows != "":
			p.add(c.where, "%s (%s)", c.wrong, rows)
		}
	}
	return nil
}

// checkedTables defines the views for a check. Identifiers of experiments and names of
// metrics are numbers there, shown as text: tables are joined and grouped by them in a
// third of the time. A table with another experiment cannot be read; another metric is
// missing, so that it has no unit.
func checkedTables(store string, batches []storedir.Batch, experiments []Experiment) *definitions {
	ids := []string{"''"} // a type has at least one value
	for _, e := range experiments {
		ids = append(ids, quote(e.ExperimentID))
	}
	metrics := []string{"SELECT '' AS metric"}
	if files := filesOf(store, schema.Metrics, addresses(batches)); files.paths != nil {
		metrics = append(metrics, "SELECT metric FROM "+files.read())
	}
	return defineAs(store, batches, experiments, form{
		types: []string{"CREATE TYPE known_experiment AS ENUM (" + strings.Join(ids, ", ") + ")", "CREATE TYPE known_metric AS ENUM (" + strings.Join(metrics, " UNION ") + ")"},
		casts: map[string]string{"experiment_id": "CAST(%s AS known_experiment)", "metric": "TRY_CAST(%s AS known_metric)"},
	})
}

// count counts what is proved of a store.
func (p *Proof) count(views []View) {
	for _, t := range schema.Tables {
		if len(t.Key) > 0 {
			p.Keys++
		}
	}
	for _, v := range views {
		p.Invariants += len(v.Invariants)
	}
}

// viewChecks returns the checks of a store with these experiments: of some of the views
// and, with all of them, of the tables.
func viewChecks(experiments []Experiment, about func(view string) bool) ([]mustBeEmpty, error) {
	views, err := Views()
	if err != nil {
		return nil, err
	}
	checks := []mustBeEmpty{{"experiments", "are not those of the commits", statusCheck(experiments)}}
	for _, t := range schema.Tables {
		if len(t.Key) > 0 && about(t.Name) {
			checks = append(checks, mustBeEmpty{t.Name, "(" + strings.Join(t.Key, ", ") + ") is not unique", keyCheck(t)})
		}
		if t.Modes() != 0 && about(t.Name) {
			checks = append(checks, mustBeEmpty{t.Name, "rows hold in no mode", modesCheck(t)})
		}
	}
	for _, v := range views {
		for _, i := range v.Invariants {
			if about(v.Name) {
				checks = append(checks, mustBeEmpty{v.Name, "does not hold: " + i.Doc, i.SQL})
			}
		}
	}
	return checks, nil
}

// keyCheck returns a query for the keys that several rows of a table have.
func keyCheck(t *schema.Table) string {
	columns := make([]string, len(t.Key))
	for i, c := range t.Key {
		columns[i] = identifier(c)
	}
	from := t.Name
	if t.Links != nil { // shared rows are an experiment's in the wide view
		from = t.Wide()
	}
	return "SELECT " + strings.Join(columns, ", ") + ", count(*) AS rows FROM " + from + " GROUP BY ALL HAVING count(*) > 1"
}

// modesCheck returns a query for the rows of a table that hold in no mode.
func modesCheck(t *schema.Table) string {
	var in []string
	for _, column := range schema.Modes {
		if t.Has(column) {
			in = append(in, column)
		}
	}
	return fmt.Sprintf("FROM %s WHERE NOT (%s)", t.Name, strings.Join(in, " OR "))
}

// statusCheck returns a query for the experiments whose row is not what their
// commits say.
func statusCheck(experiments []Experiment) string {
	committed := []string{"(NULL, NULL)"}
	for _, e := range experiments {
		committed = append(committed, fmt.Sprintf("(%s, %s)", quote(e.ExperimentID), quote(e.Status)))
	}
	return "WITH committed(experiment_id, status) AS (VALUES " + strings.Join(committed, ", ") + `)
		SELECT coalesce(c.experiment_id, e.experiment_id) AS experiment_id, c.status AS committed, e.status AS found
		FROM (FROM committed WHERE experiment_id IS NOT NULL) c FULL JOIN experiments e USING (experiment_id) WHERE c.status IS DISTINCT FROM e.status`
}

// first words a query's first row and the number of rows; it is empty without rows.
func (db *DB) first(ctx context.Context, query string) (string, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil || !rows.Next() {
		return "", errors.Join(err, rows.Err())
	}
	values, targets := make([]any, len(columns)), make([]any, len(columns))
	for i := range values {
		targets[i] = &values[i]
	}
	if err := rows.Scan(targets...); err != nil {
		return "", err
	}
	var words []string
	for i, c := range columns {
		words = append(words, fmt.Sprintf("%s %v", c, values[i]))
	}
	n := 1
	for rows.Next() {
		n++
	}
	return fmt.Sprintf("%d rows, the first: %s", n, strings.Join(words, ", ")), rows.Err()
}
