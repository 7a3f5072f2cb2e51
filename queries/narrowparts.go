package queries

import (
	"slices"
	"strings"

	"stackmill/schema"
)

// part is a table of a narrowed session that is made if it is needed, or rows of one of the
// store's tables that follow from such tables.
type part struct {
	name  string
	of    *schema.Table // the table of the store whose rows it gives; nil for a step
	needs []string      // parts before it
	make  func(*narrowing) string
	rows  func(*narrowing) string // if they are not those of the table that was made
	// ofSamples says that the functions that are shown do not matter.
	ofSamples bool
}

// parts are all of them, each after those that it needs.
var parts = []part{
	{name: "sample_values", make: (*narrowing).sampleValues, ofSamples: true},
	{name: "stack_values", of: schema.StackValues, make: (*narrowing).stackValues, ofSamples: true},
	{name: "usage_values", of: schema.UsageValues, needs: []string{"sample_values"}, make: (*narrowing).usage, ofSamples: true},
	{name: "data_values", of: schema.DataValues, needs: []string{"sample_values"}, make: (*narrowing).data, ofSamples: true},

	{name: "places", make: (*narrowing).places},
	{name: "ends", make: (*narrowing).ends},
	{name: "grown", needs: []string{"places"}, make: (*narrowing).grown},
	{name: "ending", needs: []string{"places", "ends", "grown"}, make: (*narrowing).ending},
	{name: "call_nodes", of: schema.CallNodes, needs: []string{"ending"}, make: (*narrowing).callNodes, rows: (*narrowing).callNodeRows},
	{name: "tree_values", of: schema.TreeValues, needs: []string{"call_nodes"}, make: (*narrowing).treeValues, rows: (*narrowing).treeRows},
	{name: "function_values", of: schema.FunctionValues, needs: []string{"tree_values"}, rows: (*narrowing).functionValues},
	{name: "module_values", of: schema.ModuleValues, needs: []string{"tree_values"}, rows: (*narrowing).moduleValues},
	{name: "object_values", of: schema.ObjectValues, needs: []string{"tree_values"}, rows: (*narrowing).objectValues},
	{name: "call_values", of: schema.CallValues, needs: []string{"tree_values"}, rows: (*narrowing).callValues},
	{name: "function_rollup", of: schema.FunctionRollup, needs: []string{"function_values"}, rows: (*narrowing).functionRollup},
	{name: "function_sums", of: schema.FunctionSums, needs: []string{"function_rollup"}, rows: (*narrowing).functionSums},

	{name: "nodes", needs: []string{"ends"}, make: (*narrowing).codeNodes},
	{name: "node_sums", needs: []string{"nodes"}, make: (*narrowing).nodeSums},
	{name: "leaf_sums", needs: []string{"nodes"}, make: (*narrowing).leafSums},
	{name: "pc_values", of: schema.PCValues, needs: []string{"places", "node_sums", "leaf_sums"}, make: (*narrowing).pcValues},
	{name: "line_values", of: schema.LineValues, needs: []string{"places", "node_sums", "leaf_sums"}, make: (*narrowing).lineValues},
	{name: "source_values", of: schema.SourceValues, needs: []string{"places", "node_sums", "leaf_sums"}, make: (*narrowing).sourceValues},
}

// keeps reports whether what the store has is as it is in the session.
func (p *part) keeps(n *narrowing) bool {
	return p.ofSamples && !n.filter.chooses() || p.name == "grown" && n.libraries == nil
}

// need finds the parts and tables that the session needs if these tables and views are
// read. Values by stack it always has.
func (n *narrowing) need(read map[string]bool) {
	read["stack_values"], read["sample_values"] = true, read["sample_metrics"]
	for i := range slices.Backward(parts) {
		if p := &parts[i]; read[p.name] && !p.keeps(n) {
			for _, name := range p.needs {
				read[name] = true
			}
		}
	}
	n.needed = read
}

// stackTables are the tables that describe stacks.
var stackTables = []*schema.Table{schema.StackTree, schema.TreeFrames, schema.RecordedStacks, schema.InlineFrames}

// ReadsStacks reports whether views, which are declared ones, depend on the functions on
// stacks: then leaving some out has an effect.
func ReadsStacks(views ...string) bool {
	read, err := readBy(views)
	return err != nil || slices.ContainsFunc(parts, func(p part) bool { return !p.ofSamples && read[p.name] }) ||
		slices.ContainsFunc(stackTables, func(t *schema.Table) bool { return read[t.Name] })
}

// makes reports whether the session makes a table of its own.
func (n *narrowing) makes(p *part) bool { return p.make != nil && n.needed[p.name] && !p.keeps(n) }

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
		name := strings.TrimSuffix(strings.TrimSuffix(names[0], "_rows"), "_numbered")
		if names = names[1:]; read[name] {
			continue
		}
		if t := schema.ByName(name); t != nil {
			read[name] = true
			names = append(names, namesRead(t.Joined)...)
		}
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
		statements = append(n.shownRows(), n.leafRows())
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
		statements = append(statements, "CREATE OR REPLACE TEMP VIEW sample_metrics AS FROM "+n.table("sample_values"))
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
