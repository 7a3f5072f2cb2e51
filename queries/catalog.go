package queries

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"stackmill/internal/cachekey"
	"stackmill/schema"
	"stackmill/schema/storedir"
)

// catalogName is the name under which the catalog is attached; its file is
// stackmill.duckdb, so that it is the same when another program opens that.
const catalogName = "stackmill"

// definitions say what a store's catalog has. Its views are the same for every store:
// they read macros, which list the store's files, and tables, which name its experiments.
type definitions struct {
	store       string
	portions    []*portion
	experiments []Experiment
	as          form
	fingerprint string // of all that a catalog defines of columns as they are stored
}

// form is another one than that in which columns are stored.
type form struct {
	types []string          // statements that make types
	casts map[string]string // formats that cast columns, by their names
}

// cast writes a value of a column in the form.
func (f form) cast(column, value string) string {
	return fmt.Sprintf(cmp.Or(f.casts[column], "%s"), value)
}

// define returns the definitions for a store with these batches and experiments. store is
// an absolute path.
func define(store string, batches []storedir.Batch, experiments []Experiment) *definitions {
	return defineAs(store, batches, experiments, form{})
}

// defineAs is define with columns in another form.
func defineAs(store string, batches []storedir.Batch, experiments []Experiment, as form) *definitions {
	d := &definitions{store: store, portions: portions(batches), experiments: experiments, as: as}
	h := xxhash.New()
	note(h, store, strconv.FormatUint(same(), 16))
	for _, p := range d.portions {
		note(h, fmt.Sprint("portion", len(p.batches)))
		for _, b := range p.batches {
			note(h, strconv.Itoa(len(b.Files)))
			for _, f := range b.Files {
				note(h, f.Table, f.Path)
			}
		}
		for x := nothing; x <= everything; x++ {
			note(h, cachekey.Of(p.experiments(func(of extent) bool { return of == x })))
		}
	}
	for _, t := range storeTables {
		note(h, t.name, t.columns(as))
		var text []byte
		t.rows(d, func(values ...any) {
			text = noteRow(text[:0], values)
			_, _ = h.Write(text) // it cannot fail
		})
	}
	d.fingerprint = fmt.Sprintf("%s-%016x", schema.StoreVersion, h.Sum64())
	return d
}

// note adds texts to a hash.
func note(h *xxhash.Digest, texts ...string) {
	var size [20]byte
	for _, s := range texts {
		_, _ = h.Write(append(strconv.AppendInt(size[:0], int64(len(s)), 10), ' ')) // it cannot fail
		_, _ = h.WriteString(s)
	}
}

// noteRow appends a row of a table of the catalog to a text for a hash: of many experiments
// that takes less time than package fmt.
func noteRow(text []byte, values []any) []byte {
	for _, v := range values {
		switch v := v.(type) {
		case string:
			text = append(append(strconv.AppendInt(text, int64(len(v)), 10), ' '), v...)
		case time.Time:
			text = strconv.AppendInt(text, v.UnixMicro(), 10)
		default:
			text = fmt.Append(text, v)
		}
		text = append(text, ',')
	}
	return append(text, '\n')
}

// all returns what makes a catalog out of nothing: one of an empty store, so that the
// engine opens no file when it looks at the views, and what this one changes. The rows of
// the catalog's tables come after.
func (d *definitions) all() ([]string, error) {
	nothing := &definitions{as: d.as}
	always, err := d.always()
	return slices.Concat(d.as.types, nothing.changes(""), always, d.changes("")), err
}

// changes returns what makes a catalog out of that of another store: macros are only looked at
// when they are used. If kind is TEMP, they are one connection's, and hide the catalog's.
func (d *definitions) changes(kind string) []string {
	var statements []string
	for _, t := range storeTables {
		statements = append(statements, fmt.Sprintf("CREATE OR REPLACE %s TABLE %s AS SELECT %s LIMIT 0", kind, t.name, t.columns(d.as)))
	}
	for _, t := range schema.Tables {
		statements = append(statements, fmt.Sprintf("CREATE OR REPLACE %s MACRO %s", kind, rowsMacro(d.store, t, d.portions)))
	}
	return statements
}

