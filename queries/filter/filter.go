// Package filter computes the values of an experiment again, from some of its samples or with some
// libraries left out.
//
// For each experiment of a filtered session, data flow as follows:
//
//  1. SQL selects samples, and sums them by stack and metric (package queries).
//  2. stages/structure reads the program and the tree of stacks from the files of the store.
//  3. If libraries are left out, the frames of the tree change: values always follow what is shown.
//  4. stages/attribute computes the values, as ingest does from all samples.
//  5. The rows become tables of the session in the SQL engine, in place of the store's.
//
// So a filter has no rules of its own for values: only the sums differ from those of an ingest.
// This package does not use SQL.
package filter

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
	"stackmill/stages/attribute"
	"stackmill/stages/structure"
)

// Experiment is an experiment of a filtered session.
type Experiment struct {
	ID     string
	Tables schema.TableReader // the store's tables
	// Sums are the sums of the selected samples, in any order; nil if all samples are selected.
	Sums *Sums
	// Library says which functions of a load object are shown; nil if all are.
	Library func(name, path string) Visibility
}

// Sums are sums of samples by stack and metric, as columns.
type Sums struct {
	Stacks  []int32
	Metrics []string
	Values  []attribute.Sum
}

// Emit takes rows of a table.
type Emit = attribute.Emit

// Values emits the experiment's rows of the value tables that are needed and, if functions are
// hidden, of Tables. The error is structure.ErrNoStacks if the store does not have the experiment's
// stacks.
func (e *Experiment) Values(needed func(*schema.Table) bool, emit Emit) error {
	r, err := e.read(slices.ContainsFunc(codeTables, needed))
	if err != nil {
		return err
	}
	if e.Library != nil {
		if err := leaveOut(r, e.Library, needed, emit); err != nil {
			return err
		}
	}
	return values(r, needed, func(t *schema.Table, rows arrow.RecordBatch) error {
		if !needed(t) {
			return nil
		}
		return emit(t, rows)
	})
}

// read reads the experiment, with the sums of the selected samples.
func (e *Experiment) read(lines bool) (*attribute.Result, error) {
	if e.Sums != nil && len(e.Sums.Values) == 0 && e.Library == nil {
		return structure.ReadEmpty(e.ID, e.Tables)
	}
	r, err := structure.Read(e.ID, e.Tables, lines)
	if err != nil {
		return nil, err
	}
	if e.Sums == nil {
		return r, structure.ReadSums(r, e.Tables)
	}
	add := structure.SumSetter(r)
	for i, s := range e.Sums.Values {
		if err := add(e.Sums.Stacks[i], e.Sums.Metrics[i], s); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// The value tables, grouped by the code that computes them.
var (
	functionTables = []*schema.Table{schema.FunctionValues, schema.ModuleValues, schema.ObjectValues, schema.CallValues}
	treeTables     = []*schema.Table{schema.CallNodes, schema.TreeValues}
	codeTables     = []*schema.Table{schema.LineValues, schema.SourceValues, schema.PCValues}
)

// ValueTables returns the tables of values that this package computes.
func ValueTables() []*schema.Table { return slices.Concat(functionTables, treeTables, codeTables) }

// values computes the tables that are needed.
func values(r *attribute.Result, needed func(*schema.Table) bool, emit Emit) (err error) {
	shape := attribute.NewStackViews(r.Program, r.Stacks, r.Sums)
	functions, nodes := slices.ContainsFunc(functionTables, needed), slices.ContainsFunc(treeTables, needed)
	if functions || nodes {
		tree := attribute.NewCallTree(shape)
		if functions {
			_, err = r.FunctionRows(emit, tree)
		}
		if err == nil && nodes {
			err = r.TreeRows(emit, tree)
		}
	}
	if err == nil && slices.ContainsFunc(codeTables, needed) {
		_, err = r.LineRows(emit, shape)
	}
	return err
}
