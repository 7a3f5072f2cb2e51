package queries

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"golang.org/x/sync/errgroup"

	"stackmill/queries/filter"
	"stackmill/queries/result"
	"stackmill/schema"
	"stackmill/schema/storedir"
	"stackmill/stages/attribute"
	"stackmill/stages/structure"
)

// compute makes the value tables of the session with package filter, batch by batch.
func (fs *filteredSession) compute(ctx context.Context, conn *sql.Conn) error {
	w := &tableWriter{session: fs, conn: conn, pending: map[*schema.Table]*pendingRows{}}
	if err := w.create(ctx); err != nil || len(w.pending) == 0 {
		return err
	}
	of := map[string][]*Experiment{} // by batch
	for i := range fs.sees.experiments {
		if e := &fs.sees.experiments[i]; e.Status != storedir.Summary {
			of[e.batch] = append(of[e.batch], e)
		}
	}
	for _, p := range fs.sees.portions {
		for _, b := range p.batches {
			if err := fs.computeBatch(ctx, b, of[b.Batch], len(of) == 1, w); err != nil {
				return err
			}
		}
	}
	return w.flushAll(ctx)
}

// computeBatch computes the values of a batch's experiments. only says that the session has no
// others.
func (fs *filteredSession) computeBatch(ctx context.Context, b *storedir.Batch, experiments []*Experiment, only bool, w *tableWriter) error {
	if len(experiments) == 0 { // all are kept as sums
		return nil
	}
	var sums map[string]*filter.Sums
	if fs.filter.chooses() {
		var err error
		if sums, err = fs.sums(ctx, w.conn, experiments, only); err != nil {
			return err
		}
	}
	files, closeAll := structure.OpenBatch(fs.from.Store, b)
	defer closeAll()
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, e := range experiments {
		x := &filter.Experiment{ID: e.ExperimentID, Tables: files.Tables(e.ExperimentID), Library: fs.showing()}
		if fs.filter.chooses() {
			if x.Sums = sums[e.ExperimentID]; x.Sums == nil {
				x.Sums = new(filter.Sums)
			}
		}
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			err := fs.values(ctx, x, w)
			if errors.Is(err, structure.ErrNoStacks) {
				return nil
			}
			if err != nil {
				err = fmt.Errorf("experiment %s: %w", e.Name, err)
			}
			return err
		})
	}
	return group.Wait()
}

// values computes the values of an experiment. It recovers from panics, because the library that
// reads Parquet panics at some damaged files.
func (fs *filteredSession) values(ctx context.Context, x *filter.Experiment, w *tableWriter) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("computing its values: %v\n%s", p, debug.Stack())
		}
	}()
	return x.Values(fs.needs, func(t *schema.Table, rows arrow.RecordBatch) error { return w.emit(ctx, t, rows) })
}

// sums returns the sums of the samples that pass, by experiment.
func (fs *filteredSession) sums(ctx context.Context, conn *sql.Conn, experiments []*Experiment, only bool) (map[string]*filter.Sums, error) {
	where := ""
	if !only {
		where = " WHERE experiment_id IN (" + Quote(mapped(experiments, func(e *Experiment) string { return e.ExperimentID })...) + ")"
	}
	all, metrics := map[string]*filter.Sums{}, map[string]string{}
	err := result.Batches(ctx, conn, func(b arrow.RecordBatch) error {
		ids, names := b.Column(0).(*array.String), b.Column(2).(*array.String)
		stacks, values, samples := b.Column(1).(*array.Int32).Int32Values(), b.Column(3).(*array.Int64).Int64Values(), b.Column(4).(*array.Int64).Int64Values()
		for i, stack := range stacks {
			s := all[ids.Value(i)]
			if s == nil {
				s = new(filter.Sums)
				all[strings.Clone(ids.Value(i))] = s
			}
			metric, known := metrics[names.Value(i)]
			if !known {
				metric = strings.Clone(names.Value(i))
				metrics[metric] = metric
			}
			s.Stacks, s.Metrics = append(s.Stacks, stack), append(s.Metrics, metric)
			s.Values = append(s.Values, attribute.Sum{Value: values[i], Samples: samples[i]})
		}
		return nil
	}, "SELECT experiment_id, stack, metric, value, samples FROM "+fs.table(schema.StackValues.Name)+where)
	return all, err
}

