package queries

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"stackmill/schema"
	"stackmill/schema/storedir"
)

// portion is a group of batches that are read by one query. An experiment has the same visibility
// in all batches of a portion that have it.
type portion struct {
	number  int
	batches []*storedir.Batch
	counts  map[string]visibility // visibility of the batches' experiments; nil: all are visible in full
}

// visibility says which rows of an experiment views show.
type visibility uint8

const (
	nothing visibility = iota
	summary            // rows of tables that a summary keeps
	everything
)

// covers reports whether the rows of a table are visible.
func (x visibility) covers(t *schema.Table) bool { return x == everything || x == summary && t.Summary }

// portions groups batches into as few portions as possible, first the one with no hidden
// experiment. Even after thousands of experiments were replaced by newer ones, a store has two or
// three portions.
func portions(batches []storedir.Batch) (list []*portion) {
	whole := &portion{}
	for i := range batches {
		b := &batches[i]
		if len(b.Hidden)+len(b.Summaries) == 0 {
			whole.batches = append(whole.batches, b)
			continue
		}
		shown := map[string]visibility{}
		for _, e := range b.Experiments {
			shown[e.ExperimentID] = everything
		}
		for _, id := range b.Summaries {
			shown[id] = summary
		}
		for _, id := range b.Hidden {
			shown[id] = nothing
		}
		at := slices.IndexFunc(list, func(p *portion) bool { return p.agrees(shown) })
		if at < 0 {
			at = len(list)
			list = append(list, &portion{number: at + 1, counts: map[string]visibility{}})
		}
		p := list[at]
		p.batches = append(p.batches, b)
		maps.Copy(p.counts, shown)
	}
	if whole.batches != nil {
		list = slices.Insert(list, 0, whole)
	}
	return list
}

// agrees reports whether the experiments that are in both have the same visibility in both.
func (p *portion) agrees(other map[string]visibility) bool {
	for id, is := range other {
		if was, known := p.counts[id]; known && was != is {
			return false
		}
	}
	return true
}

// hides reports whether the files have rows of hidden experiments.
func (p *portion) hides() bool {
	return len(p.experiments(func(x visibility) bool { return x == nothing })) > 0
}

// few is how many experiments a condition may name. The engine then reads only their rows; for
// thousands, a join is faster.
const few = 16

// rows returns a query of the visible rows of a table in files; empty if there are none.
func (p *portion) rows(t *schema.Table, files fileList) string {
	from := "SELECT * FROM " + files.read()
	if p.counts == nil || t == schema.FunctionSums {
		return from
	}
	ids := p.experiments(func(x visibility) bool { return x.covers(t) })
	switch {
	case len(ids) == 0:
		return ""
	case t.Links != nil:
		return from
	case len(ids) <= few:
		return from + " WHERE experiment_id IN (" + Quote(ids...) + ")"
	}
	hidden := "portion = %d"
	if t.Summary {
		hidden += " AND NOT summary"
	}
	return from + fmt.Sprintf(" ANTI JOIN (SELECT experiment_id FROM %s WHERE "+hidden+") USING (experiment_id)", uncounted, p.number)
}

// fileList is the files of a table.
type fileList struct {
	paths []string // absolute
	rows  int64    // in all of them
}

func filesOf(store string, t *schema.Table, batches iter.Seq[*storedir.Batch]) (l fileList) {
	for b := range batches {
		for _, f := range b.Files {
			if f.Table == t.Name {
				l.paths = append(l.paths, store+"/"+f.Path)
				l.rows += f.Rows
			}
		}
	}
	return l
}

// addresses iterates over batches without copying them.
func addresses(batches []storedir.Batch) iter.Seq[*storedir.Batch] {
	return func(yield func(*storedir.Batch) bool) {
		for i := range batches {
			if !yield(&batches[i]) {
				return
			}
		}
	}
}

// read returns the relation of the rows in the files. It tells the engine their number: otherwise
// the engine assumes that all files are as large as the first.
func (l fileList) read(options ...string) string {
	return ReadParquet(l.paths, append(options, fmt.Sprint("explicit_cardinality = ", l.rows))...)
}

// experiments returns the sorted ids of the experiments whose visibility fulfills a condition.
func (p *portion) experiments(which func(visibility) bool) (ids []string) {
	for id, x := range p.counts {
		if which(x) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// rowsQuery returns the query of a table's rows: of the committed files and the visible experiments
// only. All files share the first one's schema. A table without files is an empty relation with the
// table's columns.
func rowsQuery(store string, t *schema.Table, all []*portion) string {
	var parts []string
	for _, p := range all {
		of := t
		if t == schema.FunctionSums && p.hides() { // the sums include hidden experiments
			of = schema.FunctionRollup
		}
		files := filesOf(store, of, slices.Values(p.batches))
		if files.paths == nil {
			continue
		}
		rows := p.rows(of, files)
		if rows == "" {
			continue
		}
		if of != t {
			rows = summed("(" + rows + ")")
		}
		parts = append(parts, rows)
	}
	if parts == nil {
		columns := mapped(t.Columns, func(c schema.Column) string { return "NULL::" + c.Type.SQL() + " AS " + identifier(c.Name) })
		return "SELECT " + strings.Join(columns, ", ") + " WHERE false"
	}
	return strings.Join(parts, " UNION ALL ")
}

// summed returns a query of rows of function_rollup, given as a relation, in the form of
// function_sums: these sums may be partial, since readers add them up.
func summed(rollup string) string {
	return "SELECT " + columnList(mapped(schema.FunctionSums.Columns, func(c schema.Column) string { return c.Name })) + " FROM " + rollup
}
