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

// catalogName is the name under which the catalog is attached. Other programs that open the file
// stackmill.duckdb give it the same name.
const catalogName = "stackmill"

// definitions is the content of a store's catalog. The views are the same for all stores. They read
// macros, which list the store's files, and tables, which describe its experiments.
type definitions struct {
	store       string
	portions    []*portion
	experiments []Experiment
	as          columnForm
	fingerprint string // a hash of the catalog's content, with columns as they are stored
}

// columnForm changes the types of columns in the views.
type columnForm struct {
	types []string          // statements that make types
	casts map[string]string // formats that cast columns, by column name
}

func (f columnForm) cast(column, value string) string {
	return fmt.Sprintf(cmp.Or(f.casts[column], "%s"), value)
}

// define returns the definitions for a store with these batches and experiments. `as` is the form
// of the columns. store is an absolute path.
func define(store string, batches []storedir.Batch, experiments []Experiment, as columnForm) *definitions {
	d := &definitions{store: store, portions: portions(batches), experiments: experiments, as: as}
	h := xxhash.New()
	note(h, store, strconv.FormatUint(same(), 16))
	for _, p := range d.portions {
		note(h, fmt.Sprint("portion", len(p.batches))) // the portion's files are in a table
		for x := nothing; x <= everything; x++ {
			note(h, cachekey.Of(p.experiments(func(of visibility) bool { return of == x })))
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

// noteRow appends a row of a catalog's table to text, which is then hashed. Package fmt would take
// longer, which matters with many experiments.
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

// all returns the statements that make a catalog from nothing. They first make the catalog of an
// empty store, because the engine checks the views and would open the files of others; then the
// changes. The rows of the catalog's tables are added later (fill).
func (d *definitions) all() ([]string, error) {
	nothing := &definitions{as: d.as}
	always, err := d.always()
	return slices.Concat(d.as.types, nothing.changes(""), always, d.changes("")), err
}

// changes returns the statements that turn the catalog of another store into this one. The views
// need not change: they refer to macros by name, which the engine resolves when they are used. With
// kind TEMP, the changes are visible to one connection only, and hide the catalog's definitions
// there.
func (d *definitions) changes(kind string) []string {
	var statements []string
	for _, t := range storeTables {
		statements = append(statements, fmt.Sprintf("CREATE OR REPLACE %s TABLE %s AS SELECT %s LIMIT 0", kind, t.name, t.columns(d.as)))
	}
	for _, t := range schema.Tables {
		statements = append(statements, fmt.Sprintf("CREATE OR REPLACE %s MACRO %s", kind, textMacro(rowsName(t), rowsQuery(d.store, t, d.portions))))
	}
	for _, t := range unfiltered {
		statements = append(statements, fmt.Sprintf("CREATE OR REPLACE %s MACRO %s", kind, textMacro(t.Name+"_unfiltered_rows", rowsQuery(d.store, t, d.portions))))
	}
	return statements
}

// always returns the statements that are the same for all stores: general macros and the views.
func (d *definitions) always() ([]string, error) {
	statements := []string{pathPart, functionKey, byMode, byModeAndInlined, waitState}
	for _, t := range schema.Tables {
		statements = append(statements, tableView(t, d.as))
		if t.Wide() != "" {
			statements = append(statements, wideView(t, d.as))
		}
	}
	views, err := derived()
	return append(statements, views...), err
}

// derived returns the statements that make the views of the .sql files.
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
		return textView(v.Name, v.SQL)
	}
	return fmt.Sprintf("CREATE MACRO %s(%s) AS TABLE\n%s", v.Name, v.parameters(" := "), v.SQL)
}

// parameters lists the parameters. Optional ones are followed by sign and their default.
func (v View) parameters(sign string) string {
	return strings.Join(mapped(v.Parameters, func(p Column) string {
		if p.Default == "" {
			return p.Name
		}
		return p.Name + sign + p.Default
	}), ", ")
}

// unfiltered lists the tables whose rows the macro TABLE_unfiltered_rows returns in filtered sessions, too, for
// views that pair samples before some of them are left out.
var unfiltered = []*schema.Table{schema.Samples, schema.PerfSamples, schema.EventFields}

// rowsName is the name of the macro that returns a table's stored rows.
func rowsName(t *schema.Table) string { return t.Name + "_rows" }

// tableView returns the view of a table: the rows of its files. In the view of experiments, some
// columns come from the commits.
func tableView(t *schema.Table, as columnForm) string {
	columns, more := make([]string, len(t.Columns)), ""
	for i, c := range t.Columns {
		value := value(c)
		switch {
		case t != schema.Experiments:
		case c.Name == "experiment":
			value = "n.experiment"
		case c.Name == "started":
			value = schema.Started
		case c.Name == "status":
			value = "IF(n.summary, " + quote(storedir.Summary) + ", t.status)"
		}
		columns[i] = as.cast(c.Name, value) + " AS " + identifier(c.Name)
	}
	if t.Committed != nil {
		columns, more = append(columns, computed(t.Committed)...), " JOIN experiment_names n USING (experiment_id)"
	}
	return textView(t.Name, fmt.Sprintf("SELECT %s FROM %s() t%s", strings.Join(columns, ", "), rowsName(t), more))
}

// wideView returns the wide view of a table, which adds the ids and names that its numbers refer
// to.
func wideView(t *schema.Table, as columnForm) string {
	columns := mapped(t.Shown(), func(c schema.Column) string { return as.cast(c.Name, value(c)) + " AS " + identifier(c.Name) })
	rows := rowsName(t) + "()"
	if t.Links != nil {
		rows = fmt.Sprintf("(FROM %s() JOIN %s USING (%s, listing))", rowsName(t.Links), rows, schema.ListedIn)
	}
	from := strings.TrimSpace(fmt.Sprintf("FROM %s t %s", rows, t.Joined))
	return textView(t.Wide(), "SELECT "+strings.Join(append(columns, computed(t.Computed)...), ", ")+" "+from)
}

// computed lists the columns of a view that SQL computes.
func computed(columns []schema.DerivedColumn) []string {
	return mapped(columns, func(c schema.DerivedColumn) string {
		return fmt.Sprintf("(%s)::%s AS %s", c.SQL, c.Type.SQL(), identifier(c.Name))
	})
}

// textView returns the statement that makes a view whose query is stored as a text. The engine
// parses the text only when the view is used, but other views each time that it opens the catalog.
func textView(name, query string) string {
	return fmt.Sprintf("CREATE VIEW %s AS FROM query(%s)", name, quote(query))
}

// textMacro returns what follows CREATE MACRO for a macro whose query is stored as a text. Because
// of the parameter, the engine does not open the query's files when it makes the macro. The text
// itself must not be the parameter: foreign SQL could pass another one, which Admit would not see.
func textMacro(name, query string) string {
	return fmt.Sprintf("%s(used := true) AS TABLE FROM query(IF(used IS NULL, '', %s))", name, quote(query))
}

// quote writes a text as SQL. It writes NUL as chr(0), because NUL would end the statement.
func quote(s string) string { return "'" + quoted.Replace(s) + "'" }

var quoted = strings.NewReplacer("'", "''", "\x00", "' || chr(0) || '")

func identifier(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

// value is the SQL of a column in a row t of a table's files.
func value(c schema.Column) string { return "t." + identifier(c.Name) }

// pathPart makes the macro path_part(id, place), a hash of 63 bits. The identifier of a path is the
// sum of path_part over its frames, modulo 2^63. So the identifiers of all paths in a tree are
// running sums over its nodes. The hash must not be linear in place or id, or paths with recursion
// would have equal sums. The product of two numbers of 63 bits fits in 128 bits.
//
// Each of the three steps needs its input twice, so it is a lambda, which names the input.
// Otherwise each step would double what the engine has to plan for each view with identifiers.
const pathPart = `CREATE OR REPLACE MACRO path_part(id, place) AS list_transform(list_transform(list_transform(
	[(id::HUGEINT + place::HUGEINT * 7046029254386353131) & 9223372036854775807],
	lambda n: xor(n, n >> 31) * 4354685564936845355::HUGEINT & 9223372036854775807),
	lambda n: xor(n, n >> 29) * 3202034522624059733::HUGEINT & 9223372036854775807),
	lambda n: xor(n, n >> 32))[1]::BIGINT`

// functionKey makes the macro that computes function_rollup.function_key, as package rollup does.
// Its arguments are functions.name_scope, function_id, the short paths of load object and module,
// and names.
const functionKey = `CREATE OR REPLACE MACRO function_key(scope, id, load_object, module, linkage, name) AS
	CASE WHEN scope = 'build' THEN id
	ELSE (('0x' || left(md5(concat(load_object, chr(9), CASE WHEN scope <> 'object' THEN module END, chr(9), COALESCE(NULLIF(linkage, ''), name))), 16))::UBIGINT >> 1)::BIGINT END`

// waitState makes the macro that converts wait_samples.state to the texts of thread_states.state.
var waitState = "CREATE OR REPLACE MACRO wait_state(state) AS [" + Quote(append(schema.StateNames, "blocked")...) + "][state + 1]"

// byMode makes the macro that returns the value of a mode; NULL for an unknown mode. In
// byModeAndInlined, `inlined` chooses the values with inlined functions as frames of their own.
const (
	byMode = `CREATE OR REPLACE MACRO by_mode(mode, in_user, in_expert, in_machine) AS
	CASE mode WHEN 'user' THEN in_user WHEN 'expert' THEN in_expert WHEN 'machine' THEN in_machine END`
	byModeAndInlined = `CREATE OR REPLACE MACRO by_mode_and_inlined(mode, inlined, in_user, in_expert, in_machine, in_user_inlined, in_expert_inlined, in_machine_inlined) AS
	CASE WHEN inlined THEN by_mode(mode, in_user_inlined, in_expert_inlined, in_machine_inlined) ELSE by_mode(mode, in_user, in_expert, in_machine) END`
)
