package queries

import (
	"fmt"
	"slices"
	"strings"

	"stackmill/queries/filter"
	"stackmill/schema"
)

// showing returns a function that says which functions of a load object are shown; nil if all are.
func (fs *filteredSession) showing() func(name, path string) filter.Visibility {
	if fs.libraries == nil {
		return nil
	}
	return func(name, path string) filter.Visibility {
		switch {
		case slices.Contains(fs.libraries, Library{name, path, false}):
			return filter.Nothing
		case slices.Contains(fs.libraries, Library{name, path, true}):
			return filter.EntryPoints
		}
		return filter.Everything
	}
}

// hiddenRule is the rule of frames whose location changed because functions are hidden.
const hiddenRule = "hidden"

// shownRows returns the macros of the tables that change if functions are hidden.
func (fs *filteredSession) shownRows() []string {
	rows := []string{
		fs.withStandIns(schema.Modules, map[string]string{"module_id": "module_id", "load_object_id": "load_object_id", "name": quote("(" + hiddenRule + ")")}),
		fs.withStandIns(schema.Functions, map[string]string{"function_no": "function_no", "function_id": "function_id", "load_object_id": "load_object_id", "module_id": "module_id",
			"name": "name", "other_linkage_name": "''", "kind": "'artificial'", "name_scope": "'build'"}),
		fs.withStandIns(schema.Locations, map[string]string{"location": "location", "other_location_id": "location_id", "load_object_id": "load_object_id", "function_no": "function_no"}),
		fs.stored(schema.InlineFrames, "FROM %s ANTI JOIN ("+fs.entryPoints()+") e USING (experiment_id, location)"),
	}
	if !slices.ContainsFunc(filter.StackTables(), fs.needs) {
		for _, t := range filter.StackTables() {
			rows = append(rows, macro(t, missingTable(t)))
		}
		return rows
	}
	var shown, ups []string
	for _, mode := range []string{"user", "expert", "machine"} {
		shown = append(shown, fmt.Sprintf("h.%[1]s_location AS %[1]s_location, IF(h.%[1]s_location IS NOT DISTINCT FROM t.%[1]s_location, t.%[1]s_rule, '%[2]s') AS %[1]s_rule", mode, hiddenRule))
		ups = append(ups, fmt.Sprintf("COALESCE(h.%[1]s_up, t.%[1]s_up) AS %[1]s_up", mode))
	}
	frames := fs.table(filter.Frames.Name)
	return append(rows,
		fs.stored(schema.StackTree, "SELECT t.* REPLACE (COALESCE(h.frame, t.frame) AS frame) FROM %s t LEFT JOIN "+fs.table(filter.Nodes.Name)+" h ON h.experiment_id = t.experiment_id AND h.node = t.node"),
		fs.stored(schema.TreeFrames, "SELECT t.* REPLACE (h.frame AS frame, "+strings.Join(shown, ", ")+") FROM %[1]s t JOIN "+frames+" h ON h.experiment_id = t.experiment_id AND h.stored_frame = t.frame\n"+
			"UNION ALL FROM %[1]s ANTI JOIN "+frames+" USING (experiment_id)"),
		fs.stored(schema.RecordedStacks, "SELECT t.* REPLACE ("+strings.Join(ups, ", ")+") FROM %s t LEFT JOIN "+fs.table(filter.Leaves.Name)+" h ON h.experiment_id = t.experiment_id AND h.stack = t.stack"),
	)
}

// entryPoints is a query for the locations in load objects of which only the entry points are
// shown.
func (fs *filteredSession) entryPoints() string {
	values := []string{"(NULL::VARCHAR, NULL::VARCHAR)"}
	for _, l := range fs.libraries {
		if l.APIOnly {
			values = append(values, fmt.Sprintf("(%s, %s)", quote(l.Name), quote(l.Path)))
		}
	}
	return "SELECT l.experiment_id, l.location FROM (" + rowsQuery(fs.sees.store, schema.Locations, fs.sees.portions) + ") l JOIN load_objects o ON o.experiment_id = l.experiment_id AND o.load_object_id = l.load_object_id\n" +
		"JOIN (VALUES " + strings.Join(values, ", ") + ") v(name, path) ON v.name = o.name AND v.path = o.path"
}

// stored is the macro that replaces a table's rows. format is a query with %s in place of the
// stored rows.
func (fs *filteredSession) stored(t *schema.Table, format string) string {
	return macro(t, fmt.Sprintf(format, "("+rowsQuery(fs.sees.store, t, fs.sees.portions)+")"))
}

// withStandIns is the macro of a table's stored rows, and one row for each function that represents
// a library. values has SQL for some columns of these; the others are NULL, or zero or empty if
// NULL is not allowed. All values are cast, because the engine makes wrong plans for unions that it
// has to cast.
func (fs *filteredSession) withStandIns(t *schema.Table, values map[string]string) string {
	columns, added := make([]string, len(t.Columns)), make([]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = identifier(c.Name)
		value := values[c.Name]
		switch {
		case c.Name == "experiment_id":
			value = c.Name
		case value == "" && c.Null:
			value = "NULL"
		case value == "" && c.Type == schema.String:
			value = "''"
		case value == "":
			value = "0"
		}
		added[i] = "(" + value + ")::" + c.Type.SQL()
	}
	return fs.stored(t, "SELECT "+strings.Join(columns, ", ")+" FROM %s UNION ALL SELECT "+strings.Join(added, ", ")+" FROM "+fs.table(filter.StandIns.Name))
}
