package suite

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
	"stackmill/schema/storedir"
	"stackmill/stages/structure"
)

// CheckValues computes the values of all experiments of a store from their stored stacks, and
// compares them with the stored rows. It returns how many experiments have values.
func CheckValues(t *testing.T, store string) (checked int) {
	t.Helper()
	contents, err := storedir.ReadContents(store)
	if err != nil {
		t.Fatal(err)
	}
	for i := range contents.Batches {
		b := &contents.Batches[i]
		files, closeAll := structure.OpenBatch(store, b)
		for e := range b.Visible {
			if _, summary := slices.BinarySearch(b.Summaries, e.ExperimentID); summary {
				continue
			}
			tables := files.Tables(e.ExperimentID)
			want := storedValues(t, tables)
			if len(want) > 0 {
				checked++
			}
			compareValues(t, e.Experiment, want, computedValues(t, e.ExperimentID, tables))
		}
		closeAll()
	}
	return checked
}

// valueTables are the tables that package attribute computes.
var valueTables = []*schema.Table{
	schema.FunctionValues, schema.ModuleValues, schema.ObjectValues, schema.CallValues, schema.CallNodes,
	schema.TreeValues, schema.LineValues, schema.SourceValues, schema.PCValues,
}

// storedValues returns the rows of the value tables in a store as texts, by table.
func storedValues(t *testing.T, tables schema.TableReader) map[string][]string {
	rows := map[string][]string{}
	for _, table := range valueTables {
		var columns []string
		for _, c := range table.Columns[1:] {
			columns = append(columns, c.Name)
		}
		err := schema.EachBatch(tables(table, 0, schema.AllRows, columns...), func(c *schema.Columns) error {
			rows[table.Name] = append(rows[table.Name], texts(c.Batch.Columns(), c.N)...)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return rows
}

// computedValues returns the rows of the value tables that follow from the stored stacks.
func computedValues(t *testing.T, experimentID string, tables schema.TableReader) map[string][]string {
	r, err := structure.Read(experimentID, tables, true)
	if errors.Is(err, structure.ErrNoStacks) {
		return nil
	}
	if err == nil {
		err = structure.ReadSums(r, tables)
	}
	rows := map[string][]string{}
	if err == nil {
		err = r.ValueRows(func(t *schema.Table, b arrow.RecordBatch) error {
			rows[t.Name] = append(rows[t.Name], texts(b.Columns()[1:], int(b.NumRows()))...)
			return nil
		})
	}
	if err != nil {
		t.Fatal(experimentID, err)
	}
	return rows
}

// texts returns rows as text.
func texts(columns []arrow.Array, n int) []string {
	rows := make([]string, n)
	values := make([]string, len(columns))
	for i := range rows {
		for c, column := range columns {
			values[c] = column.ValueStr(i)
		}
		rows[i] = strings.Join(values, "\t")
	}
	return rows
}

func compareValues(t *testing.T, experiment string, want, got map[string][]string) {
	for _, table := range valueTables {
		want, got := want[table.Name], got[table.Name]
		slices.Sort(want)
		slices.Sort(got)
		if slices.Equal(want, got) {
			continue
		}
		at := 0
		for at < len(want) && at < len(got) && want[at] == got[at] {
			at++
		}
		first := func(rows []string) string {
			if at < len(rows) {
				return rows[at]
			}
			return "no more"
		}
		t.Errorf("%s of %s: %d rows, stored are %d; the first that differs is %q, stored %q", table.Name, experiment, len(got), len(want), first(got), first(want))
	}
}
