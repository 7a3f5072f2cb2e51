package verify

import (
	"errors"
	"fmt"
	"slices"

	"stackmill/schema"
	"stackmill/schema/storedir"
)

// extraColumns lists the columns that are read of each table in addition to its key.
var extraColumns = map[*schema.Table][]column{
	schema.Experiments: {{name: "status"}},
	schema.Metrics:     {{name: "unit"}, {name: "data_objects"}},
	schema.LoadObjects: {{name: "name", keep: true}, {name: "short_path", keep: true}},
	schema.Modules:     {{name: "load_object_id"}, {name: "name", keep: true}, {name: "short_path", keep: true}},
	schema.Functions: {{name: "function_no"}, {name: "load_object_id"}, {name: "module_id"}, {name: "name", keep: true}, {name: "name", of: step}, {name: "name_scope", keep: true},
		{name: "other_linkage_name", keep: true}, {name: "kind"}, {name: "body_of"}},
	schema.Locations:      {{name: "other_location_id"}, {name: "load_object_id"}, {name: "function_no"}, {name: "offset"}, {name: "instruction"}, {name: "reason"}},
	schema.InlineFrames:   {{name: "function_no"}},
	schema.Listings:       {{name: schema.ListedIn}, {name: "listing"}},
	schema.Instructions:   {{name: "size"}},
	schema.SourceFiles:    {{name: schema.ListedIn}, {name: "listing"}},
	schema.RecordedStacks: {{name: "node"}, {name: "user_up"}, {name: "expert_up"}, {name: "machine_up"}, {name: "reason"}},
	schema.StackTree:      {{name: "up"}, {name: "below"}, {name: "frame"}},
	schema.TreeFrames: {{name: "part"}, {name: "word"}, {name: "location"}, {name: "user_location"}, {name: "expert_location"}, {name: "machine_location"},
		{name: "user_rule", of: ruleMark}, {name: "expert_rule", of: ruleMark}, {name: "machine_rule", of: ruleMark}},
	schema.Samples:        {{name: "kind"}, {name: "process"}, {name: "thread_id"}, {name: "cpu"}, {name: "time_ns"}, {name: "stack"}, {name: "name_no"}, {name: "cgroup"}, {name: "cgroup", of: noPath}},
	schema.Problems:       {{name: "reason"}},
	schema.StackValues:    {{name: "value"}, {name: "samples"}},
	schema.UsageValues:    {{name: "value"}, {name: "samples"}},
	schema.FunctionRollup: {{name: "unit"}, {name: "function_key"}, {name: "function"}, {name: "load_object"}, {name: "module"}, {name: "kind"}, {name: "exclusive"}, {name: "inclusive"}},
}

// streamedTables are the tables whose rows are read in blocks and not kept: samples, their fields,
// and values that no check looks up.
var streamedTables = map[*schema.Table]bool{schema.Samples: true, schema.EventFields: true}

func init() {
	for _, t := range valueTables {
		if t != schema.FunctionValues && t != schema.PCValues && t != schema.CallNodes {
			streamedTables[t] = true
		}
	}
	for k := range schema.Kinds {
		t := schema.SampleTable(k)
		streamedTables[t] = true
		extraColumns[t] = append(extraColumns[t], countedColumns(k)...)
	}
}

// columnsOf returns the columns that are read of a table. The first is experiment_id; if
// experiments share the rows, the first two identify the list.
func columnsOf(t *schema.Table) []column {
	var list []column
	if t.Links != nil {
		list = append(list, column{name: schema.ListedIn}, column{name: "listing"})
	}
	if slices.Contains(valueTables, t) {
		for _, c := range t.Columns {
			list = append(list, column{name: c.Name})
		}
	} else {
		for _, name := range t.Key {
			if t.Has(name) {
				list = append(list, column{name: name})
			}
		}
	}
	if len(list) == 0 { // one column shows how many rows there are
		list = append(list, column{name: t.Columns[0].Name})
	}
	list = append(list, extraColumns[t]...)
	for i := range list {
		if list[i].of == nil {
			list[i].of = hash
		}
	}
	return list
}

// experiment holds the rows of one experiment, and what is computed from them.
type experiment struct {
	entry        *storedir.Entry
	columns      map[*schema.Table][]column
	rows         map[*schema.Table]*rows
	next         func(*schema.Table, *rows) error // reads more rows of a streamed table
	tables       schema.TableReader               // the rows from which the experiment's values are computed
	rollupDigest digest                           // digest of the experiment's rows in function_rollup
	lists        *lists                           // shared with other experiments

	metrics   map[int64]int32 // hash of a metric's name -> its number
	functions map[int64]int32 // function_no -> index of the function's row
	total     int32           // the row of <Total>; -1 if there is none
	location  []locationInfo
	tree      tree
	stacks    stacks
}

