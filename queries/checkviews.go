package queries

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"stackmill/queries/result"
	"stackmill/queries/verify"
	"stackmill/schema"
	"stackmill/schema/storedir"
)

// checkMemory is the SQL engine's default memory limit for a check.
const checkMemory = 2 << 30

// checkRows is the number of rows from which on a part is large enough: a check divides a large
// store into parts to bound its memory.
const checkRows = 1 << 20

// shared lists views that many invariants read. A check computes each only once (share), in an
// order in which each comes after the views that it reads.
var shared = []string{"location_levels", "node_depths", "mode_nodes", "node_modes", "node_values", "leaf_values", "call_paths", "uneven_nodes"}

// share replaces a view by a table with its rows. If the view cannot be read, it stays, and the
// checks that read it report the error.
func (db *DB) share(ctx context.Context, name string) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return execute(ctx, conn, "CREATE TABLE shared AS FROM "+name, "DROP VIEW "+name, "ALTER TABLE shared RENAME TO "+name)
}

// emptinessCheck is a query that must return no rows. If it does, `wrong` says what is wrong with
// the table or view `where`.
type emptinessCheck struct{ where, wrong, sql string }

// checkViews checks the invariants of all views for batches. Package verify checks most of them
// from the files alone; SQL checks the rest.
func (p *CheckReport) checkViews(ctx context.Context, store string, batches []storedir.Batch, o CheckOptions) error {
	views, err := Views()
	if err != nil {
		return err
	}
	p.count(views)
	left := remainder{open: batches}
	if !o.SQL {
		if left, err = p.verifyBatches(ctx, store, batches, o); err != nil {
			return err
		}
	}
	if err := p.checkByEngine(ctx, store, batches, o.Limits); err != nil {
		return err
	}
	traced, err := tracedViews(views)
	if err != nil {
		return err
	}
	for _, part := range []struct {
		batches []storedir.Batch
		about   func(view string) bool
	}{
		{left.open, func(string) bool { return true }},
		{left.ofData, func(view string) bool { return slices.Contains(dataViews, view) }},
		{left.traced, func(view string) bool { return slices.Contains(traced, view) }},
	} {
		if err := p.checkBySQL(ctx, store, part.batches, part.about, o.Limits, o.Progress); err != nil {
			return err
		}
	}
	return nil
}

// checkBySQL runs the checks of those tables and views for which about returns true.
func (p *CheckReport) checkBySQL(ctx context.Context, store string, batches []storedir.Batch, about func(view string) bool, limits Limits, progress func(string, int, int)) error {
	parts := splitForCheck(batches)
	for n, part := range parts {
		err := p.checkPart(ctx, store, part, about, limits, func(done, total int) { progress("SQL", n*total+done, len(parts)*total) })
		if err != nil {
			return err
		}
	}
	return nil
}

