package rollup

import (
	"cmp"
	"crypto/md5"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/internal/chunked"
	"stackmill/schema"
)

// rollupFunction is a function of the roll-up; texts are numbers in Collector.texts.
type rollupFunction struct {
	id, key                    int64 // key is 0 until all functions are known
	name, object, module, kind int32
	identity                   identity
}

// identity holds the texts from which a function's key is computed.
type identity struct{ scope, object, module, linkage int32 }

// compare orders functions as the roll-up's rows are sorted.
func (c *Collector) compare(f, g *rollupFunction) int {
	text := func(a, b int32) int {
		if a == b {
			return 0
		}
		return strings.Compare(c.texts.list[a], c.texts.list[b])
	}
	return cmp.Or(text(f.name, g.name), text(f.object, g.object), text(f.module, g.module),
		cmp.Compare(f.id, g.id), cmp.Compare(f.key, g.key), text(f.kind, g.kind))
}

// key returns the function key, which identifies a function in all builds. It equals the catalog's
// macro function_key. object and module are short paths.
func key(scope string, id int64, object, module, linkage string) int64 {
	switch scope {
	case "build":
		return id
	case "object":
		module = ""
	}
	sum := md5.Sum([]byte(object + "\t" + module + "\t" + linkage))
	return int64(binary.BigEndian.Uint64(sum[:]) >> 1)
}

// row is a row of the roll-up; metric, function and experiment are indices.
type row struct {
	metric, modes, function, experiment int32
	exclusive, inclusive                int64
}

// countingSort returns order, sorted by a key from 0 to n-1. It is stable.
func countingSort(order []int32, n int, key func(thing int32) int32) []int32 {
	next := make([]int32, n+1) // key -> index in the result for the next thing with that key
	for _, thing := range order {
		next[key(thing)+1]++
	}
	for k := range n {
		next[k+1] += next[k]
	}
	sorted := make([]int32, len(order))
	for _, thing := range order {
		to := &next[key(thing)]
		sorted[*to] = thing
		*to++
	}
	return sorted
}

