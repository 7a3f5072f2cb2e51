package serve

import (
	"fmt"
	"slices"
	"strings"

	"stackmill/queries"
	"stackmill/queries/report"
	"stackmill/queries/result"
	"stackmill/schema"
)

// Names of JSON schemas for rows that do not come from a report.
const (
	experimentRow = "ExperimentRow"
	metricRow     = "MetricRow"
	problemRow    = "ProblemRow"
)

// reportRow returns the name of the JSON schema of a report's rows: DataObjectsRow for the report data-objects.
func reportRow(name string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(name, "-") {
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return b.String() + "Row"
}

// reportRows returns the names of the JSON schemas of all reports' rows.
func reportRows() (names []string) {
	for _, r := range report.Reports {
		names = append(names, reportRow(r.Name))
	}
	return names
}

// outerJoined lists columns, as VIEW.COLUMN, that are NULL where an outer join finds no row. Neither their tables nor
// their descriptions say so.
var outerJoined = []string{
	"sample_point_metrics.label", "sample_point_metrics.t0_ns", "sample_point_metrics.t1_ns",
	"data_object_functions.function_id",
}

// rowSchemas returns the JSON schemas of rows in answers, by name. The page's TypeScript types of rows are generated
// from them.
func rowSchemas() (object, error) {
	views, err := queries.Views()
	if err != nil {
		return nil, err
	}
	schemas := object{}
	for _, r := range report.Reports {
		v := views[slices.IndexFunc(views, func(v queries.View) bool { return v.Name == r.View })]
		schemas[reportRow(r.Name)] = rowSchema(v.Name, v.Row, v.Columns)
	}
	count := func(name, doc string) queries.Column { return queries.Column{Name: name, Type: "BIGINT", Doc: doc} }
	schemas[experimentRow] = rowSchema("experiments", "one experiment", append(tableColumns("experiments"),
		count("errors", "How many errors the recording has."),
		count("warnings", "How many warnings the recording has."),
		queries.Column{Name: "labels", Type: "JSON", Doc: "The values of its labels, by label."}))
	metrics := slices.DeleteFunc(tableColumns("metrics"), func(c queries.Column) bool {
		return !slices.Contains([]string{"metric", "unit", "title", "kind", "data_objects"}, c.Name)
	})
	schemas[metricRow] = rowSchema("metrics", "one metric", append(metrics,
		count("experiments", "How many experiments have it."),
		count("default_of", "How many of them show it by default.")))
	schemas[problemRow] = rowSchema("problems", "one problem of a recording", append(tableColumns("problems"),
		queries.Column{Name: "experiment", Type: "VARCHAR", Doc: "The experiment's name; missing if it has none."}))
	return schemas, nil
}

// tableColumns returns the columns of a table as SQL has them.
func tableColumns(table string) []queries.Column {
	relations := queries.Relations()
	columns := relations[slices.IndexFunc(relations, func(r queries.Relation) bool { return r.Name == table })].Columns
	for i := range columns {
		columns[i].Source = table + "." + columns[i].Name
	}
	return columns
}

// rowSchema returns the JSON schema of a view's rows.
func rowSchema(view, row string, columns []queries.Column) object {
	properties, required := object{}, []string{}
	for _, c := range columns {
		types := jsonTypes(c)
		if slices.Contains(outerJoined, view+"."+c.Name) || mayBeMissing(c) {
			types = append(types, "null")
		}
		s := object{"type": types, "description": c.Doc}
		if c.Unit != "" {
			s["description"] = fmt.Sprintf("[%s] %s", c.Unit, c.Doc)
		}
		properties[c.Name] = s
		required = append(required, c.Name)
	}
	return object{"type": "object", "description": "A row is " + row + ".", "properties": properties, "required": required}
}

// jsonTypes returns the JSON types of a column's values as result.Exact writes them.
func jsonTypes(c queries.Column) []string {
	switch c.Type {
	case "BIGINT":
		if result.IsIdentifier(c.Name) {
			return []string{"string"}
		}
		return []string{"integer", "string"}
	case "INTEGER":
		return []string{"integer"}
	case "DOUBLE":
		return []string{"number"}
	case "BOOLEAN":
		return []string{"boolean"}
	case "JSON":
		return []string{"object"}
	}
	return []string{"string"}
}

// mayBeMissing reports whether a column may be NULL: its table says so, or its
// description ends like "...; missing if unknown".
func mayBeMissing(c queries.Column) bool {
	table, column, _ := strings.Cut(c.Source, ".")
	if t := schema.ByName(table); t != nil {
		for _, s := range t.Columns {
			if s.Name == column && s.Null {
				return true
			}
		}
	}
	return strings.Contains(c.Doc, "; missing ")
}
