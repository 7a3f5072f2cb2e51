package rollup

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/schema"
)

// rowEncoder turns rows into columns, with labels for texts.
type rowEncoder struct {
	experiments, metrics, units *schema.Labels
	unitOf                      [][]int32 // by experiment and metric
	functions                   []rollupFunction
	parts                       [4]labelColumn
	rows                        []row // of a batch, in order
}

// labelColumn is a column of texts of functions.
type labelColumn struct {
	labels *schema.Labels
	of     []int32 // by function
}

func (c *Collector) newRowEncoder(ids []string, units [][]int32, functions []rollupFunction) *rowEncoder {
	t := &rowEncoder{experiments: schema.NewLabels(ids...), metrics: schema.NewLabels(c.metrics.list...), unitOf: units, functions: functions}
	var known interner[int32]
	for _, of := range units {
		for i := range of {
			of[i] = known.intern(of[i])
		}
	}
	t.units = c.labels(known.list)
	for i, of := range []func(*rollupFunction) int32{
		func(f *rollupFunction) int32 { return f.name },
		func(f *rollupFunction) int32 { return f.object },
		func(f *rollupFunction) int32 { return f.module },
		func(f *rollupFunction) int32 { return f.kind },
	} {
		var known interner[int32]
		p := labelColumn{of: make([]int32, len(functions))}
		for n := range functions {
			p.of[n] = known.intern(of(&functions[n]))
		}
		p.labels = c.labels(known.list)
		t.parts[i] = p
	}
	return t
}

// labels returns the labels of texts, given their numbers.
func (c *Collector) labels(numbers []int32) *schema.Labels {
	list := make([]string, len(numbers))
	for i, n := range numbers {
		list[i] = c.texts.list[n]
	}
	return schema.NewLabels(list...)
}

// batch returns rows as columns, in the order of the given indices.
func (t *rowEncoder) batch(all []row, order []int32) arrow.RecordBatch {
	t.rows = t.rows[:0]
	for _, n := range order {
		t.rows = append(t.rows, all[n])
	}
	rows := t.rows
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
	columns := slices.Concat([]arrow.Array{
		t.experiments.Mixed(narrow(func(r *row) int32 { return r.experiment })),
		t.metrics.Mixed(narrow(func(r *row) int32 { return r.metric })),
		t.units.Mixed(narrow(func(r *row) int32 { return t.unitOf[r.experiment][r.metric] })),
	}, schema.ModeArrays(narrow(func(r *row) int32 { return r.modes })), []arrow.Array{
		wide(func(r *row) int64 { return t.functions[r.function].id }),
		wide(func(r *row) int64 { return t.functions[r.function].key }),
		text(0), text(1), text(2), text(3),
		wide(func(r *row) int64 { return r.exclusive }),
		wide(func(r *row) int64 { return r.inclusive }),
	})
	batch := array.NewRecordBatch(schema.FunctionRollup.Arrow(), columns, int64(len(rows)))
	for _, c := range columns {
		c.Release()
	}
	return batch
}
