package queries

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"stackmill/schema"
)

//go:generate go run -tags duckdb_arrow ../cmd/docgen ../docs .

// TablesPage returns the text of docs/tables.md, which describes every table of the schema.
func TablesPage() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Tables

The store's format is version %s. Each table is a set of Parquet files,
`+"`tables/<table>/<batch>.parquet`"+`: each batch (one large experiment or many small ones) has a file of each
table of which it has rows. `+"`commits/<batch>.json`"+` names the batch's files ([the store](store.md)). Files are
compressed with zstd, and their footers contain the version as `+"`stackmill.store_version`"+`.
No column is nested, and none is unsigned. Only columns that say so may be missing (NULL); in others, a value
that the recording lacks is 0 or empty. A table's key identifies its rows. Tables refer to
each other by numbers; the views named `+"`<table>_wide`"+` add the identifiers and names.

**Any engine can read the files**: the rows of a table are the rows of its files. Two things are only in
commits: which files and rows are valid, because replaced files stay for a while
([the store](store.md#reading-the-files-with-other-engines)), and where each recording was, when it was
ingested, and [when it was made](store.md#when-a-recording-was-made) if it does not tell. The views of `+"`stackmill.duckdb`"+` take the first into account, and the view `+"`experiments`"+` shows the second.

In a table with the columns `+"`in_user`, `in_expert` and `in_machine`"+`, a row belongs to each mode whose column is
true. Columns ending in `+"`_inlined`"+` are for the same modes, with inlined functions as frames of their own. Filter on
one of these columns before summing: `+"`SELECT sum(exclusive) FROM function_values WHERE in_user AND metric = 'totalcpu'`"+`.

This page is generated from the declarations in `+"`schema/`"+` by `+"`make docs`"+`.
`, schema.StoreVersion)
	for _, t := range schema.Tables {
		key := ""
		if len(t.Key) > 0 {
			key = " Key: `" + strings.Join(t.Key, "`, `") + "`."
		}
		fmt.Fprintf(&b, "\n## %s\n\nA row is %s.%s\n\n| column | type | unit | encoding | meaning |\n| --- | --- | --- | --- | --- |\n", t.Name, html(t.Row), key)
		for _, c := range t.Columns {
			doc := c.Doc
			if c.Null {
				doc += " May be missing."
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", c.Name, c.Type.SQL(), c.Unit, c.Encoding, html(doc))
		}
		for _, c := range t.Committed {
			fmt.Fprintf(&b, "| `%s` | %s | | in commits | %s |\n", c.Name, c.Type.SQL(), html(c.Doc))
		}
		b.WriteString(sharedSentence(t))
		b.WriteString(wideTable(t))
	}
	return b.String()
}

// sharedSentence returns the sentence about which experiments share the rows of a table; "" if none
// do.
func sharedSentence(t *schema.Table) string {
	if t.Links == nil {
		return ""
	}
	var own []string
	for _, c := range t.Owner() {
		own = append(own, c.Name)
	}
	return fmt.Sprintf("\nThe experiments of a batch share these rows. The view `%s` joins them to the rows of `%s`\n"+
		"with the same `listed_in` and `listing`, and has the columns `%s` of that table in place of these two.\n", t.Wide(), t.Links.Name, strings.Join(own, "`, `"))
}

// wideTable returns the list of the columns that a table's wide view adds; "" if it has none.
func wideTable(t *schema.Table) string {
	if t.Computed == nil {
		return ""
	}
	s := fmt.Sprintf("\nThe view `%s` also has these columns:\n\n| column | type | meaning |\n| --- | --- | --- |\n", t.Wide())
	for _, c := range t.Computed {
		s += fmt.Sprintf("| `%s` | %s | %s |\n", c.Name, c.Type.SQL(), html(c.Doc))
	}
	return s
}

// ViewsPage returns the text of docs/views.md, which describes every view and its invariants.
func ViewsPage() (string, error) {
	views, err := Views()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(`# Views

The catalog ` + "`stackmill.duckdb`" + ` is a DuckDB file with these views and, under its own name, each of
the [tables](tables.md). It may be deleted at any time: it is rebuilt when it is
missing or stale. ` + "`experiments.experiment`" + ` is the name of the recording, preceded by as many of its
parent directories as make the name unique.

With a condition ` + "`experiment_id = '...'`" + `, the engine reads only that experiment's rows, however many
experiments the store has. A condition on the name (` + "`experiment`" + `) gives the same rows, but is slower:
views of stacks, trees, source and code then read all experiments, which takes seconds in a store of a
thousand. ` + "`stackmill query`" + ` adds the condition on ` + "`experiment_id`" + ` to SQL that has one on ` + "`experiment`" + `.

Values are in the metric's base unit: ns, bytes or count. A view with the columns ` + "`mode`" + ` and
` + "`metric`" + ` repeats each value for each mode, and has rows of all metrics. Filter on both columns, or group
by them, before you sum: otherwise sums are three times too large and add nanoseconds to bytes.
` + "`stackmill query`" + ` warns of that. Macros take the mode and the metric as parameters, by default ` + "`user`" + ` and
the experiment's default metric. The catalog describes itself: ` + "`duckdb_views()`" + ` and
` + "`duckdb_columns()`" + ` return the texts of this page as comments.

An invariant is a query that must return no rows; ` + "`stackmill check`" + ` runs the invariants of all views.
Rules such as S15 are those of the Performance Analyzer's manual, as [this program applies them](semantics.md).

This page is generated from the headers of ` + "`queries/*.sql`" + ` by ` + "`make docs`" + `.
`)
	// Views made for people come first, then the views that they are built from.
	slices.SortStableFunc(views, func(a, b View) int { return b.about() - a.about() })
	for _, v := range views {
		writeView(&b, v)
	}
	return b.String(), nil
}

// about returns 1 for views made for people, which are those with the experiment's name, and 0 for
// others.
func (v View) about() int {
	if slices.ContainsFunc(v.Columns, func(c Column) bool { return c.Name == "experiment" }) {
		return 1
	}
	return 0
}

func writeView(b *strings.Builder, v View) {
	fmt.Fprintf(b, "\n## %s\n\nA row is %s.", v.Name, html(v.Row))
	if v.Rules != nil {
		fmt.Fprintf(b, " Rules: %s.", strings.Join(v.Rules, ", "))
	}
	b.WriteString("\n")
	if len(v.Parameters) > 0 {
		fmt.Fprintf(b, "\nThis view is a macro, `%s(%s)`:\n\n", v.Name, v.parameters(" := "))
	}
	for _, p := range v.Parameters {
		fmt.Fprintf(b, "- `%s` (%s): %s\n", p.Name, p.Type, html(withUnit(p.Unit, p.Doc)))
	}
	b.WriteString("\n| column | type | unit | meaning |\n| --- | --- | --- | --- |\n")
	for _, c := range v.Columns {
		fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", c.Name, c.Type, c.Unit, html(c.Doc))
	}
	if len(v.Invariants) > 0 {
		b.WriteString("\n")
	}
	for _, i := range v.Invariants {
		fmt.Fprintf(b, "- %s: %s\n", i.Name, html(i.Doc))
	}
}

// html escapes what Markdown would not show as it is: angle brackets outside of back quotes, and
// bars, which end a cell of a table.
func html(s string) string {
	parts := strings.Split(s, "`")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = strings.ReplaceAll(parts[i], "<", "&lt;")
	}
	return strings.ReplaceAll(strings.Join(parts, "`"), "|", "\\|")
}

// repeated is a warning, in the description of views that have rows of several modes and metrics.
const repeated = " Each value is repeated for each mode, and metrics have different units: filter on mode and metric, or group by them, before summing. Otherwise sums are three times too large and mix units."

// comments returns the statements that describe tables, views and their columns in a catalog's
// file, for any tool that shows them. Catalogs in memory have no comments, because only this
// program reads them, and making comments takes a quarter of the time of making the views.
var comments = sync.OnceValues(func() (statements []string, err error) {
	for _, r := range Relations() {
		statements = append(statements, commentOn("VIEW "+r.Name, "A row is "+r.Row+"."))
		for _, c := range r.Columns {
			statements = append(statements, commentOn("COLUMN "+r.Name+"."+identifier(c.Name), withUnit(c.Unit, c.Doc)))
		}
	}
	views, err := Views()
	for _, v := range views {
		statements = append(statements, v.comments()...)
	}
	return statements, err
})

// comments returns the statements that describe the view and its columns. A macro's columns cannot
// be described.
func (v View) comments() []string {
	text := "A row is " + v.Row + "."
	if v.Repeats() {
		text += repeated
	}
	if len(v.Parameters) > 0 {
		return []string{commentOn("MACRO TABLE "+v.Name, text)}
	}
	statements := []string{commentOn("VIEW "+v.Name, text)}
	for _, c := range v.Columns {
		statements = append(statements, commentOn("COLUMN "+v.Name+"."+identifier(c.Name), withUnit(c.Unit, c.Doc)))
	}
	return statements
}

func commentOn(on, text string) string {
	return "COMMENT ON " + on + " IS " + quote(strings.ReplaceAll(text, "`", ""))
}

func withUnit(unit, doc string) string {
	if unit == "" {
		return doc
	}
	return doc + " [" + unit + "]"
}

// Repeats reports whether the view repeats each value for each mode and mixes metrics, so that a
// sum over all rows is meaningless. It returns false for a macro that has a parameter for the mode.
func (v View) Repeats() bool {
	has := func(name string) func(Column) bool { return func(c Column) bool { return c.Name == name } }
	return slices.ContainsFunc(v.Columns, has("mode")) && slices.ContainsFunc(v.Columns, has("metric")) &&
		!slices.ContainsFunc(v.Parameters, has("in_mode"))
}
