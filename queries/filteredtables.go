package queries

import (
	"slices"
	"strings"
	"unicode"

	"stackmill/internal/lazyregexp"
	"stackmill/queries/filter"
	"stackmill/schema"
)

// derivedTable is a table whose rows differ in a filtered session. make or rows returns SQL for
// them; if both are nil, package filter computes them.
type derivedTable struct {
	of    *schema.Table // the table of the store that it replaces
	needs []*schema.Table
	make  func(*filteredSession) string // returns the query of the table, if the session stores the table
	rows  func(*filteredSession) string // returns the query of its rows, if they follow from other tables
	// ofSamples says that the table depends on the samples only, not on which functions are hidden.
	ofSamples bool
}

// sampleValues is the name of the table with the values of the samples that pass.
const sampleValues = "sample_values"

// derivedTables lists the tables that differ, each after those that it needs.
var derivedTables = func() (list []derivedTable) {
	list = []derivedTable{
		{of: schema.StackValues, make: (*filteredSession).stackValues, ofSamples: true},
		{of: schema.UsageValues, make: (*filteredSession).usage, ofSamples: true},
		{of: schema.DataValues, make: (*filteredSession).data, ofSamples: true},
	}
	for _, t := range filter.ValueTables() {
		list = append(list, derivedTable{of: t})
	}
	return append(list,
		derivedTable{of: schema.FunctionRollup, needs: []*schema.Table{schema.FunctionValues}, rows: (*filteredSession).functionRollup},
		derivedTable{of: schema.FunctionSums, needs: []*schema.Table{schema.FunctionRollup}, rows: func(*filteredSession) string { return summed(rowsName(schema.FunctionRollup) + "()") }})
}()

// keeps reports whether the session can use the store's table as it is.
func (p *derivedTable) keeps(fs *filteredSession) bool { return p.ofSamples && !fs.filter.chooses() }

// need sets fs.needed: the given tables and views, the tables that these are computed from, and
// stack_values.
func (fs *filteredSession) need(read map[string]bool) {
	read[schema.StackValues.Name] = true
	for i := range slices.Backward(derivedTables) {
		if p := &derivedTables[i]; read[p.of.Name] {
			for _, t := range p.needs {
				read[t.Name] = true
			}
		}
	}
	fs.needed = read
}

func (fs *filteredSession) needs(t *schema.Table) bool { return fs.needed[t.Name] }

func (fs *filteredSession) needsSamples() bool {
	return fs.needed["sample_metrics"] || fs.needs(schema.UsageValues) || fs.needs(schema.DataValues)
}

var stackTables = []*schema.Table{schema.StackTree, schema.TreeFrames, schema.RecordedStacks, schema.InlineFrames}

// ReadsStacks reports whether views read functions on stacks, so that hiding functions changes
// them.
func ReadsStacks(views ...string) bool {
	read, err := readBy(views)
	return err != nil || slices.ContainsFunc(derivedTables, func(p derivedTable) bool { return !p.ofSamples && read[p.of.Name] }) ||
		slices.ContainsFunc(stackTables, func(t *schema.Table) bool { return read[t.Name] })
}

// readBy returns the tables and views that the named views read, directly or through other views;
// without names, all.
func readBy(names []string) (map[string]bool, error) {
	views, err := Views()
	if err != nil {
		return nil, err
	}
	read := map[string]bool{}
	if len(names) == 0 {
		read["sample_metrics"], read["default_metrics"] = true, true
		for _, t := range schema.Tables {
			read[t.Name] = true
		}
	}
	for len(names) > 0 {
		name, wide := strings.CutSuffix(strings.TrimSuffix(names[0], "_rows"), "_wide")
		names = names[1:]
		if t := schema.ByName(name); t != nil && wide {
			names = append(names, namesRead(t.Joined)...)
			if t.Links != nil {
				names = append(names, t.Links.Name)
			}
		}
		if read[name] {
			continue
		}
		read[name] = schema.ByName(name) != nil
		if i := slices.IndexFunc(views, func(v View) bool { return v.Name == name }); i >= 0 {
			read[name] = true
			names = append(names, namesRead(views[i].SQL)...)
		}
	}
	return read, nil
}

// sqlComment matches a comment in the SQL of views.
var sqlComment = lazyregexp.New(`--.*`)

// namesRead returns the words after FROM and JOIN in the SQL of views: tables, views and CTEs.
func namesRead(sql string) (names []string) {
	before := ""
	for _, word := range strings.FieldsFunc(sqlComment().ReplaceAllString(sql, ""), func(c rune) bool { return c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		if before == "FROM" || before == "JOIN" {
			names = append(names, word)
		}
		before = strings.ToUpper(word)
	}
	return names
}

// rows returns statements for the connections of the session: macros of tables that differ from the
// store's, and views that differ or whose rows the session has computed already.
func (fs *filteredSession) rows() (statements []string) {
	if fs.libraries != nil {
		statements = fs.shownRows()
	}
	for _, t := range schema.Tables {
		if query := fs.rowsOf(t); query != "" {
			statements = append(statements, macro(t, query))
		}
	}
	if fs.needed["default_metrics"] && fs.filter.chooses() {
		statements = append(statements, "CREATE OR REPLACE TEMP VIEW default_metrics AS "+defaultMetrics(fs.table("stack_values")))
	}
	if fs.needed["sample_metrics"] && fs.filter.chooses() {
		statements = append(statements, "CREATE OR REPLACE TEMP VIEW sample_metrics AS FROM "+fs.table(sampleValues))
	}
	return statements
}

// rowsOf is a query for the rows of a table; empty if they are the store's rows.
func (fs *filteredSession) rowsOf(t *schema.Table) string {
	i := slices.IndexFunc(derivedTables, func(p derivedTable) bool { return p.of == t })
	switch {
	case i < 0 && (!t.Has("sample") || !fs.filter.chooses()), i >= 0 && derivedTables[i].keeps(fs):
		return ""
	case i < 0:
		return "FROM (" + rowsQuery(fs.sees.store, t, fs.sees.portions) + ") SEMI JOIN " + fs.table("passed") + " USING (experiment_id, sample)"
	case !fs.needed[t.Name]:
		return missingTable(t)
	case derivedTables[i].rows != nil:
		return derivedTables[i].rows(fs)
	}
	return "FROM " + fs.table(t.Name)
}

// macro is the statement that makes a table consist of the rows of a query, for one connection.
func macro(t *schema.Table, query string) string {
	return "CREATE OR REPLACE TEMP MACRO " + textMacro(rowsName(t), query)
}

// missingTable is a query that fails, for a table that the session does not have, so that nobody
// gets values of all samples. Its columns are not constants, because the engine might drop the call
// that fails.
func missingTable(t *schema.Table) string {
	columns := mapped(t.Columns, func(c schema.Column) string { return "range::VARCHAR::" + c.Type.SQL() + " AS " + identifier(c.Name) })
	return "SELECT " + strings.Join(columns, ", ") + " FROM range(1) WHERE error(" + quote("the filtered session has no "+t.Name+": it was made for other views ") + " || range)::VARCHAR <> ''"
}