// always returns the statements that make what is the same for every store: the views.
func (d *definitions) always() ([]string, error) {
	statements := []string{pathPart, functionKey, byMode, byModeAndInlined}
	for _, t := range schema.Tables {
		statements = append(statements, tableView(t, d.as))
		if t.Wide() != "" {
			statements = append(statements, wideView(t, d.as))
		}
	}
	views, err := derived()
	return append(statements, views...), err
}

// derived are the statements that make the views of this package.
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
		return lateView(v.Name, v.SQL)
	}
	return fmt.Sprintf("CREATE MACRO %s(%s) AS TABLE\n%s", v.Name, v.parameters(" := "), v.SQL)
}

// parameters lists the parameters, each that need not be given with its default after the
// sign.
func (v View) parameters(sign string) string {
	list := make([]string, len(v.Parameters))
	for i, p := range v.Parameters {
		if list[i] = p.Name; p.Default != "" {
			list[i] += sign + p.Default
		}
	}
	return strings.Join(list, ", ")
}

// rowsName is the name of the macro that gives a table's rows as they are stored.
func rowsName(t *schema.Table) string { return t.Name + "_rows" }

// tableView returns the view of a table: the rows of its files. Commits say more of experiments.
func tableView(t *schema.Table, as form) string {
	columns, more := make([]string, len(t.Columns)), ""
	for i, c := range t.Columns {
		value := value(c)
		switch {
		case t != schema.Experiments:
		case c.Name == "experiment":
			value = "n.experiment"
		case c.Name == "status":
			value = "IF(n.summary, " + quote(storedir.Summary) + ", t.status)"
		}
		columns[i] = as.cast(c.Name, value) + " AS " + identifier(c.Name)
	}
	if t.Committed != nil {
		columns, more = append(columns, computed(t.Committed)...), " JOIN experiment_names n USING (experiment_id)"
	}
	return lateView(t.Name, fmt.Sprintf("SELECT %s FROM %s() t%s", strings.Join(columns, ", "), rowsName(t), more))
}

// wideView returns the view of a table's rows with the identifiers and names that their numbers refer to.
func wideView(t *schema.Table, as form) string {
	var columns []string
	for _, c := range t.Shown() {
		columns = append(columns, as.cast(c.Name, value(c))+" AS "+identifier(c.Name))
	}
	rows := rowsName(t) + "()"
	if t.Links != nil {
		rows = fmt.Sprintf("(FROM %s() JOIN %s USING (%s, listing))", rowsName(t.Links), rows, schema.ListedIn)
	}
	from := strings.TrimSpace(fmt.Sprintf("FROM %s t %s", rows, t.Joined))
	return lateView(t.Wide(), "SELECT "+strings.Join(append(columns, computed(t.Computed)...), ", ")+" "+from)
}

// computed are columns of a view that SQL computes.
func computed(columns []schema.Computed) []string {
	list := make([]string, len(columns))
	for i, c := range columns {
		list[i] = fmt.Sprintf("(%s)::%s AS %s", c.SQL, c.Type.SQL(), identifier(c.Name))
	}
	return list
}

// lateView returns the statement that makes a view whose query is kept as a text, which the
// engine parses when the view is used: else it takes all views apart whenever it opens a
// catalog.
func lateView(name, query string) string {
	return fmt.Sprintf("CREATE VIEW %s AS FROM query(%s)", name, quote(query))
}

// lateMacro returns what follows CREATE MACRO for a macro of a query that is kept as a text.
// It has a parameter so that the engine does not look at the query's files yet. The text must
// not be one itself: SQL of others could give another, which Admit would not see.
func lateMacro(name, query string) string {
	return fmt.Sprintf("%s(used := true) AS TABLE FROM query(IF(used IS NULL, '', %s))", name, quote(query))
}

// quote writes a text for SQL, in which a NUL would end the statement.
func quote(s string) string { return "'" + quoted.Replace(s) + "'" }

var quoted = strings.NewReplacer("'", "''", "\x00", "' || chr(0) || '")

func identifier(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// value is the SQL of the value that a row t of a table's files has in a column.
func value(c schema.Column) string { return "t." + identifier(c.Name) }
