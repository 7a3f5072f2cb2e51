package queries

import (
	"fmt"
	"slices"
	"strings"

	"stackmill/schema"
)

// part is some tables of a narrowed session that are made together, once its samples and
// their values by stack are known.
type part struct {
	tables    []*schema.Table
	make      func(*narrowing) []string // statements
	ofSamples bool                      // whatever functions are shown
}

// parts are all of them.
var parts = []part{
	{[]*schema.Table{schema.UsageValues}, (*narrowing).usage, true},
	{[]*schema.Table{schema.CallNodes, schema.TreeValues, schema.FunctionValues, schema.CallValues, schema.ModuleValues, schema.ObjectValues, schema.FunctionRollup, schema.FunctionSums}, (*narrowing).tree, false},
	{[]*schema.Table{schema.LineValues, schema.SourceValues, schema.PCValues}, (*narrowing).code, false},
	{[]*schema.Table{schema.DataValues}, (*narrowing).data, true},
}

// wanted reports whether a table of the part is read, and not as it is in the store.
func (p *part) wanted(n *narrowing) bool {
	if p.ofSamples && !n.filter.chooses() {
		return false
	}
	return slices.ContainsFunc(p.tables, func(t *schema.Table) bool { return n.wanted[t] })
}

// tablesOf returns the tables that views read, by themselves or through other views; all
// tables if no view is named.
func tablesOf(names []string) (map[*schema.Table]bool, error) {
	read := map[*schema.Table]bool{}
	if len(names) == 0 {
		for _, t := range schema.Tables {
			read[t] = true
		}
		return read, nil
	}
	views, err := Views()
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for len(names) > 0 {
		name := names[0]
		if names = names[1:]; seen[name] {
			continue
		}
		seen[name] = true
		name = strings.TrimSuffix(strings.TrimSuffix(name, "_rows"), "_numbered")
		if t := schema.ByName(name); t != nil {
			read[t] = true
			names = append(names, words(t.Joined)...)
		}
		if i := slices.IndexFunc(views, func(v View) bool { return v.Name == name }); i >= 0 {
			names = append(names, words(views[i].SQL)...)
		}
	}
	if read[schema.FunctionSums] {
		read[schema.FunctionRollup] = true
	}
	if read[schema.FunctionRollup] { // which is made of the others in a narrowed session
		read[schema.FunctionValues] = true
	}
	return read, nil
}

// words are the names in SQL; those of columns do no harm.
func words(sql string) []string {
	return strings.FieldsFunc(sql, func(c rune) bool { return c >= 0x80 || !isName(byte(c)) })
}

// rows are the macros that give the rows of the store's tables.
func (n *narrowing) rows() (statements []string) {
	if n.libraries != nil {
		statements = append(n.shownRows(), n.leafRows())
	}
	for _, t := range schema.Tables {
		parameters, query := "", ""
		i := slices.IndexFunc(parts, func(p part) bool { return slices.Contains(p.tables, t) })
		switch {
		case i >= 0 && !n.filter.chooses() && parts[i].ofSamples:
			continue
		case i >= 0 && !parts[i].wanted(n):
			query = unread(t)
		case i >= 0 || t == schema.StackValues:
			query = n.values(t)
		case t.Has("sample") && n.filter.chooses():
			parameters, query = rowsQuery(n.sees.store, t, n.sees.portions)
			query = "FROM (" + query + ") SEMI JOIN " + n.table("passed") + " USING (experiment_id, sample)"
		default:
			continue
		}
		statements = append(statements, macro(t, parameters, query))
	}
	return statements
}

// macro writes the statement that gives a connection other rows of a table.
func macro(t *schema.Table, parameters, query string) string {
	return fmt.Sprintf("CREATE OR REPLACE TEMP MACRO %s(%s) AS TABLE %s", rowsName(t), parameters, query)
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
