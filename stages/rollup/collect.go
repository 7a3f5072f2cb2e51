// Package rollup makes the rows of function_rollup: the functions' values in all experiments of a
// batch. Rows have names instead of references to other tables, and are sorted so that the rows of
// a function are neighbors. The package also sums them for function_sums.
package rollup

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/internal/chunked"
	"stackmill/internal/memo"
	"stackmill/schema"
)

// Collector collects the rows of a batch's tables from which the roll-up is made. It is safe for
// concurrent use. It numbers texts: the experiments of a batch share most of them, and the garbage
// collector need not scan numbers.
type Collector struct {
	mu          sync.Mutex
	experiments map[string]*experimentRows
	metrics     textInterner
	texts       textInterner // all others
	functions   interner[function]
}

// experimentRows holds the collected rows of one experiment.
type experimentRows struct {
	objects, modules map[int64]unitName
	units            map[int32]int32 // by metric name: its unit (both are numbers in Collector.texts)
	functions        []int32         // by function_no: the number in Collector.functions plus 1, or 0
	values           []packedValues
}

// function is a row of the table functions; texts are numbers in Collector.texts.
type function struct {
	id, object, module         int64
	name, linkage, kind, scope int32
}

// unitName is the name and short path of a load object or module, as numbers in Collector.texts.
type unitName struct{ name, short int32 }

// nameIn returns the name and short path in a row of load_objects or modules.
func (c *Collector) nameIn(rows tableColumns, row int) unitName {
	return unitName{c.texts.internCopy(rows.text("name").Value(row)), c.texts.internCopy(rows.text("short_path").Value(row))}
}

// packedValues holds rows of function_values, which has the most rows, with each column compressed.
type packedValues struct {
	metrics                                        []int32 // by label: the metric's number in Collector.metrics
	labels, modes, functions, exclusive, inclusive chunked.PackedInts
}

// value is a row of function_values.
type value struct {
	metric, modes, function int32
	exclusive, inclusive    int64
}

// collectors maps each table that the roll-up needs to the function that collects its rows. `of`
// returns the experiment to which a row belongs.
var collectors = map[*schema.Table]func(c *Collector, rows tableColumns, of func(row int) *experimentRows){
	schema.FunctionValues: (*Collector).addValues,
	schema.Functions:      (*Collector).addFunctions,
	schema.Metrics: func(c *Collector, rows tableColumns, of func(int) *experimentRows) {
		metrics, units := rows.column("metric").(*array.Dictionary), rows.text("unit")
		known := metrics.Dictionary().(*array.String)
		for i := range metrics.Len() {
			of(i).units[c.texts.internCopy(known.Value(metrics.GetValueIndex(i)))] = c.texts.internCopy(units.Value(i))
		}
	},
	schema.LoadObjects: func(c *Collector, rows tableColumns, of func(int) *experimentRows) {
		for i, id := range rows.int64s("load_object_id") {
			of(i).objects[id] = c.nameIn(rows, i)
		}
	},
	schema.Modules: func(c *Collector, rows tableColumns, of func(int) *experimentRows) {
		for i, id := range rows.int64s("module_id") {
			of(i).modules[id] = c.nameIn(rows, i)
		}
	},
}

// Add collects the rows of a table. It does not retain the record batch.
func (c *Collector) Add(t *schema.Table, rows arrow.RecordBatch) error {
	take := collectors[t]
	if take == nil {
		return nil
	}
	if !rows.Schema().Equal(t.Arrow()) {
		return fmt.Errorf("the columns differ from the columns of table %s", t.Name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := rows.Column(0).(*array.Dictionary)
	known := make([]*experimentRows, ids.Dictionary().Len())
	for i := range known {
		known[i] = c.experimentOf(ids.Dictionary().(*array.String).Value(i))
	}
	take(c, tableColumns{t, rows}, func(row int) *experimentRows { return known[ids.GetValueIndex(row)] })
	return nil
}

// Empty reports whether no values were collected.
func (c *Collector) Empty() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.metrics.list) == 0
}

