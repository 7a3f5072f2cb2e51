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

// portion is a group of batches that one query reads. If an experiment is in several of these
// batches, it has the same visibility in all of them.
type portion struct {
	number  int
	batches []*storedir.Batch
	counts  map[string]visibility // visibility of the batches' experiments; nil: all are visible in full
}

// visibility says which rows of an experiment the views show.
type visibility uint8

const (
	nothing visibility = iota
	summary            // rows of tables that a summary keeps
	everything
)

// covers reports whether the experiment's rows of a table are visible.
func (x visibility) covers(t *schema.Table) bool { return x == everything || x == summary && t.Summary }

// portions divides batches into as few portions as possible. The first one has all batches without
// hidden experiments. Even a store in which thousands of experiments were replaced has only two or
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

// agrees reports whether the experiments that both have are equally visible in both.
func (p *portion) agrees(other map[string]visibility) bool {
	for id, is := range other {
		if was, known := p.counts[id]; known && was != is {
			return false
		}
	}
	return true
}

// hides reports whether the files have rows of hidden experiments, which queries must leave out.
func (p *portion) hides() bool {
	return len(p.experiments(func(x visibility) bool { return x == nothing })) > 0
}

// few is the number of experiments up to which a condition lists their ids, so that the engine
// reads only their rows. For more, up to thousands, a join is faster.
const few = 16

// rows returns a query for the visible rows of a table's files; empty if there are none.
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

// fileList is the list of the files of a table.
type fileList struct {
	paths []string // absolute
	rows  int64    // number of rows in all files
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

// read returns SQL for the rows in the files, as a relation. It includes the number of rows,
// because the engine would otherwise assume that all files are as large as the first.
func (l fileList) read(options ...string) string {
	return ReadParquet(l.paths, append(options, fmt.Sprint("explicit_cardinality = ", l.rows))...)
}

// experiments returns the ids, sorted, of the experiments for whose visibility which returns true.
func (p *portion) experiments(which func(visibility) bool) (ids []string) {
	for id, x := range p.counts {
		if which(x) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// rowsQuery returns the query for a table's rows: those of visible experiments in committed files.
// All files have the schema of the first. Without files, the result has the table's columns and no
// rows.
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

// summed returns a query that returns rows of function_rollup with the columns of function_sums.
// The rows need not be summed, because whoever reads function_sums sums its rows anyway.
func summed(rollup string) string {
	return "SELECT " + columnList(mapped(schema.FunctionSums.Columns, func(c schema.Column) string { return c.Name })) + " FROM " + rollup
}
