package queries

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cespare/xxhash/v2"

	"stackmill/schema"
	"stackmill/storedir"
)

// catalogName is the name under which the catalog is attached; its file is
// stackmill.duckdb, so that it is the same when another program opens that.
const catalogName = "stackmill"

// definitions are the statements that make a store's catalog.
type definitions struct {
	own         []string // which files the tables have, the names of experiments, the fingerprint
	tables      []string // the views of plain tables
	others      []string // those that are not as in a store with a file of every table
	fingerprint string   // of all that a catalog defines
}

// define returns the definitions for a store with these batches and experiments. store is
// an absolute path.
func define(store string, batches []storedir.Batch, experiments []Experiment) (*definitions, error) {
	return defineAs(store, batches, experiments, form{})
}

// form is another one than that in which columns are stored.
type form struct {
	types []string          // statements that make types
	casts map[string]string // formats that cast columns, by their names
}

// defineAs is define with columns in another form.
func defineAs(store string, batches []storedir.Batch, experiments []Experiment, as form) (*definitions, error) {
	d := &definitions{own: append(as.types, namesView(experiments, as.casts))}
	for _, t := range schema.Tables {
		rows, usual := rowsOf(store, t, batches)
		whole, _ := filesOf(store, t, batches)
		d.own = append(d.own, filesMacro(t, whole))
		view := tableView(t, rows, as.casts)
		if d.tables = append(d.tables, view); !usual {
			d.others = append(d.others, view)
		}
	}
	all, err := d.all()
	if err != nil {
		return nil, err
	}
	h := xxhash.New()
	for _, s := range all {
		fmt.Fprintf(h, "%d %s", len(s), s)
	}
	d.fingerprint = fmt.Sprintf("%s-%016x", schema.StoreVersion, h.Sum64())
	mark := fmt.Sprintf("CREATE OR REPLACE VIEW catalog_fingerprint AS SELECT %s AS fingerprint", quote(d.fingerprint))
	d.own = append(d.own, mark)
	return d, nil
}

// all returns what makes a catalog out of nothing.
func (d *definitions) all() ([]string, error) {
	views, err := derived()
	return slices.Concat([]string{pathMix, pathPart, functionKey}, d.own, d.tables, views), err
}

// changes returns what makes a catalog out of that of another store, in which every table
// has files. It takes the engine a tenth of the time, since no file is opened: the macros
// that list files are only used when a view is read.
func (d *definitions) changes() []string { return slices.Concat(d.own, d.others) }

// derived are the statements that make the views of this package, which are
// the same for every store.
var derived = sync.OnceValues(func() (statements []string, err error) {
	views, err := Views()
	for _, v := range views {
		statements = append(statements, v.create())
	}
	return statements, err
})

// create returns the statement that makes the view.
func (v View) create() string {
	if len(v.Parameters) == 0 {
		return fmt.Sprintf("CREATE VIEW %s AS\n%s", v.Name, v.SQL)
	}
	var names []string
	for _, p := range v.Parameters {
		names = append(names, p.Name)
	}
	return fmt.Sprintf("CREATE MACRO %s(%s) AS TABLE\n%s", v.Name, strings.Join(names, ", "), v.SQL)
}

// filesOf returns the paths of a table's committed files, quoted, and a relation of the
// rows that count for each file with experiments that do not.
func filesOf(store string, t *schema.Table, batches []storedir.Batch) (whole, parts []string) {
	for i := range batches {
		for _, f := range batches[i].Files {
			if f.Table != t.Name {
				continue
			}
			path, hidden := quote(literal.Replace(store+"/"+f.Path)), hiddenIn(t, &batches[i])
			switch len(hidden) {
			case 0:
				whole = append(whole, path)
			case len(batches[i].Experiments):
			default:
				parts = append(parts, part(t, path, &batches[i], hidden))
			}
		}
	}
	return whole, parts
}

// part returns a relation of the rows of a table that count of a batch with experiments
// that do not. What the experiments share stays, whoever was the first to have it. The
// first experiment may be that of another batch as well, which it does not stand for here.
func part(t *schema.Table, path string, b *storedir.Batch, hidden []string) string {
	columns := "*"
	if t.Has(schema.ListedIn) {
		columns = fmt.Sprintf("* REPLACE (%s AS %s)", quote("@"+b.Batch), schema.ListedIn)
	}
	rows := fmt.Sprintf("SELECT %s FROM read_parquet(%s)", columns, path)
	if t.Links == nil {
		rows += " WHERE " + counts(b, hidden)
	}
	return rows
}

// filesMacro returns the macro that lists a table's files.
func filesMacro(t *schema.Table, paths []string) string {
	return fmt.Sprintf("CREATE OR REPLACE MACRO %s() AS [%s]", filesName(t), strings.Join(paths, ", "))
}

