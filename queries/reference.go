package queries

import (
	"fmt"
	"slices"
	"strings"

	"stackmill/schema"
)

//go:generate go run -tags duckdb_arrow ./docgen ../docs .

// TablesPage returns docs/tables.md: every table of the schema.
func TablesPage() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Tables

The store's format is version %s. Each table is a set of Parquet files,
`+"`tables/<table>/<batch>.parquet`"+`, one for each batch (one large experiment or many small ones) that has
rows of it; `+"`commits/<batch>.json`"+` names them ([the store](store.md)). Files are
compressed with zstd, their footers carry the version as `+"`stackmill.store_version`"+`.
All columns are flat, none is unsigned. A value is never missing unless its column says
so: what a recording lacks is 0 or empty. A table's key tells its rows apart. Tables refer to
others by numbers; views named `+"`<table>_wide`"+` have the identifiers and names that these stand for.

**Any engine reads the files**: the rows of a table are the rows of its files. Two things are said
by commits alone, which the views of `+"`stackmill.duckdb`"+` consider: which files and rows count,
since replaced ones stay for a while ([the store](store.md#reading-the-files-with-other-engines)), and
`+"`experiments`"+` has in its view where a recording was and when it was put into the store.

A row of a table with the columns `+"`in_user`, `in_expert` and `in_machine`"+` holds in each mode whose column is
true; those with `+"`_inlined`"+` are the same modes with inlined functions as frames of their own. A sum needs one
of them as its condition: `+"`SELECT sum(exclusive) FROM function_values WHERE in_user AND metric = 'totalcpu'`"+`.

This page is made from the declarations in `+"`schema/`"+` by `+"`make docs`"+`.
`, schema.StoreVersion)
	for _, t := range schema.Tables {
		fmt.Fprintf(&b, "\n## %s\n\nA row is %s.%s\n\n| column | type | unit | encoding | meaning |\n| --- | --- | --- | --- | --- |\n", t.Name, html(t.Row), keySentence(t))
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

// sharedSentence says which experiments share the rows of a table, empty if none do.
func sharedSentence(t *schema.Table) string {
	if t.Links == nil {
		return ""
	}
	var own []string
	for _, c := range t.Owner() {
		own = append(own, c.Name)
	}
	return fmt.Sprintf("\nThe experiments of a batch share these rows. The view `%s` has them once for each row of the batch's `%s`\n"+
		"with the same `listed_in` and `listing`, with its `%s` in place of the two.\n", t.Wide(), t.Links.Name, strings.Join(own, "`, `"))
}

// wideTable lists the further columns of a table's wide view, if it has one.
func wideTable(t *schema.Table) string {
	if t.Computed == nil {
		return ""
	}
	s := fmt.Sprintf("\nThe view `%s` also has\n\n| column | type | meaning |\n| --- | --- | --- |\n", t.Wide())
	for _, c := range t.Computed {
		s += fmt.Sprintf("| `%s` | %s | %s |\n", c.Name, c.Type.SQL(), html(c.Doc))
	}
	return s
}

func keySentence(t *schema.Table) string {
	if len(t.Key) == 0 {
		return ""
	}
	return " Key: `" + strings.Join(t.Key, "`, `") + "`."
}

// ViewsPage returns docs/views.md: every view, with its invariants.
func ViewsPage() (string, error) {
	views, err := Views()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(`# Views

The catalog ` + "`stackmill.duckdb`" + ` holds these views and, under its own name, each of
the [tables](tables.md). It may be deleted at any time: it is made anew when it is
missing or old. ` + "`experiments.experiment`" + ` is unique there: the recording's name after
as many of its parent directories as that takes.

A condition ` + "`experiment_id = '...'`" + ` restricts what is read of every table to that
experiment's rows, however many others there are. One on ` + "`experiment`" + `, the name, gives the
same rows; views of stacks and trees, and of source and code, read all experiments then, which
takes seconds among a thousand; the verb query tells the identifier then.

Values are in the metric's base unit: ns, bytes or count. A view with the columns ` + "`mode`" + ` and
` + "`metric`" + ` has each value once for each mode, beside those of other metrics: without a
condition on both, or grouping by them, a sum is three times too large and adds
nanoseconds to bytes. ` + "`stackmill query`" + ` warns of that. Macros take the mode and the
metric as parameters, ` + "`user`" + ` and the experiment's first unless they are given. The file
describes itself: ` + "`duckdb_views()`" + ` and ` + "`duckdb_columns()`" + ` have these texts as comments.

An invariant is a query
that returns no rows; ` + "`stackmill check`" + ` runs them all. Rules such as S15 are the
manual's, as [this program applies them](semantics.md).

This page is made from the headers of ` + "`queries/*.sql`" + ` by ` + "`make docs`" + `.
`)
	// What people ask for first, then the views that these are made of.
	slices.SortStableFunc(views, func(a, b View) int { return b.about() - a.about() })
	for _, v := range views {
		writeView(&b, v)
	}
	return b.String(), nil
}

// about is 1 for views made for people, which name the experiment, and 0 for others.
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
		fmt.Fprintf(b, "\nIt is a macro, `%s(%s)`:\n\n", v.Name, v.parameters(" := "))
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

// html escapes angle brackets outside of back quotes, which would be tags, and bars, which would
// end a cell.
func html(s string) string {
	parts := strings.Split(s, "`")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = strings.ReplaceAll(parts[i], "<", "&lt;")
	}
	return strings.ReplaceAll(strings.Join(parts, "`"), "|", "\\|")
}