// splitForCheck divides batches into parts to check one after the other, which is possible because
// no invariant compares experiments. It also divides a large batch: its rows are sorted by
// experiment, so that each part reads few row groups.
func splitForCheck(batches []storedir.Batch) (parts [][]storedir.Batch) {
	start, rows := 0, int64(0)
	for i := range batches {
		more := visibleRows(&batches[i])
		if more >= 2*checkRows {
			if start < i {
				parts = append(parts, batches[start:i])
			}
			for _, b := range splitBatch(batches[i], int(more/checkRows)) {
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

// visibleRows estimates the number of rows of a batch that belong to visible experiments.
func visibleRows(b *storedir.Batch) (rows int64) {
	for _, f := range b.Files {
		rows += f.Rows
	}
	if n := int64(len(b.Experiments)); n > 0 {
		rows = rows * int64(len(experimentsOf([]storedir.Batch{*b}))) / n
	}
	return rows
}

// splitBatch returns up to n copies of a batch, and divides its visible experiments among them.
func splitBatch(b storedir.Batch, n int) (parts []storedir.Batch) {
	var ids []string
	for e := range b.Visible {
		ids = append(ids, e.ExperimentID)
	}
	slices.Sort(ids)
	n = max(min(n, len(ids)), 1)
	for i := range n {
		only := map[string]bool{}
		for _, id := range ids[len(ids)*i/n : len(ids)*(i+1)/n] {
			only[id] = true
		}
		part, _ := showOnly(b, only)
		parts = append(parts, part)
	}
	return parts
}

// checkPart runs the invariants for some of the experiments.
func (p *CheckReport) checkPart(ctx context.Context, store string, batches []storedir.Batch, about func(view string) bool, limits Limits, progress func(done, total int)) error {
	experiments := experimentsOf(batches)
	checks, err := viewChecks(experiments, about)
	if err != nil {
		return err
	}
	d := checkDefinitions(store, batches, experiments)
	config, err := checkConfig(store, batches, limits)
	if err != nil {
		return err
	}
	engine, err := inMemory(ctx, store, d, config)
	if err != nil {
		if isInconclusive(err) || ctx.Err() != nil {
			return err
		}
		p.add("views", "cannot be read: %v", err)
		return nil
	}
	defer engine.Close()
	db := &DB{DB: engine, Store: store}
	for _, name := range shared {
		if err := db.share(ctx, name); ctx.Err() != nil || isInconclusive(err) {
			return errors.Join(ctx.Err(), err)
		}
	}
	for n, c := range checks {
		progress(n, len(checks))
		rows, err := db.first(ctx, c.sql)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case isInconclusive(err):
			return fmt.Errorf("%s: %w", c.where, err)
		case err != nil:
			p.add(c.where, "cannot be read: %v", err)
		case rows != "":
			p.add(c.where, "%s (%s)", c.wrong, rows)
		}
	}
	return nil
}

// checkConfig returns the configuration of an engine that checks batches.
func checkConfig(store string, batches []storedir.Batch, limits Limits) (engineConfig, error) {
	limits.Memory -= limits.Memory / 4 // leave some to this program
	files, err := readablePaths(store, filesIn(batches), false)
	return engineConfig{Limits: limits, defaultMemory: checkMemory, files: files, locked: true}, err
}

// checkDefinitions defines the views for a check, with experiment ids and metric names as
// enumerations, because joins and groups by numbers take a third of the time. A table with an
// unknown experiment cannot be read. An unknown metric becomes NULL, which has no unit.
func checkDefinitions(store string, batches []storedir.Batch, experiments []Experiment) *definitions {
	ids := []string{"''"} // an enumeration has at least one value
	for _, e := range experiments {
		ids = append(ids, quote(e.ExperimentID))
	}
	metrics := []string{"SELECT '' AS metric"}
	if files := filesOf(store, schema.Metrics, addresses(batches)); files.paths != nil {
		metrics = append(metrics, "SELECT metric FROM "+files.read())
	}
	return define(store, batches, experiments, columnForm{
		types: []string{"CREATE TYPE known_experiment AS ENUM (" + strings.Join(ids, ", ") + ")", "CREATE TYPE known_metric AS ENUM (" + strings.Join(metrics, " UNION ") + ")"},
		casts: map[string]string{"experiment_id": "CAST(%s AS known_experiment)", "metric": "TRY_CAST(%s AS known_metric)"},
	})
}

// count adds the numbers of keys and invariants that a check covers to the report.
func (p *CheckReport) count(views []View) {
	for _, t := range schema.Tables {
		if len(t.Key) > 0 {
			p.Keys++
		}
	}
	for _, v := range views {
		p.Invariants += len(v.Invariants)
	}
}

// viewChecks returns the invariants of views and the checks of tables for which about returns true.
func viewChecks(experiments []Experiment, about func(view string) bool) ([]emptinessCheck, error) {
	views, err := Views()
	if err != nil {
		return nil, err
	}
	checks := []emptinessCheck{{"experiments", "differ from the commits", statusCheck(experiments)}}
	for _, t := range schema.Tables {
		if len(t.Key) > 0 && about(t.Name) {
			checks = append(checks, emptinessCheck{t.Name, "(" + strings.Join(t.Key, ", ") + ") is not unique", keyCheck(t)})
		}
		if t.Modes() != 0 && about(t.Name) {
			checks = append(checks, emptinessCheck{t.Name, "rows belong to no mode", modesCheck(t)})
		}
	}
	for _, v := range views {
		for _, i := range v.Invariants {
			if about(v.Name) {
				checks = append(checks, emptinessCheck{v.Name, "does not hold: " + i.Doc, i.SQL})
			}
		}
	}
	return checks, nil
}

// keyCheck returns a query for keys of a table that are not unique.
func keyCheck(t *schema.Table) string {
	from := t.Name
	if t.Links != nil { // the wide view shows shared rows as each experiment's
		from = t.Wide()
	}
	return "SELECT " + columnList(t.Key) + ", count(*) AS rows FROM " + from + " GROUP BY ALL HAVING count(*) > 1"
}

// modesCheck returns a query for the rows of a table that belong to no mode.
func modesCheck(t *schema.Table) string {
	return fmt.Sprintf("FROM %s WHERE NOT (%s)", t.Name, strings.Join(schema.Modes[:t.ModeColumns()], " OR "))
}

// statusCheck returns a query for experiments whose status differs from their commit's entry.
func statusCheck(experiments []Experiment) string {
	committed := []string{"(NULL, NULL)"}
	for _, e := range experiments {
		committed = append(committed, fmt.Sprintf("(%s, %s)", quote(e.ExperimentID), quote(e.Status)))
	}
	return "WITH committed(experiment_id, status) AS (VALUES " + strings.Join(committed, ", ") + `)
		SELECT coalesce(c.experiment_id, e.experiment_id) AS experiment_id, c.status AS committed, e.status AS found
		FROM (FROM committed WHERE experiment_id IS NOT NULL) c FULL JOIN experiments e USING (experiment_id) WHERE c.status IS DISTINCT FROM e.status`
}

// first returns the number of rows of a query and its first row, as a text; empty if there are no
// rows.
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
	values, targets := result.Targets(len(columns))
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
	return fmt.Sprintf("%s, the first: %s", Count(n, "row"), strings.Join(words, ", ")), rows.Err()
}

// dataViews are the views about data objects, and the view whose invariants compare sums over them.
var dataViews = []string{"data_object_metrics", "data_layout", "data_object_functions", "memory_objects", "conservation"}

// tracedViews returns the views of waits, states of threads, fields of tracepoints and counts, except
// those of values of samples, which package verify checks.
func tracedViews(views []View) (list []string, err error) {
	for _, v := range views {
		read, err := readBy([]string{v.Name})
		if err != nil {
			return nil, err
		}
		if !read["sample_metrics"] && slices.ContainsFunc([]*schema.Table{schema.WaitSamples, schema.ThreadStates, schema.EventFormats, schema.Counts},
			func(t *schema.Table) bool { return read[t.Name] }) {
			list = append(list, v.Name)
		}
	}
	return list, nil
}

// remainder is what SQL has to check: batches in which the other experiments are hidden.
type remainder struct {
	open   []storedir.Batch // experiments of which nothing is verified
	ofData []storedir.Batch // experiments whose data objects are not verified
	traced []storedir.Batch // experiments whose waits, fields and counts are not verified
}

// verifyBatches verifies batches on all processors, and returns what it could not verify.
func (p *CheckReport) verifyBatches(ctx context.Context, store string, batches []storedir.Batch, o CheckOptions) (left remainder, err error) {
	jobs := max(cmp.Or(o.Limits.Threads, runtime.GOMAXPROCS(0)), 1)
	memory := cmp.Or(o.Limits.Memory, checkMemory) / int64(jobs) / 2
	doubts := make([][]verify.Doubt, len(batches))
	shown := &gauge{show: func(done, total int) { o.Progress("sums", done, total) }, total: len(experimentsOf(batches))}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(jobs)
	for i := range batches {
		g.Go(func() error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			found, err := verify.Batch(ctx, store, &batches[i], memory, shown.add)
			if err != nil && (ctx.Err() != nil || isInconclusive(err)) {
				return err
			}
			if err != nil {
				found = verify.All(&batches[i], err)
			}
			doubts[i] = found
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return left, err
	}
	for i, b := range batches {
		doubted, data, traced := map[string]bool{}, map[string]bool{}, map[string]bool{}
		for _, d := range doubts[i] {
			data[d.ExperimentID], traced[d.ExperimentID] = errors.Is(d.Err, verify.ErrData), errors.Is(d.Err, verify.ErrTraced)
			if !data[d.ExperimentID] && !traced[d.ExperimentID] {
				doubted[d.ExperimentID] = true
				p.Doubted = append(p.Doubted, Finding{d.ExperimentID, d.Err.Error()})
			}
		}
		for _, some := range []struct {
			to  *[]storedir.Batch
			ids map[string]bool
		}{{&left.open, doubted}, {&left.ofData, data}, {&left.traced, traced}} {
			if part, ok := showOnly(b, some.ids); ok {
				*some.to = append(*some.to, part)
			}
		}
	}
	return left, nil
}
