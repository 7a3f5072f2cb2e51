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

// Sums adds the rows of a batch's function_rollup to those of its function_sums. It is not
// for concurrent use.
type Sums struct {
	labels [len(labelled)]names
	sums   map[group]*sum
	full   []filled // sums that could not be added to any more
}

// labelled are the columns of texts by which values are summed.
var labelled = [...]string{"metric", "unit", "function", "load_object", "module", "kind"}

// group is what is summed: numbers of texts, in the order of labelled.
type group struct {
	labels [len(labelled)]int32
	modes  int32
	key    int64
}

type sum struct{ exclusive, inclusive int64 }

type filled struct {
	group
	sum
}

// Add adds rows of function_rollup. They stay the caller's.
func (s *Sums) Add(rows arrow.RecordBatch) {
	if s.sums == nil {
		s.sums = map[group]*sum{}
	}
	of := columns{schema.FunctionRollup, rows}
	var numbers [len(labelled)][]int32 // of the texts of a dictionary
	var values [len(labelled)]*array.Dictionary
	for i, name := range labelled {
		values[i] = of.column(name).(*array.Dictionary)
		known := values[i].Dictionary().(*array.String)
		for n := range known.Len() {
			numbers[i] = append(numbers[i], s.labels[i].copied(known.Value(n)))
		}
	}
	modes, keys, exclusive, inclusive := schema.ModesOf(rows), of.wide("function_key"), of.wide("exclusive"), of.wide("inclusive")
	var last group
	var to *sum
	for i := range keys {
		g := group{modes: modes[i], key: keys[i]}
		for n, v := range values {
			g.labels[n] = numbers[n][v.GetValueIndex(i)]
		}
		if to == nil || g != last { // rows are sorted by most of it
			last, to = g, s.of(g)
		}
		s.add(g, to, exclusive[i], inclusive[i])
	}
}

func (s *Sums) of(g group) *sum {
	to := s.sums[g]
	if to == nil {
		to = &sum{}
		s.sums[g] = to
	}
	return to
}

// add adds values. A sum that would be too large begins again, in a row of its own.
func (s *Sums) add(g group, to *sum, exclusive, inclusive int64) {
	if to.inclusive > math.MaxInt64-inclusive || to.exclusive > math.MaxInt64-exclusive {
		s.full = append(s.full, filled{g, *to})
		*to = sum{}
	}
	to.exclusive += exclusive
	to.inclusive += inclusive
}

// Empty reports whether there are no rows.
func (s *Sums) Empty() bool { return len(s.sums) == 0 }

// Rows emits the rows of function_sums, in their order, and forgets what was added.
func (s *Sums) Rows(emit func(*schema.Table, arrow.RecordBatch) error) error {
	list := s.full
	for g, v := range s.sums {
		list = append(list, filled{g, *v})
	}
	slices.SortFunc(list, func(a, b filled) int {
		return cmp.Or(s.compare(&a.group, &b.group), cmp.Compare(b.inclusive, a.inclusive), cmp.Compare(b.exclusive, a.exclusive))
	})
	var err error
	for part := range slices.Chunk(list, schema.BatchRows) {
		batch := s.batch(part)
		err = emit(schema.FunctionSums, batch)
		batch.Release()
		if err != nil {
			break
		}
	}
	*s = Sums{}
	return err
}

// compare orders by metric, unit, modes and what else names a function.
func (s *Sums) compare(a, b *group) int {
	text := func(from, until int) (order int) {
		for i := from; i < until && order == 0; i++ {
			if a.labels[i] != b.labels[i] {
				order = strings.Compare(s.labels[i].list[a.labels[i]], s.labels[i].list[b.labels[i]])
			}
		}
		return order
	}
	return cmp.Or(text(0, 2), cmp.Compare(a.modes, b.modes), text(2, len(labelled)), cmp.Compare(a.key, b.key))
}

// batch returns rows as columns.
func (s *Sums) batch(rows []filled) arrow.RecordBatch {
	column := map[string]arrow.Array{}
	for n, name := range labelled {
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
