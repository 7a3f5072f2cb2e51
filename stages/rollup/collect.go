// Package rollup makes the rows of function_rollup: the values by function of all
// experiments of a batch, with names in place of references, in the order in which what
// all experiments say of one function is in one place. It sums them for function_sums.
package rollup

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/internal/chunked"
	"stackmill/schema"
)

// Collector takes the rows of a batch's tables and keeps what the roll-up is made of. It
// may be used concurrently. Rows have numbers in place of texts: the experiments of a
// batch share most of these, and the garbage collector need not look at numbers.
type Collector struct {
	mu          sync.Mutex
	experiments map[string]*experiment
	metrics     names
	texts       names // all others
	functions   numbers[function]
}

// experiment is what was collected of one experiment.
type experiment struct {
	objects, modules map[int64]named
	units            map[int32]int32 // of metrics, by their names
	functions        []int32         // by their numbers: the collector's number and 1, or 0
	values           []values
}

// function is a row of functions.
type function struct {
	id, object, module         int64
	name, linkage, kind, scope int32
}

// named is a load object or module: its name and short path.
type named struct{ name, short int32 }

// namedIn returns what a row of load_objects or modules says.
func (c *Collector) namedIn(rows columns, row int) named {
	return named{c.texts.copied(rows.text("name").Value(row)), c.texts.copied(rows.text("short_path").Value(row))}
}

// values are rows of function_values, by column. There are many more than of anything else.
type values struct {
	metrics                                        []int32 // by label
	labels, modes, functions, exclusive, inclusive chunked.Packed
}

// value is one of these rows.
type value struct {
	metric, modes, function int32
	exclusive, inclusive    int64
}

// sources are the tables that the roll-up is made of, and what takes their rows: of says
// whose a row is.
var sources = map[*schema.Table]func(c *Collector, rows columns, of func(row int) *experiment){
	schema.FunctionValues: (*Collector).values,
	schema.Functions:      (*Collector).addFunctions,
	schema.Metrics: func(c *Collector, rows columns, of func(int) *experiment) {
		metrics, units := rows.column("metric").(*array.Dictionary), rows.text("unit")
		known := metrics.Dictionary().(*array.String)
		for i := range metrics.Len() {
			of(i).units[c.texts.copied(known.Value(metrics.GetValueIndex(i)))] = c.texts.copied(units.Value(i))
		}
	},
	schema.LoadObjects: func(c *Collector, rows columns, of func(int) *experiment) {
		for i, id := range rows.wide("load_object_id") {
			of(i).objects[id] = c.namedIn(rows, i)
		}
	},
	schema.Modules: func(c *Collector, rows columns, of func(int) *experiment) {
		for i, id := range rows.wide("module_id") {
			of(i).modules[id] = c.namedIn(rows, i)
		}
	},
}

// Add takes rows of a table. The batch stays the caller's, who must not change it.
func (c *Collector) Add(t *schema.Table, rows arrow.RecordBatch) error {
	take := sources[t]
	if take == nil {
		return nil
	}
	if !rows.Schema().Equal(t.Arrow()) {
		return fmt.Errorf("other columns than those of table %s", t.Name)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := rows.Column(0).(*array.Dictionary)
	known := make([]*experiment, ids.Dictionary().Len())
	for i := range known {
		known[i] = c.experiment(ids.Dictionary().(*array.String).Value(i))
	}
	take(c, columns{t, rows}, func(row int) *experiment { return known[ids.GetValueIndex(row)] })
	return nil
}

// Empty reports whether the roll-up has no rows.
func (c *Collector) Empty() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.metrics.list) == 0
}

// experiment returns what was collected of an experiment.
func (c *Collector) experiment(id string) *experiment {
	e := c.experiments[id]
	if e == nil {
		if c.experiments == nil {
			c.experiments = map[string]*experiment{}
		}
		e = &experiment{objects: map[int64]named{}, modules: map[int64]named{}, units: map[int32]int32{}}
		c.experiments[strings.Clone(id)] = e
	}
	return e
}

func (c *Collector) values(rows columns, of func(int) *experiment) {
	labels := rows.column("metric").(*array.Dictionary)
	metrics := make([]int32, labels.Dictionary().Len())
	for i := range metrics {
		metrics[i] = c.metrics.copied(labels.Dictionary().(*array.String).Value(i))
	}
	places := labels.Indices().(*array.Int32).Int32Values()
	modes, functions := schema.ModesOf(rows.rows), rows.narrow("function_no")
	exclusive, inclusive := rows.wide("exclusive"), rows.wide("inclusive")
	for from, until := 0, 0; from < len(modes); from = until { // mostly once: they are one experiment's
		e := of(from)
		for until = from + 1; until < len(modes) && of(until) == e; {
			until++
		}
		e.values = append(e.values, values{metrics, chunked.Pack(places[from:until]), chunked.Pack(modes[from:until]), chunked.Pack(functions[from:until]),
			chunked.Pack(exclusive[from:until]), chunked.Pack(inclusive[from:until])})
	}
}

func (c *Collector) addFunctions(rows columns, of func(int) *experiment) {
	ids, objects, modules := rows.wide("function_id"), rows.wide("load_object_id"), rows.wide("module_id")
	names, linkages, kinds, scopes := rows.text("name"), rows.text("other_linkage_name"), rows.text("kind"), rows.text("name_scope")
	numbers := rows.narrow("function_no")
	for i, n := range numbers {
		f := function{id: ids[i], object: objects[i], module: modules[i], name: c.texts.copied(names.Value(i)), kind: c.texts.copied(kinds.Value(i)), scope: c.texts.copied(scopes.Value(i))}
		if f.linkage = f.name; linkages.IsValid(i) && linkages.Value(i) != "" {
			f.linkage = c.texts.copied(linkages.Value(i))
		}
		e := of(i)
		if i == 0 { // mostly all are one experiment's
			e.functions = slices.Grow(e.functions, len(numbers))
		}
		for int(n) >= len(e.functions) {
			e.functions = append(e.functions, 0)
		}
		e.functions[n] = c.functions.of(f) + 1
	}
}

// columns are those of a batch of a table's rows.
type columns struct {
	table *schema.Table
	rows  arrow.RecordBatch
}

func (c columns) column(name string) arrow.Array { return c.rows.Column(c.table.Index(name)) }
func (c columns) wide(name string) []int64       { return c.column(name).(*array.Int64).Int64Values() }
func (c columns) narrow(name string) []int32     { return c.column(name).(*array.Int32).Int32Values() }
func (c columns) text(name string) *array.String { return c.column(name).(*array.String) }

// numbers numbers things in the order in which they come.
type numbers[T comparable] struct {
	list   []T
	number map[T]int32
}

func (n *numbers[T]) of(thing T) int32 {
	i, ok := n.number[thing]
	if !ok {
		i = n.add(thing)
	}
	return i
}

func (n *numbers[T]) add(thing T) int32 {
	if n.number == nil {
		n.number = map[T]int32{}
	}
	i := int32(len(n.list))
	n.list = append(n.list, thing)
	n.number[thing] = i
	return i
}

// names numbers texts.
type names struct{ numbers[string] }

// copied is of for a text in memory that is not to be kept.
func (n *names) copied(text string) int32 {
	i, ok := n.number[text]
	if !ok {
		i = n.add(strings.Clone(text))
	}
	return i
}
