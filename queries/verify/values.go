package verify

import (
	"errors"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
	"stackmill/stages/structure"
)

// valueTables are the tables whose rows are computed from the stacks and their sums.
var valueTables = []*schema.Table{
	schema.FunctionValues, schema.ModuleValues, schema.ObjectValues, schema.CallValues, schema.CallNodes,
	schema.TreeValues, schema.LineValues, schema.SourceValues, schema.PCValues,
}

// checkValues checks that the stored values are the ones that package attribute computes from the
// stored stacks and their sums.
func (x *experiment) checkValues() error {
	want, err := x.computed()
	if err != nil {
		return err
	}
	for _, t := range valueTables {
		got, err := x.stored(t)
		if err != nil {
			return err
		}
		if got != want[t] {
			return fmt.Errorf("%s: the values differ from the values of the stacks", t.Name)
		}
	}
	return nil
}

// computed returns the digests of the rows that package attribute computes.
func (x *experiment) computed() (map[*schema.Table]digest, error) {
	all := map[*schema.Table]digest{}
	r, err := structure.Read(x.entry.ExperimentID, x.tables, true)
	if errors.Is(err, structure.ErrNoStacks) {
		return all, nil
	}
	if err == nil {
		err = structure.ReadSums(r, x.tables)
	}
	if err == nil {
		err = r.ValueRows(func(t *schema.Table, b arrow.RecordBatch) error {
			columns := make([][]int64, b.NumCols())
			for i, c := range b.Columns() {
				if columns[i], err = numbers(c, hash); err != nil {
					return fmt.Errorf("%s.%s: %w", t.Name, t.Columns[i].Name, err)
				}
			}
			d := all[t]
			d.addRows(t, columns, int(b.NumRows()))
			all[t] = d
			return nil
		})
	}
	return all, err
}

func (x *experiment) stored(t *schema.Table) (d digest, err error) {
	r := x.rows[t]
	if !streamedTables[t] {
		d.addRows(t, r.values, r.n)
		return d, nil
	}
	for {
		if err := x.next(t, r); err != nil || r.n == 0 {
			return d, err
		}
		d.addRows(t, r.values, r.n)
	}
}

// addRows adds rows of one experiment. The first column is its id.
func (d *digest) addRows(t *schema.Table, columns [][]int64, n int) {
	first := 1 + t.ModeColumns()
	modes, columns := sets(columns[1:first], n), columns[first:]
	row := make([]int64, len(columns))
	for i := range n {
		for c := range row {
			row[c] = columns[c][i]
		}
		d.add(modes[i], row...)
	}
}

// checkReasons checks that each value in an unknown function has a reason: the leaf's location says
// why it is unknown.
func (x *experiment) checkReasons() error {
	kinds, reasons := x.col(schema.Functions, "kind"), x.col(schema.Locations, "reason")
	for mode := range modes {
		unexplained := make([]bool, len(x.stacks.leaf[mode]))
		for stack, leaf := range x.stacks.leaf[mode] {
			if leaf > 0 {
				at := x.tree.shown[mode][x.tree.frame[leaf]]
				unexplained[stack] = kinds[x.location[at].function] == unknownKind && reasons[at] == none
			}
		}
		if !slices.Contains(unexplained, true) {
			continue
		}
		for _, values := range x.stacks.value {
			sum := int64(0)
			for stack, v := range values {
				if unexplained[stack] {
					sum += v
				}
			}
			if sum != 0 {
				return errors.New("function_values: an unknown function has no reason")
			}
		}
	}
	return nil
}

// checkPaths checks that nodes of the call tree have unique identifiers. checkValues checks their
// numbers.
func (x *experiment) checkPaths() error {
	t := schema.CallNodes
	up, depth, ids := x.col(t, "up"), x.col(t, "depth"), x.col(schema.Functions, "function_id")
	path, known := make([]int64, x.len(t)), make(map[int64]bool, x.len(t))
	for i, no := range x.col(t, "function_no") {
		if i > 0 {
			path[i] = path[int64(i)-up[i]]
		}
		path[i] = (path[i] + pathPart(ids[x.functions[no]], depth[i])) & mask63
		if known[path[i]] {
			return errors.New("call_nodes: two nodes have the same identifier")
		}
		known[path[i]] = true
	}
	return nil
}

func numbered(ids []int64) map[int64]int32 {
	m := make(map[int64]int32, len(ids))
	for i, id := range ids {
		m[id] = int32(i)
	}
	return m
}