func filesName(t *schema.Table) string { return t.Name + "_files" }

// rowsOf returns the relation of the rows of a table's view, empty if there are none, and
// whether it is as in a store with a file of every table.
func rowsOf(store string, t *schema.Table, batches []storedir.Batch) (rows string, usual bool) {
	whole, parts := filesOf(store, t, batches)
	rows, usual = allRows(t, whole, parts), len(parts) == 0 && len(whole) > 0
	if t.Links == nil {
		return rows, usual
	}
	links, also := rowsOf(store, t.Links, batches)
	if rows == "" || links == "" {
		return "", false
	}
	var columns []string
	for _, c := range t.Shown() {
		columns = append(columns, identifier(c.Name))
	}
	return fmt.Sprintf("(SELECT %s FROM %s JOIN %s USING (%s, listing))", strings.Join(columns, ", "), links, rows, schema.ListedIn), usual && also
}

// allRows returns the relation of a table's rows, empty if it has no file.
func allRows(t *schema.Table, whole, parts []string) string {
	if len(whole) > 0 {
		files := fmt.Sprintf("read_parquet(%s())", filesName(t))
		if len(parts) == 0 {
			return files
		}
		parts = append(parts, "FROM "+files)
	}
	if len(parts) == 0 {
		return ""
	}
	return "(" + strings.Join(parts, " UNION ALL ") + ")"
}

// tableView returns the view of a plain table: the rows of exactly the committed files,
// read with the first one's schema, which all share, and the columns computed from
// theirs. A table without rows is an empty relation with the table's columns. casts
// are formats, by the names of columns, for those that are not shown as they are stored.
func tableView(t *schema.Table, rows string, casts map[string]string) string {
	var columns []string
	for _, c := range t.Shown() {
		value := "t." + identifier(c.Name)
		switch {
		case rows == "":
			value = "NULL::" + c.Type.SQL()
		case t == schema.Experiments && c.Name == "experiment":
			value = "n.experiment"
		}
		value = fmt.Sprintf(cmp.Or(casts[c.Name], "%s"), value)
		columns = append(columns, value+" AS "+identifier(c.Name))
	}
	for _, c := range t.Computed {
		value := "NULL"
		if rows != "" {
			value = "(" + c.SQL + ")"
		}
		columns = append(columns, fmt.Sprintf("%s::%s AS %s", value, c.Type.SQL(), identifier(c.Name)))
	}
	from := "WHERE false"
	if rows != "" {
		from = strings.TrimSpace(fmt.Sprintf("FROM %s t %s", rows, t.Joined))
		if t == schema.Experiments {
			from += " JOIN experiment_names n USING (experiment_id)"
		}
	}
	return fmt.Sprintf("CREATE OR REPLACE VIEW %s AS SELECT %s %s", t.Name, strings.Join(columns, ", "), from)
}

// hiddenIn returns the experiments of a batch whose rows in a table do not count.
func hiddenIn(t *schema.Table, b *storedir.Batch) []string {
	if t.Summary || len(b.Summaries) == 0 {
		return b.Hidden
	}
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(b.Hidden, b.Summaries))))
}

// counts is the condition for the rows of a batch that readers see.
func counts(b *storedir.Batch, hidden []string) string {
	var ids []string
	for _, e := range b.Experiments {
		if _, found := slices.BinarySearch(hidden, e.ExperimentID); !found {
			ids = append(ids, e.ExperimentID)
		}
	}
	if len(ids) <= len(hidden) {
		return "experiment_id IN (" + Quote(ids...) + ")"
	}
	return "experiment_id NOT IN (" + Quote(hidden...) + ")"
}

// literal protects the characters that read_parquet takes for patterns.
var literal = strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]")

// namesView returns the view experiment_names, which gives every experiment
// its name for people.
func namesView(experiments []Experiment, casts map[string]string) string {
	id := cmp.Or(casts["experiment_id"], "%s")
	if len(experiments) == 0 {
		return fmt.Sprintf("CREATE OR REPLACE VIEW experiment_names AS SELECT "+id+" AS experiment_id, NULL::VARCHAR AS experiment WHERE false", "NULL::VARCHAR")
	}
	var rows []string
	for _, e := range experiments {
		rows = append(rows, fmt.Sprintf("(%s, %s)", quote(e.ExperimentID), quote(e.Name)))
	}
	return fmt.Sprintf("CREATE OR REPLACE VIEW experiment_names AS SELECT "+id+" AS experiment_id, experiment FROM (VALUES %s) AS n(experiment_id, experiment)", "experiment_id", strings.Join(rows, ", "))
}

// quote writes a text for SQL, in which a NUL would end the statement.
func quote(s string) string { return "'" + quoted.Replace(s) + "'" }

var quoted = strings.NewReplacer("'", "''", "\x00", "' || chr(0) || '")

func identifier(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