// Rows emits the roll-up's rows, sorted, and drops the collected rows.
func (c *Collector) Rows(emit func(*schema.Table, arrow.RecordBatch) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := slices.Sorted(maps.Keys(c.experiments))
	var known interner[rollupFunction]
	n := 0
	for _, e := range c.experiments {
		for i := range e.values {
			n += e.values[i].labels.Len()
		}
	}
	rows := make([]row, 0, n)
	var u unpacker
	units := make([][]int32, len(ids)) // by experiment and metric
	for n, id := range ids {
		e, first := c.experiments[id], len(rows)
		var err error
		if rows, err = c.appendRows(rows, e, u.values(e), int32(n), &known); err == nil {
			units[n], err = c.units(e, rows[first:])
		}
		if err != nil {
			return fmt.Errorf("experiment %s: %w", id, err)
		}
		delete(c.experiments, id)
	}
	for i := range known.list {
		f := &known.list[i]
		i := f.identity
		f.key = key(c.texts.list[i.scope], f.id, c.texts.list[i.object], c.texts.list[i.module], c.texts.list[i.linkage])
	}
	metrics := ranks(len(c.metrics.list), func(a, b int32) int { return strings.Compare(c.metrics.list[a], c.metrics.list[b]) })
	functions := ranks(len(known.list), func(a, b int32) int { return c.compare(&known.list[a], &known.list[b]) })
	order := countingSort(indices(len(rows)), len(functions), func(i int32) int32 { return functions[rows[i].function] }) // rows are in order of experiments already
	order = countingSort(order, schema.AllModes+1, func(i int32) int32 { return rows[i].modes })
	order = countingSort(order, len(metrics), func(i int32) int32 { return metrics[rows[i].metric] })
	t := c.newRowEncoder(ids, units, known.list)
	for part := range slices.Chunk(order, schema.BatchRows) {
		batch := t.batch(rows, part)
		err := emit(schema.FunctionRollup, batch)
		batch.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// indices returns 0, 1, ..., n-1.
func indices(n int) []int32 {
	list := make([]int32, n)
	for i := range list {
		list[i] = int32(i)
	}
	return list
}

// appendRows appends an experiment's rows. Modes share a row if the function has the same values in
// them.
func (c *Collector) appendRows(rows []row, e *experimentRows, values []value, number int32, known *interner[rollupFunction]) ([]row, error) {
	for i := range values {
		if n := values[i].function; uint(n) >= uint(len(e.functions)) || e.functions[n] == 0 {
			return nil, fmt.Errorf("function %d has values, but no row in functions", n)
		}
	}
	order := countingSort(indices(len(values)), schema.AllModes+1, func(i int32) int32 { return values[i].modes })
	order = countingSort(order, len(c.metrics.list), func(i int32) int32 { return values[i].metric })
	order = countingSort(order, len(e.functions), func(i int32) int32 { return values[i].function })
	last, at := int32(-1), int32(0)
	for _, i := range order {
		v := &values[i]
		if v.function == last {
			if mergeModes(rows, v, at, number) {
				continue
			}
		} else {
			f := &c.functions.list[e.functions[v.function]-1]
			object, module := c.nameOf(e.objects, f.object), c.nameOf(e.modules, f.module)
			r := rollupFunction{id: f.id, name: f.name, object: object.name, module: module.name, kind: f.kind, identity: identity{f.scope, object.short, module.short, f.linkage}}
			last, at = v.function, known.intern(r)
		}
		rows = append(rows, row{v.metric, v.modes, at, number, v.exclusive, v.inclusive})
	}
	return rows, nil
}

// unpacker unpacks the values of each experiment into the same memory.
type unpacker struct {
	list                     []value
	labels, modes, functions []int32
	exclusive, inclusive     []int64
}

// values returns the values of an experiment.
func (u *unpacker) values(e *experimentRows) []value {
	u.list = u.list[:0]
	for _, v := range e.values {
		u.labels, u.modes, u.functions = chunked.Unpack(u.labels[:0], v.labels), chunked.Unpack(u.modes[:0], v.modes), chunked.Unpack(u.functions[:0], v.functions)
		u.exclusive, u.inclusive = chunked.Unpack(u.exclusive[:0], v.exclusive), chunked.Unpack(u.inclusive[:0], v.inclusive)
		for i, label := range u.labels {
			u.list = append(u.list, value{v.metrics[label], u.modes[i], u.functions[i], u.exclusive[i], u.inclusive[i]})
		}
	}
	return u.list
}

// nameOf returns the name and short path of a load object or module, empty if it is unknown.
func (c *Collector) nameOf(known map[int64]unitName, id int64) unitName {
	n, ok := known[id]
	if !ok {
		n = unitName{c.texts.intern(""), c.texts.intern("")}
	}
	return n
}

// units returns the units of an experiment's metrics, by metric, as numbers of texts.
func (c *Collector) units(e *experimentRows, rows []row) ([]int32, error) {
	units, known := make([]int32, len(c.metrics.list)), make([]bool, len(c.metrics.list))
	for n, metric := range c.metrics.list {
		units[n], known[n] = e.units[c.texts.intern(metric)]
	}
	for i := range rows {
		if n := rows[i].metric; !known[n] {
			return nil, fmt.Errorf("metric %s has values, but no row in metrics", c.metrics.list[n])
		}
	}
	return units, nil
}

// mergeModes adds the modes of a value to the row that has the same function, metric and values, if
// it is among the last rows. It returns false if there is none.
func mergeModes(rows []row, v *value, function, experiment int32) bool {
	for i := len(rows) - 1; i >= 0; i-- {
		r := &rows[i]
		if r.function != function || r.metric != v.metric || r.experiment != experiment {
			return false
		}
		if r.exclusive == v.exclusive && r.inclusive == v.inclusive {
			r.modes |= v.modes
			return true
		}
	}
	return false
}

// ranks returns, for each number below n, its position in the order of compare.
func ranks(n int, compare func(a, b int32) int) []int32 {
	order, ranks := indices(n), make([]int32, n)
	slices.SortFunc(order, compare)
	for i, at := range order {
		ranks[at] = int32(i)
	}
	return ranks
}

// rowEncoder turns rows into columns. Columns of texts are dictionary-encoded.
type rowEncoder struct {
	experiments, metrics, units *schema.Labels
	unitOf                      [][]int32 // [experiment][metric]: index in units
	functions                   []rollupFunction
	parts                       [4]labelColumn
	rows                        []row // the rows of a batch, in order
}

// labelColumn is a column of texts that depend on the row's function.
type labelColumn struct {
	labels *schema.Labels
	of     []int32 // function -> index of its text in labels
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

// labels returns the texts with these numbers, as a dictionary.
func (c *Collector) labels(numbers []int32) *schema.Labels {
	list := make([]string, len(numbers))
	for i, n := range numbers {
		list[i] = c.texts.list[n]
	}
	return schema.NewLabels(list...)
}

// batch returns the rows with the indices in order, in this order, as columns.
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