// tableWriter writes rows to tables of the session. It is safe for concurrent use.
type tableWriter struct {
	session *filteredSession
	conn    *sql.Conn

	mu      sync.Mutex
	pending map[*schema.Table]*pendingRows
}

// pendingRows are rows of a table that are not inserted yet.
type pendingRows struct {
	batches []arrow.RecordBatch
	rows    int64
}

// mostPending is how many rows of a table are collected for one INSERT. One INSERT per experiment
// would take longer than computing the rows.
const mostPending = 1 << 19

func (w *tableWriter) create(ctx context.Context) error {
	tables := slices.DeleteFunc(filter.ValueTables(), func(t *schema.Table) bool { return !w.session.needs(t) })
	if w.session.libraries != nil {
		tables = append(tables, filter.Tables()...)
	}
	for _, t := range tables {
		w.pending[t] = &pendingRows{}
		columns := mapped(t.Columns, func(c schema.Column) string { return identifier(c.Name) + " " + c.Type.SQL() })
		if _, err := w.conn.ExecContext(ctx, "CREATE TABLE "+w.session.table(t.Name)+" ("+strings.Join(columns, ", ")+")"); err != nil {
			return err
		}
	}
	return nil
}

func (w *tableWriter) emit(ctx context.Context, t *schema.Table, rows arrow.RecordBatch) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	p := w.pending[t]
	rows.Retain()
	p.batches, p.rows = append(p.batches, rows), p.rows+rows.NumRows()
	if p.rows < mostPending {
		return nil
	}
	return w.flush(ctx, t)
}

// flushAll inserts all pending rows.
func (w *tableWriter) flushAll(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for t := range w.pending {
		if err := w.flush(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// scanned is the name of the view through which INSERT reads the pending rows.
const scanned = "computed_rows"

// flush inserts the pending rows of a table. INSERT reads them through a view in the session's
// schema, because the catalog is read-only.
func (w *tableWriter) flush(ctx context.Context, t *schema.Table) error {
	p := w.pending[t]
	if p.rows == 0 {
		return nil
	}
	w.pending[t] = &pendingRows{}
	defer func() {
		for _, b := range p.batches {
			b.Release()
		}
	}()
	if _, err := w.conn.ExecContext(ctx, "USE "+w.session.schema); err != nil {
		return err
	}
	err := result.Scan(ctx, w.conn, scanned, t.Arrow(), p.batches, "INSERT INTO "+w.session.table(t.Name)+" FROM "+w.session.table(scanned))
	_, back := w.conn.ExecContext(context.WithoutCancel(ctx), "USE "+catalogName)
	return errors.Join(err, back)
}

func (fs *filteredSession) functionRollup() string {
	return `SELECT v.experiment_id, v.metric, t.unit, v.in_user, v.in_expert, v.in_machine, v.in_user_inlined, v.in_expert_inlined, v.in_machine_inlined, v.function_id, function_key(f.name_scope, f.function_id, o.short_path, u.short_path, f.linkage_name, f.name) AS function_key,
  f.name AS "function", o.name AS load_object, u.name AS module, f.kind, v.exclusive, v.inclusive
FROM function_values_wide v
JOIN metrics t ON t.experiment_id = v.experiment_id AND t.metric = v.metric
JOIN functions_wide f ON f.experiment_id = v.experiment_id AND f.function_id = v.function_id
JOIN load_objects o ON o.experiment_id = f.experiment_id AND o.load_object_id = f.load_object_id
JOIN modules u ON u.experiment_id = f.experiment_id AND u.module_id = f.module_id`
}
