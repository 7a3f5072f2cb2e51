// Package structure reads the input of package attribute from a store: an experiment's program and
// the tree of its stacks. With the stored sums by stack, attribute computes the stored values
// again; with sums of selected samples, it computes the values of these samples.
package structure

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/apache/arrow-go/v18/parquet"

	"stackmill/internal/ordered"
	"stackmill/schema"
	"stackmill/schema/parquetfile/rowreader"
	"stackmill/schema/storedir"
	"stackmill/stages/attribute"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// ErrNoStacks says that a store lacks the stacks of an experiment: it has only a summary, or the
// recording was unreadable.
var ErrNoStacks = errors.New("the store does not have the experiment's stacks")

// Read returns the program, stacks and metrics of an experiment, without sums. lines says whether
// to read source lines, which only values by line need. References to rows that do not exist are
// errors.
func Read(experimentID string, tables schema.TableReader, lines bool) (*attribute.Result, error) {
	var metrics []schema.Metric
	p, stacks := &program.Program{}, &attribute.Stacks{}
	err := ordered.Run(
		func() (err error) { metrics, err = readMetrics(tables); return err },
		func() error { return readProgram(tables, p, lines) },
		func() error { return readFrames(tables, stacks) },
		func() error { return readTree(tables, stacks) },
		func() error { return readRecorded(tables, stacks) })
	if err == nil {
		err = checkStacks(p, stacks)
	}
	if err != nil {
		return nil, err
	}
	if stacks.Nodes.Len() == 0 {
		return nil, ErrNoStacks
	}
	r := &attribute.Result{ExperimentID: experimentID, Program: p, Total: findTotal(p), Stacks: stacks, Sums: attribute.NewSums(metrics)}
	if r.Total == program.None {
		return nil, errors.New("table functions: there is no <Total>")
	}
	return r, nil
}

// ReadEmpty takes the place of Read if no sample is selected. Only `<Total>` has values then, so it
// reads neither the stacks nor the rest of the program.
func ReadEmpty(experimentID string, tables schema.TableReader) (*attribute.Result, error) {
	p := &program.Program{}
	metrics, err := readMetrics(tables)
	if err != nil {
		return nil, err
	}
	objects, err := readObjects(tables, p)
	if err != nil {
		return nil, err
	}
	err = schema.EachBatch(tables(schema.Functions, 0, schema.AllRows, "load_object_id"), func(c *schema.Columns) error {
		for _, id := range c.Int64s(0)[:c.N] {
			object, ok := objects[id]
			if !ok {
				return danglingError(schema.Functions, "function_no", int32(len(p.Functions)))
			}
			p.Functions = append(p.Functions, program.Function{Object: object})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	n := findTotal(p)
	if n == program.None {
		return nil, ErrNoStacks
	}
	stacks := &attribute.Stacks{}
	stacks.Nodes.Parent, stacks.Nodes.Label, stacks.Nodes.Below = []stacktree.NodeNo{program.None}, []stacktree.FrameNo{program.None}, []int32{0}
	return &attribute.Result{ExperimentID: experimentID, Program: &program.Program{}, Total: n, Stacks: stacks, Sums: attribute.NewSums(metrics)}, nil
}

// ReadSums sets the sums of all samples, which it reads from stack_values.
func ReadSums(r *attribute.Result, tables schema.TableReader) error {
	add := SumSetter(r)
	return schema.EachBatch(tables(schema.StackValues, 0, schema.AllRows, "stack", "metric", "value", "samples"), func(c *schema.Columns) error {
		stacks, metrics, values, samples := c.Int32s(0), c.Texts(1), c.Int64s(2), c.Int64s(3)
		for i := range c.N {
			if err := add(stacks[i], metrics(i), attribute.Sum{Value: values[i], Samples: samples[i]}); err != nil {
				return err
			}
		}
		return nil
	})
}

// SumSetter returns a function that sets the sum of a metric of a stack.
func SumSetter(r *attribute.Result) func(stack int32, metric string, s attribute.Sum) error {
	numbers := map[string]int{}
	for n, m := range r.Sums.Metrics {
		numbers[m.Name] = n
	}
	return func(stack int32, metric string, s attribute.Sum) error {
		m, known := numbers[metric]
		if !known || !inRange(stack, len(r.Stacks.Recorded)) {
			return danglingError(schema.StackValues, "stack", stack)
		}
		*r.Sums.At(attribute.RecordedStackNo(stack), m) = s
		return nil
	}
}

// readMetrics returns the metrics in the order of their table. It marks all as signed: the store
// does not say which may have negative values.
func readMetrics(tables schema.TableReader) (list []schema.Metric, err error) {
	err = schema.EachBatch(tables(schema.Metrics, 0, schema.AllRows, "metric"), func(c *schema.Columns) error {
		names := c.Texts(0)
		for i := range c.N {
			list = append(list, schema.Metric{Name: names(i), Signed: true})
		}
		return nil
	})
	return list, err
}

// findTotal returns the function `<Total>`, the only one of its load object.
func findTotal(p *program.Program) program.FunctionNo {
	for n := range p.Functions {
		if o := &p.Objects[p.Functions[n].Object]; o.Name == program.Total && o.Kind == "artificial" {
			return program.FunctionNo(n)
		}
	}
	return program.None
}

// inRange reports whether n is an index of a list with count elements.
func inRange(n int32, count int) bool { return n >= 0 && int(n) < count }

// danglingError returns the error for a row that refers to something that does not exist.
func danglingError(t *schema.Table, column string, n int32) error {
	return fmt.Errorf("table %s: %s %d refers to a row that does not exist", t.Name, column, n)
}

// OpenBatch returns the tables of a batch of a store, and a function that closes their files.
func OpenBatch(store string, b *storedir.Batch) (tables *rowreader.Files, closeAll func()) {
	var open []io.Closer
	tables = rowreader.NewFiles(func(t *schema.Table) (parquet.ReaderAtSeeker, error) {
		at := slices.IndexFunc(b.Files, func(f storedir.File) bool { return f.Table == t.Name })
		if at < 0 {
			return nil, nil
		}
		f, err := storedir.OpenFile(store, b.Files[at].Path)
		if err != nil {
			return nil, err
		}
		open = append(open, f) // Files makes no concurrent calls of this function
		return f, nil
	})
	return tables, func() {
		for _, f := range open {
			_ = f.Close() // it was only read
		}
	}
}