// experimentOf returns where the rows of an experiment are collected.
func (c *Collector) experimentOf(id string) *experimentRows {
	if c.experiments == nil {
		c.experiments = map[string]*experimentRows{}
	}
	return memo.Get(c.experiments, strings.Clone(id), func() *experimentRows {
		return &experimentRows{objects: map[int64]unitName{}, modules: map[int64]unitName{}, units: map[int32]int32{}}
	})
}

func (c *Collector) addValues(rows tableColumns, of func(int) *experimentRows) {
	labels := rows.column("metric").(*array.Dictionary)
	metrics := make([]int32, labels.Dictionary().Len())
	for i := range metrics {
		metrics[i] = c.metrics.internCopy(labels.Dictionary().(*array.String).Value(i))
	}
	indices := labels.Indices().(*array.Int32).Int32Values()
	modes, functions := schema.ModesOf(rows.rows), rows.int32s("function_no")
	exclusive, inclusive := rows.int64s("exclusive"), rows.int64s("inclusive")
	for from, until := 0, 0; from < len(modes); from = until { // usually one run: all rows are of one experiment
		e := of(from)
		for until = from + 1; until < len(modes) && of(until) == e; {
			until++
		}
		e.values = append(e.values, packedValues{metrics, chunked.Pack(indices[from:until]), chunked.Pack(modes[from:until]), chunked.Pack(functions[from:until]),
			chunked.Pack(exclusive[from:until]), chunked.Pack(inclusive[from:until])})
	}
}

func (c *Collector) addFunctions(rows tableColumns, of func(int) *experimentRows) {
	ids, objects, modules := rows.int64s("function_id"), rows.int64s("load_object_id"), rows.int64s("module_id")
	names, linkages, kinds, scopes := rows.text("name"), rows.text("other_linkage_name"), rows.text("kind"), rows.text("name_scope")
	numbers := rows.int32s("function_no")
	for i, n := range numbers {
		f := function{id: ids[i], object: objects[i], module: modules[i], name: c.texts.internCopy(names.Value(i)), kind: c.texts.internCopy(kinds.Value(i)), scope: c.texts.internCopy(scopes.Value(i))}
		if f.linkage = f.name; linkages.IsValid(i) && linkages.Value(i) != "" {
			f.linkage = c.texts.internCopy(linkages.Value(i))
		}
		e := of(i)
		if i == 0 { // usually all rows are of one experiment
			e.functions = slices.Grow(e.functions, len(numbers))
		}
		for int(n) >= len(e.functions) {
			e.functions = append(e.functions, 0)
		}
		e.functions[n] = c.functions.intern(f) + 1
	}
}

// tableColumns gives access to a batch of a table's rows by column name.
type tableColumns struct {
	table *schema.Table
	rows  arrow.RecordBatch
}

func (c tableColumns) column(name string) arrow.Array { return c.rows.Column(c.table.Index(name)) }
func (c tableColumns) int64s(name string) []int64     { return c.column(name).(*array.Int64).Int64Values() }
func (c tableColumns) int32s(name string) []int32     { return c.column(name).(*array.Int32).Int32Values() }
func (c tableColumns) text(name string) *array.String { return c.column(name).(*array.String) }

// interner numbers distinct values in the order in which they first occur.
type interner[T comparable] struct {
	list    []T
	numbers map[T]int32
}

func (n *interner[T]) intern(thing T) int32 {
	if n.numbers == nil {
		n.numbers = map[T]int32{}
	}
	return memo.Get(n.numbers, thing, func() int32 {
		n.list = append(n.list, thing)
		return int32(len(n.list) - 1)
	})
}

// textInterner is an interner of texts.
type textInterner struct{ interner[string] }

// internCopy interns a text. It copies a new one, which lies in the memory of a record batch.
func (n *textInterner) internCopy(text string) int32 {
	i, ok := n.numbers[text]
	if !ok {
		i = n.intern(strings.Clone(text))
	}
	return i
}
