package rollup

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/schema"
)

// texts are what rows have in place of texts.
type texts struct {
	experiments, metrics, units *schema.Labels
	functions                   []Function
	parts                       [4]part
}

// part is a text of functions: a column of labels.
type part struct {
	labels *schema.Labels
	of     []int32 // by function
}

func newTexts(ids, metrics, units []string, functions []Function) *texts {
	t := &texts{experiments: schema.NewLabels(ids...), metrics: schema.NewLabels(metrics...), units: schema.NewLabels(units...), functions: functions}
	for i, of := range []func(*Function) string{
		func(f *Function) string { return f.Name },
		func(f *Function) string { return f.LoadObject },
		func(f *Function) string { return f.Module },
		func(f *Function) string { return f.Kind },
	} {
		var known names
		p := part{of: make([]int32, len(functions))}
		for n := range functions {
			p.of[n] = known.of(of(&functions[n]))
		}
		p.labels = schema.NewLabels(known.list...)
		t.parts[i] = p
	}
	return t
}

// emitRows emits rows in batches.
func emitRows(rows []row, t *texts, emit func(*schema.Table, arrow.RecordBatch) error) error {
	for len(rows) > 0 {
		n := min(len(rows), schema.BatchRows)
		batch := t.batch(rows[:n])
		err := emit(schema.FunctionRollup, batch)
		batch.Release()
		if err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// batch returns rows as columns.
func (t *texts) batch(rows []row) arrow.RecordBatch {
	narrow := func(of func(*row) int32) []int32 {
		list := make([]int32, len(rows))
		for i := range rows {
			list[i] = of(&rows[i])
		}
		return list
	}
	wide := func(of func(*row) int64) arrow.Array {
		list := make([]int64, len(rows))
		for i := range rows {
			list[i] = of(&rows[i])
		}
		return schema.Int64s(list)
	}
	text := func(n int) arrow.Array {
		return t.parts[n].labels.Mixed(narrow(func(r *row) int32 { return t.parts[n].of[r.function] }))
	}
	columns := []arrow.Array{
		t.experiments.Mixed(narrow(func(r *row) int32 { return r.experiment })),
		t.metrics.Mixed(narrow(func(r *row) int32 { return r.metric })),
		t.units.Mixed(narrow(func(r *row) int32 { return r.unit })),
		schema.Int32s(narrow(func(r *row) int32 { return r.modes })),
		wide(func(r *row) int64 { return t.functions[r.function].ID }),
		wide(func(r *row) int64 { return t.functions[r.function].Key }),
		text(0), text(1), text(2), text(3),
		wide(func(r *row) int64 { return schema.StoredExclusive(r.exclusive, r.inclusive) }),
		wide(func(r *row) int64 { return r.inclusive }),
	}
	batch := array.NewRecordBatch(schema.FunctionRollup.Arrow(), columns, int64(len(rows)))
	for _, c := range columns {
		c.Release()
	}
	return batch
}
