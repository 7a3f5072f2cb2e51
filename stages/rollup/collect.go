// Package rollup makes the rows of function_rollup: the values by function of all
// experiments of a batch, with names in place of references, in the order in which what
// all experiments say of one function is in one place. It sums them for function_sums.
package rollup

import (
	"fmt"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/schema"
)

// Collector takes the rows of a batch's tables and keeps what the roll-up is made of. It
// may be used concurrently.
type Collector struct {
	mu          sync.Mutex
	experiments map[string]*experiment
	metrics     names
}

// experiment is what was collected of one experiment.
type experiment struct {
	objects, modules map[int64]string
	units            map[string]string // of metrics
	functions        []function        // by their numbers
	values           []value
}

// function is a row of functions, or none.
type function struct {
	is                  bool
	id, object, module  int64
	name, linkage, kind string
}

// value is a row of function_values.
type value struct {
	metric, modes, function int32
	exclusive, inclusive    int64
}

// sources are the tables that the roll-up is made of, and what takes their rows: of says
// whose a row is.
var sources = map[*schema.Table]func(c *Collector, rows columns, of func(row int) *experiment){
	schema.FunctionValues: (*Collector).values,
	schema.Functions:      functions,
	schema.Metrics: func(_ *Collector, rows columns, of func(int) *experiment) {
		metrics, units := rows.column("metric").(*array.Dictionary), rows.text("unit")
		known := metrics.Dictionary().(*array.String)
		for i := range metrics.Len() {
			of(i).units[known.Value(metrics.GetValueIndex(i))] = units.Value(i)
		}
	},
	schema.LoadObjects: func(_ *Collector, rows columns, of func(int) *experiment) {
		ids, names := rows.wide("load_object_id"), rows.text("name")
		for i, id := range ids {
			of(i).objects[id] = names.Value(i)
		}
	},
	schema.Modules: func(_ *Collector, rows columns, of func(int) *experiment) {
		ids, names := rows.wide("module_id"), rows.text("name")
		for i, id := range ids {
			of(i).modules[id] = names.Value(i)
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
		e = &experiment{objects: map[int64]string{}, modules: map[int64]string{}, units: map[string]string{}}
		c.experiments[id] = e
	}
	return e
}

func (c *Collector) values(rows columns, of func(int) *experiment) {
	labels := rows.column("metric").(*array.Dictionary)
	metrics := make([]int32, labels.Dictionary().Len())
	for i := range metrics {
		metrics[i] = c.metrics.of(labels.Dictionary().(*array.String).Value(i))
	}
	modes, numbers := rows.narrow("modes"), rows.narrow("function_no")
	exclusive, inclusive := rows.wide("exclusive"), rows.wide("inclusive")
	for i, function := range numbers {
		e := of(i)
		e.values = append(e.values, value{metrics[labels.GetValueIndex(i)], modes[i] & schema.ShownModes, function, schema.ExclusiveOf(exclusive[i], inclusive[i]), inclusive[i]})
	}
}

func functions(_ *Collector, rows columns, of func(int) *experiment) {
	ids, objects, modules := rows.wide("function_id"), rows.wide("load_object_id"), rows.wide("module_id")
	names, linkages, kinds := rows.text("name"), rows.text("other_linkage_name"), rows.text("kind")
	for i, n := range rows.narrow("function_no") {
		f := function{is: true, id: ids[i], object: objects[i], module: modules[i], name: names.Value(i), kind: kinds.Value(i)}
		if f.linkage = f.name; linkages.IsValid(i) && linkages.Value(i) != "" {
			f.linkage = linkages.Value(i)
		}
		e := of(i)
		for int(n) >= len(e.functions) {
			e.functions = append(e.functions, function{})
		}
		e.functions[n] = f
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

// names numbers texts.
type names struct {
	list   []string
	number map[string]int32
}

func (n *names) of(text string) int32 {
	i, ok := n.number[text]
	if !ok {
		if n.number == nil {
			n.number = map[string]int32{}
		}
		i = int32(len(n.list))
		n.list = append(n.list, text)
		n.number[text] = i
	}
	return i
}
