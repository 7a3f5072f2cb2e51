package rollup

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/schema"
)

// Sums adds up the rows of a batch's function_rollup over experiments, for function_sums. It is not
// safe for concurrent use.
type Sums struct {
	labels [len(labelColumns)]textInterner
	sums   map[sumKey]*functionSum
	full   []sumRow // finished sums: adding more would overflow
}

// labelColumns lists the columns of texts by which values are summed.
var labelColumns = [...]string{"metric", "unit", "function", "load_object", "module", "kind"}

// sumKey identifies a sum: it adds up the rows with these texts, modes and function key.
type sumKey struct {
	labels [len(labelColumns)]int32 // numbers of texts
	modes  int32
	key    int64
}

type functionSum struct{ exclusive, inclusive int64 }

type sumRow struct {
	sumKey
	functionSum
}

// Add adds rows of function_rollup. It does not retain the record batch.
func (s *Sums) Add(rows arrow.RecordBatch) {
	if s.sums == nil {
		s.sums = map[sumKey]*functionSum{}
	}
	of := tableColumns{schema.FunctionRollup, rows}
	var numbers [len(labelColumns)][]int32 // for each column: index in its dictionary -> number of the text
	var values [len(labelColumns)]*array.Dictionary
	for i, name := range labelColumns {
		values[i] = of.column(name).(*array.Dictionary)
		known := values[i].Dictionary().(*array.String)
		for n := range known.Len() {
			numbers[i] = append(numbers[i], s.labels[i].internCopy(known.Value(n)))
		}
	}
	modes, keys, exclusive, inclusive := schema.ModesOf(rows), of.int64s("function_key"), of.int64s("exclusive"), of.int64s("inclusive")
	var last sumKey
	var to *functionSum
	for i := range keys {
		g := sumKey{modes: modes[i], key: keys[i]}
		for n, v := range values {
			g.labels[n] = numbers[n][v.GetValueIndex(i)]
		}
		if to == nil || g != last { // neighbors often have the same key
			last, to = g, s.sumOf(g)
		}
		s.add(g, to, exclusive[i], inclusive[i])
	}
}

func (s *Sums) sumOf(g sumKey) *functionSum {
	to := s.sums[g]
	if to == nil {
		to = &functionSum{}
		s.sums[g] = to
	}
	return to
}

// add adds values to the sum of g. If the sum would overflow, it becomes a finished row, and a new
// sum begins.
func (s *Sums) add(g sumKey, to *functionSum, exclusive, inclusive int64) {
	if to.inclusive > math.MaxInt64-inclusive || to.exclusive > math.MaxInt64-exclusive {
		s.full = append(s.full, sumRow{g, *to})
		*to = functionSum{}
	}
	to.exclusive += exclusive
	to.inclusive += inclusive
}

// Empty reports whether there are no sums.
func (s *Sums) Empty() bool { return len(s.sums) == 0 }

// Rows emits the rows of function_sums, sorted, and drops the sums.
func (s *Sums) Rows(emit func(*schema.Table, arrow.RecordBatch) error) error {
	list := s.full
	for g, v := range s.sums {
		list = append(list, sumRow{g, *v})
	}
	slices.SortFunc(list, func(a, b sumRow) int {
		return cmp.Or(s.compare(&a.sumKey, &b.sumKey), cmp.Compare(b.inclusive, a.inclusive), cmp.Compare(b.exclusive, a.exclusive))
	})
	var err error
	for rows := range slices.Chunk(list, schema.BatchRows) {
		batch := s.batch(rows)
		err = emit(schema.FunctionSums, batch)
		batch.Release()
		if err != nil {
			break
		}
	}
	*s = Sums{}
	return err
}

// compare orders sums by metric, unit, modes, then function.
func (s *Sums) compare(a, b *sumKey) int {
	text := func(from, until int) (order int) {
		for i := from; i < until && order == 0; i++ {
			if a.labels[i] != b.labels[i] {
				order = strings.Compare(s.labels[i].list[a.labels[i]], s.labels[i].list[b.labels[i]])
			}
		}
		return order
	}
	return cmp.Or(text(0, 2), cmp.Compare(a.modes, b.modes), text(2, len(labelColumns)), cmp.Compare(a.key, b.key))
}

// batch returns rows as columns.
func (s *Sums) batch(rows []sumRow) arrow.RecordBatch {
	column := map[string]arrow.Array{}
	for n, name := range labelColumns {
		numbers := make([]int32, len(rows))
		for i := range rows {
			numbers[i] = rows[i].labels[n]
		}
		column[name] = schema.NewLabels(s.labels[n].list...).Mixed(numbers)
	}
	modes, keys, exclusive, inclusive := make([]int32, len(rows)), make([]int64, len(rows)), make([]int64, len(rows)), make([]int64, len(rows))
	for i := range rows {
		r := &rows[i]
		modes[i], keys[i], exclusive[i], inclusive[i] = r.modes, r.key, r.exclusive, r.inclusive
	}
	for i, a := range schema.ModeArrays(modes) {
		column[schema.Modes[i]] = a
	}
	column["function_key"] = schema.Int64s(keys)
	column["exclusive"], column["inclusive"] = schema.Int64s(exclusive), schema.Int64s(inclusive)
	list := make([]arrow.Array, len(schema.FunctionSums.Columns))
	for i, c := range schema.FunctionSums.Columns {
		list[i] = column[c.Name]
	}
	batch := array.NewRecordBatch(schema.FunctionSums.Arrow(), list, int64(len(rows)))
	for _, c := range column {
		c.Release()
	}
	return batch
}
