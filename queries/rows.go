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

// portion are batches whose files are read together. What counts of an experiment in one
// of them, counts of it in all that have it.
type portion struct {
	number  int
	batches []*storedir.Batch
	counted map[string]extent // of the experiments of the batches; nil if all of everything
}

// extent is what counts of an experiment.
type extent uint8

const (
	nothing extent = iota
	summary        // the rows of tables that are kept when a summary is
	everything
)

// covers reports whether the rows of a table count.
func (x extent) covers(t *schema.Table) bool { return x == everything || x == summary && t.Summary }

// portions puts batches together, in as few portions as that takes: first those of which
// everything counts. A store with thousands of experiments that do not count, because
// others have replaced them, has two or three portions.
func portions(batches []storedir.Batch) (list []*portion) {
	whole := &portion{}
	for i := range batches {
		b := &batches[i]
		if len(b.Hidden)+len(b.Summaries) == 0 {
			whole.batches = append(whole.batches, b)
			continue
		}
		counted := map[string]extent{}
		for _, e := range b.Experiments {
			counted[e.ExperimentID] = everything
		}
		for _, id := range b.Summaries {
			counted[id] = summary
		}
		for _, id := range b.Hidden {
			counted[id] = nothing
		}
		at := slices.IndexFunc(list, func(p *portion) bool { return p.agrees(counted) })
		if at < 0 {
			at = len(list)
			list = append(list, &portion{number: at + 1, counted: map[string]extent{}})
		}
		p := list[at]
		p.batches = append(p.batches, b)
		maps.Copy(p.counted, counted)
	}
	if whole.batches != nil {
		list = slices.Insert(list, 0, whole)
	}
	return list
}

// agrees reports whether the same counts of the same experiments.
func (p *portion) agrees(counted map[string]extent) bool {
	for id, is := range counted {
		if was, known := p.counted[id]; known && was != is {
			return false
		}
	}
	return true
}

// hides reports whether rows of an experiment that does not count at all are in the files.
func (p *portion) hides() bool {
	return len(p.experiments(func(x extent) bool { return x == nothing })) > 0
}

// few is how many experiments a condition may name: a filter by one reads nothing but
// that one's rows, and by thousands takes longer than a join.
const few = 16

// rows returns the relation of a table's rows that count in files; empty if none does.
func (p *portion) rows(t *schema.Table, files fileList) string {
	from := "SELECT * FROM " + files.read()
	if p.counted == nil || t == schema.FunctionSums {
		return from
	}
	ids := p.experiments(func(x extent) bool { return x.covers(t) })
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

// fileList are files of a table.
type fileList struct {
	paths   []string // absolute
	rows    int64    // in all of them
	unknown bool     // rows: they were looked up in a catalog, which does not say
}

// filesOf returns the files of a table in batches.
func filesOf(store string, t *schema.Table, batches iter.Seq[*storedir.Batch]) (l fileList) {
	for b := range batches {
		for _, f := range b.Files {
			if f.Table == t.Name {
				l.paths = append(l.paths, store+"/"+f.Path)
				l.rows, l.unknown = l.rows+f.Rows, l.unknown || f.Rows == 0 // no file is without rows
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

// read returns the relation of the rows in the files. If it is known how many they are, the
// engine is told: else it takes all files for as large as the first until it has opened each.
func (l fileList) read(options ...string) string {
	if !l.unknown {
		options = append(options, fmt.Sprint("explicit_cardinality = ", l.rows))
	}
	return ReadParquet(l.paths, options...)
}

// experiments returns the ids of those of which this much counts, sorted.
func (p *portion) experiments(which func(extent) bool) (ids []string) {
	for id, x := range p.counted {
		if which(x) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// rowsMacro returns what follows CREATE MACRO for the macro of a table's rows.
func rowsMacro(store string, t *schema.Table, all []*portion) string {
	return lateMacro(rowsName(t), rowsQuery(store, t, all))
}

// rowsQuery returns the query of a table's rows: those of exactly the committed files, read
// with the first one's schema, which all share, and of exactly the experiments that count. A
// table without files is an empty relation with the table's columns.
func rowsQuery(store string, t *schema.Table, all []*portion) string {
	var parts []string
	for _, p := range all {
		of := t
		if t == schema.FunctionSums && p.hides() { // they have what does not count
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
		columns := make([]string, len(t.Columns))
		for i, c := range t.Columns {
			columns[i] = "NULL::" + c.Type.SQL() + " AS " + identifier(c.Name)
		}
		return "SELECT " + strings.Join(columns, ", ") + " WHERE false"
	}
	return strings.Join(parts, " UNION ALL ")
}

// summed returns the query of the rows of function_sums that stand for rows of
// function_rollup, which are a relation: sums need not be complete.
func summed(rollup string) string {
	columns := make([]string, len(schema.FunctionSums.Columns))
	for i, c := range schema.FunctionSums.Columns {
		columns[i] = identifier(c.Name)
	}
	return "SELECT " + strings.Join(columns, ", ") + " FROM " + rollup
}
