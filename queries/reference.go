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
so: what a recording lacks is 0 or empty. A table's key tells its rows apart. Columns
that are computed are in no file: the catalog's view of the table makes them.

**Values are to be read from the views, not from the files.** Each table is a view of its
name in `+"`stackmill.duckdb`"+`. A sum over files is wrong without a word: they have rows of
experiments that do not count any more, a row there holds for all modes in its `+"`modes`"+`, and
they leave out what follows from others, which is said below each table. The view has -1 as
`+"`exclusive`"+` in no row: files have that where it is `+"`inclusive`"+` or `+"`attributed`"+`. They have
`+"`locations.instruction`"+` as the distance from `+"`offset`"+`, and `+"`call_values.other_no`"+` as that from
`+"`function_no`"+`.

Files leave out rows for which other rows with the same values stand, in the modes that
these hold for. Which these are is in further bits of the other rows' `+"`modes`"+`, which views do not show:

| in | bit | stands for the row |
| --- | ---: | --- |
| `+"`call_values`"+` | %d | of a caller's row: of the callee, with the same value |
| `+"`line_values`"+` | %d | in `+"`source_values`"+`: no other function has code on the line |
| `+"`function_values`"+` | %d | in `+"`module_values`"+`: it is the module's only function |
| | %d | in `+"`pc_values`"+`, of its only location |
| | %d | of itself in `+"`call_values`"+`, with its exclusive value |
| | %d | in `+"`line_values`"+`: all its code, by `+"`locations`"+` and `+"`inline_frames`"+`, is on one line |
| | %d | in `+"`source_values`"+`, of that line |

In the modes that `+"`call_nodes.alone`"+` names, the row of its function in `+"`function_values`"+` stands
for the node's in `+"`tree_values`"+`, and for two of `+"`call_values`"+` with the function's inclusive value: of
the function's caller, and of that for its callee.

This page is made from the declarations in `+"`schema/`"+` by `+"`make docs`"+`.
`, schema.StoreVersion, schema.ForCallee, schema.ForSource, schema.ForModule, schema.ForPC, schema.ForSelf, schema.ForLine, schema.ForLineSource)
	for _, t := range schema.Tables {
		fmt.Fprintf(&b, "\n## %s\n\nA row is %s.%s\n\n| column | type | unit | encoding | meaning |\n| --- | --- | --- | --- | --- |\n", t.Name, html(t.Row), keySentence(t))
		for _, c := range t.Columns {
			doc := c.Doc
			if c.Null {
				doc += " May be missing."
			}
			if slices.Contains(t.FileOnly, c.Name) {
				doc += " Only files have it."
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", c.Name, c.Type.SQL(), c.Unit, c.Encoding, html(doc))
		}
		for _, c := range t.Computed {
			fmt.Fprintf(&b, "| `%s` | %s | | computed | %s |\n", c.Name, c.Type.SQL(), html(c.Doc))
		}
		b.WriteString(sharedSentence(t))
		b.WriteString(storedSentence(t))
		b.WriteString(factsSentence(t))
	}
	return b.String()
}

// storedSentence says what the files of a table of values have otherwise than its view, empty
// if that is nothing.
func storedSentence(t *schema.Table) string {
	if !t.Has("modes") {
		return ""
	}
	s := "\nOf the files: a row holds for all modes in `modes`"
	if t.StandsForOthers() {
		s += fmt.Sprintf(", of which the bits from %d on say for which other rows it stands", schema.ForCallee)
	}
	if t.Implied != "" {
		s += "; **rows are left out for which others stand, so that sums are too small**"
	}
	return s + ". The view has all rows and values.\n"
}

// sharedSentence says which experiments have the rows of a table, empty if each row is of
// one.
func sharedSentence(t *schema.Table) string {
	if t.Links == nil {
		return ""
	}
	var own []string
	for _, c := range t.Owner() {
		own = append(own, c.Name)
	}
	return fmt.Sprintf("\nThe experiments of a batch share these rows. The view has them once for each row of the batch's `%s`\n"+
		"with the same `listed_in` and `listing`, with its `%s` in place of the two.\n", t.Links.Name, strings.Join(own, "`, `"))
}

// factsSentence says where files have the columns of a table, empty if all are in its own.
func factsSentence(t *schema.Table) string {
	if t.Facts == nil {
		return ""
	}
	var own []string
	for _, c := range t.Own.Columns {
		own = append(own, c.Name)
	}
	return fmt.Sprintf("\nFiles of `%s` have `%s`. The other columns are in those of `%s`,\n"+
		"which have each distinct row of a batch once: a row has the facts with the same `listed_in` and `fact`\nin the same batch.\n",
		t.Name, strings.Join(own, "`, `"), t.Facts.Name)
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
	// What people ask for first, then what those views are made of.
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

// html escapes angle brackets outside back quotes, which would be tags, and bars,
// which would end a cell.
func html(s string) string {
	parts := strings.Split(s, "`")
	for i := 0; i < len(parts); i += 2 {
		parts[i] = strings.ReplaceAll(parts[i], "<", "&lt;")
	}
	return strings.ReplaceAll(strings.Join(parts, "`"), "|", "\\|")
}