func newExperiment() *experiment {
	x := &experiment{columns: map[*schema.Table][]column{}, rows: map[*schema.Table]*rows{}}
	for _, t := range schema.Tables {
		x.columns[t] = columnsOf(t)
		r := newRows(t, x.columns[t])
		x.rows[t] = &r
	}
	return x
}

func (x *experiment) reset(e *storedir.Entry, rollupDigest digest, lists *lists) {
	*x = experiment{entry: e, columns: x.columns, rows: x.rows, rollupDigest: rollupDigest, lists: lists}
	for _, r := range x.rows {
		r.clear()
	}
}

// col returns the values of a column. If the column is read in several ways, it returns the first.
func (x *experiment) col(t *schema.Table, name string) []int64 {
	return x.rows[t].values[x.index(t, name)]
}

func (x *experiment) index(t *schema.Table, name string) int {
	return slices.IndexFunc(x.columns[t], func(c column) bool { return c.name == name })
}

// missing returns, for each row, whether a column is NULL.
func (x *experiment) missing(t *schema.Table, name string) []bool {
	return x.rows[t].missing[x.index(t, name)]
}

func (x *experiment) len(t *schema.Table) int { return x.rows[t].n }

func (x *experiment) skip() error {
	for t := range streamedTables {
		for more := true; more; {
			if err := x.next(t, x.rows[t]); err != nil {
				return err
			}
			more = x.rows[t].n > 0
		}
	}
	return nil
}

// check returns the first reason why the experiment cannot be verified; nil if it is verified.
func (x *experiment) check() error {
	for _, step := range []func() error{
		x.checkExperiment, x.checkKeys, x.checkStructure, x.checkLocations, x.checkFrames, x.checkTree, x.checkStacks,
		x.checkSamples, x.checkValues, x.checkPaths, x.checkReasons, x.checkCode, x.checkSources, x.checkRollup, x.checkFields,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return errors.Join(x.checkNoData(), x.checkNotTraced())
}

func (x *experiment) checkExperiment() error {
	if x.len(schema.Experiments) != 1 || x.col(schema.Experiments, "status")[0] != hash(x.entry.Recording()) {
		return errors.New("experiments: the row is missing, repeated, or has another status than the commit")
	}
	return nil
}

// checkKeys checks that keys are unique. It leaves out value tables, because checkValues compares
// all of their rows.
func (x *experiment) checkKeys() error {
	for _, t := range schema.Tables {
		if r := x.rows[t]; len(t.Key) > 0 && !streamedTables[t] && !slices.Contains(valueTables, t) && !unique(r, len(t.Key)) {
			return fmt.Errorf("%s: a key is not unique", t.Name)
		}
	}
	return nil
}

// checkFields checks that the fields of samples are in their order, so that their keys are unique.
func (x *experiment) checkFields() error {
	t, last := schema.EventFields, [2]int64{-1, -1}
	for r := x.rows[t]; ; {
		if err := x.next(t, r); err != nil || r.n == 0 {
			return err
		}
		positions := x.col(t, "position")
		for i, sample := range x.col(t, "sample") {
			key := [2]int64{sample, positions[i]}
			if slices.Compare(key[:], last[:]) <= 0 {
				return errors.New("event_fields: rows are not in the order of sample and position")
			}
			last = key
		}
	}
}

// checkNotTraced returns ErrTraced if there are waits, fields or counts, which are left to SQL.
func (x *experiment) checkNotTraced() error {
	if _, waits := x.metrics[hash("offcpu")]; waits || x.len(schema.ThreadStates)+x.len(schema.EventFormats)+x.len(schema.Counts) > 0 {
		return ErrTraced
	}
	return nil
}

// checkNoData returns ErrData if there are data objects, which are left to SQL.
func (x *experiment) checkNoData() error {
	for _, t := range []*schema.Table{schema.DataObjects, schema.DataSamples, schema.DataValues, schema.MemoryRegions} {
		if x.len(t) > 0 {
			return ErrData
		}
	}
	if slices.Contains(x.col(schema.Metrics, "data_objects"), 1) {
		return ErrData
	}
	return nil
}
