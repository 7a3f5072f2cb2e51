package queries

import (
	"slices"
	"strings"

	"stackmill/queries/filter"
	"stackmill/schema"
)

// part is a table of a narrowed session that is made if it is needed, or rows of one of the
// store's tables that follow from such tables. Those of package filter are the others.
type part struct {
	of    *schema.Table // the table of the store whose rows it gives
	needs []*schema.Table
	make  func(*narrowing) string // the query of the table, if the session makes it by SQL
	rows  func(*narrowing) string // the query of rows that follow from others
	// ofSamples says that the functions that are shown do not matter.
	ofSamples bool
}

// sampleValues is the name of the table of the values of the samples that pass.
const sampleValues = "sample_values"

// parts are all of them, each after those that it needs.
var parts = func() (list []part) {
	list = []part{
		{of: schema.StackValues, make: (*narrowing).stackValues, ofSamples: true},
		{of: schema.UsageValues, make: (*narrowing).usage, ofSamples: true},
		{of: schema.DataValues, make: (*narrowing).data, ofSamples: true},
	}
	for _, t := range filter.ValueTables() {
		list = append(list, part{of: t})
	}
	return append(list,
		part{of: schema.FunctionRollup, needs: []*schema.Table{schema.FunctionValues}, rows: (*narrowing).functionRollup},
		part{of: schema.FunctionSums, needs: []*schema.Table{schema.FunctionRollup}, rows: (*narrowing).functionSums})
}()

// keeps reports whether what the store has is as it is in the session.
func (p *part) keeps(n *narrowing) bool { return p.ofSamples && !n.filter.chooses() }

// need finds the tables that the session needs if these tables and views are read. Values by
// stack it always has.
func (n *narrowing) need(read map[string]bool) {
	read[schema.StackValues.Name] = true
	for i := range slices.Backward(parts) {
		if p := &parts[i]; read[p.of.Name] {
			for _, t := range p.needs {
				read[t.Name] = true
			}
		}
	}
	n.needed = read
}

// needs reports whether a table is needed.
func (n *narrowing) needs(t *schema.Table) bool { return n.needed[t.Name] }

// needsSamples reports whether the values of the samples that pass are needed one by one.
func (n *narrowing) needsSamples() bool {
	return n.needed["sample_metrics"] || n.needs(schema.UsageValues) || n.needs(schema.DataValues)
}

// stackTables are the tables that describe stacks.
var stackTables = []*schema.Table{schema.StackTree, schema.TreeFrames, schema.RecordedStacks, schema.InlineFrames}

// ReadsStacks reports whether views, which are declared ones, depend on the functions on
// stacks: then leaving some out has an effect.
func ReadsStacks(views ...string) bool {
	read, err := readBy(views)
	return err != nil || slices.ContainsFunc(parts, func(p part) bool { return !p.ofSamples && read[p.of.Name] }) ||
		slices.ContainsFunc(stackTables, func(t *schema.Table) bool { return read[t.Name] })
}

// readByAll is what a session needs that is made for no views in particular.
func readByAll() map[string]bool {
	read := map[string]bool{"sample_metrics": true, "default_metrics": true}
	for _, t := range schema.Tables {
		read[t.Name] = true
	}
	return read
}

// readBy returns the names of the tables and views that views read, by themselves or
// through others; all if no view is named.
func readBy(names []string) (map[string]bool, error) {
	if len(names) == 0 {
		return readByAll(), nil
	}
	views, err := Views()
	if err != nil {
		return nil, err
	}
	read := map[string]bool{}
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

// namesRead are the names that stand after FROM and JOIN in SQL, those of its own parts
// among them.
func namesRead(sql string) (names []string) {
	after := false
	for len(sql) > 0 {
		n := token(sql)
		word := strings.ToUpper(sql[:n])
		switch {
		case word == "FROM" || word == "JOIN":
			after = true
		case isName(word[0]):
			if after {
				names = append(names, sql[:n])
			}
			after = false
		}
		sql = sql[n:]
	}
	return names
}

// rows are the macros that give the rows of the store's tables, and the views that have
// others than the store's or would compute again what the session has.
func (n *narrowing) rows() (statements []string) {
	if n.libraries != nil {
		statements = n.shownRows()
	}
	for _, t := range schema.Tables {
		if query := n.rowsOf(t); query != "" {
			statements = append(statements, macro(t, query))
		}
	}
	if n.needed["default_metrics"] && n.filter.chooses() {
		statements = append(statements, "CREATE OR REPLACE TEMP VIEW default_metrics AS "+defaultMetrics(n.table("stack_values")))
	}
	if n.needed["sample_metrics"] && n.filter.chooses() {
		statements = append(statements, "CREATE OR REPLACE TEMP VIEW sample_metrics AS FROM "+n.table(sampleValues))
	}
	return statements
}

// rowsOf is the query of a table's rows; empty if they are those of the store.
func (n *narrowing) rowsOf(t *schema.Table) string {
	i := slices.IndexFunc(parts, func(p part) bool { return p.of == t })
	switch {
	case i < 0 && (!t.Has("sample") || !n.filter.chooses()), i >= 0 && parts[i].keeps(n):
		return ""
	case i < 0:
		return "FROM (" + rowsQuery(n.sees.store, t, n.sees.portions) + ") SEMI JOIN " + n.table("passed") + " USING (experiment_id, sample)"
	case !n.needed[t.Name]:
		return unread(t)
	case parts[i].rows != nil:
		return parts[i].rows(n)
	}
	return "FROM " + n.table(t.Name)
}

// macro writes the statement that gives a connection other rows of a table.
func macro(t *schema.Table, query string) string {
	return "CREATE OR REPLACE TEMP MACRO " + lateMacro(rowsName(t), query)
}

// unread is the query of a table that was not made: it fails, rather than to give values of
// all samples. What is constant there, the engine might leave out with all that fails.
func unread(t *schema.Table) string {
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = "range::VARCHAR::" + c.Type.SQL() + " AS " + identifier(c.Name)
	}
	return "SELECT " + strings.Join(columns, ", ") + " FROM range(1) WHERE error(" + quote("the filtered session has no "+t.Name+": it was made for other views ") + " || range)::VARCHAR <> ''"
}
