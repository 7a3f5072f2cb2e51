// Package structure reads back what attribute needs of an experiment: its program and the tree
// of its stacks, as the tables of a store have them. Values computed again from these, and sums
// by stack, are the stored ones if the sums are; sums of some of the samples give the values of
// these.
package structure

import (
	"errors"
	"fmt"

	"stackmill/internal/ordered"
	"stackmill/schema"
	"stackmill/stages/attribute"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// ErrNone says that a store does not have the stacks of an experiment: it is a summary, or
// nothing of it could be read.
var ErrNone = errors.New("the store does not have the experiment's stacks")

// Read returns the program, stacks and metrics of an experiment, without sums. Source lines are
// read if lines says so; else all are unknown, which leaves other values as they are. What tables
// refer to is there: a damaged table is an error.
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
		return nil, ErrNone
	}
	r := &attribute.Result{ExperimentID: experimentID, Program: p, Total: total(p), Stacks: stacks, Sums: attribute.NewSums(metrics)}
	if r.Total == program.None {
		return nil, errors.New("table functions: there is no <Total>")
	}
	return r, nil
}

// ReadEmpty returns what Read does, for an experiment of whose samples none counts: values are
// those of `<Total>` alone, so that of program and stacks the rest is not read.
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
				return missing(schema.Functions, "function_no", int32(len(p.Functions)))
			}
			p.Functions = append(p.Functions, program.Function{Object: object})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	n := total(p)
	if n == program.None {
		return nil, ErrNone
	}
	stacks := &attribute.Stacks{}
	stacks.Nodes.Parent, stacks.Nodes.Label, stacks.Nodes.Below = []stacktree.NodeNo{program.None}, []stacktree.FrameNo{program.None}, []int32{0}
	return &attribute.Result{ExperimentID: experimentID, Program: &program.Program{}, Total: n, Stacks: stacks, Sums: attribute.NewSums(metrics)}, nil
}

// ReadSums adds the sums of all samples, as stack_values has them.
func ReadSums(r *attribute.Result, tables schema.TableReader) error {
	add := Adder(r)
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

// Adder returns a function that sets the sum of a metric of a stack.
func Adder(r *attribute.Result) func(stack int32, metric string, s attribute.Sum) error {
	numbers := map[string]int{}
	for n, m := range r.Sums.Metrics {
		numbers[m.Name] = n
	}
	return func(stack int32, metric string, s attribute.Sum) error {
		m, known := numbers[metric]
		if !known || !within(stack, len(r.Stacks.Recorded)) {
			return missing(schema.StackValues, "stack", stack)
		}
		*r.Sums.At(attribute.RecordedStackNo(stack), m) = s
		return nil
	}
}

// readMetrics returns the metrics in their order. Whether values may be negative follows from
// the values.
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

// total returns the function `<Total>`, the only one of its load object.
func total(p *program.Program) program.FunctionNo {
	for n := range p.Functions {
		if o := &p.Objects[p.Functions[n].Object]; o.Name == program.Total && o.Kind == "artificial" {
			return program.FunctionNo(n)
		}
	}
	return program.None
}

// within reports whether a number is one of so many things.
func within(n int32, count int) bool { return n >= 0 && int(n) < count }

// missing is the error of a row that refers to what is not there.
func missing(t *schema.Table, column string, n int32) error {
	return fmt.Errorf("table %s: %s %d refers to what is not there", t.Name, column, n)
}
