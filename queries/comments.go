package queries

import (
	"slices"
	"strings"
	"sync"
)

// repeated is the warning in the comment of a view that has rows of several modes and metrics.
const repeated = " Each value is repeated for each mode, and metrics have different units: filter on mode and metric, or group by them, before summing. Otherwise sums are three times too large and mix units."

// comments returns the statements that describe tables, views and their columns in a catalog's
// file, where any tool shows them. Catalogs in memory, which only this program reads, have no
// comments: creating them takes a quarter as long as creating the views.
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

// comments returns the statements that describe the view and its columns. A macro has no columns to
// describe.
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
// sum over all rows is meaningless. A macro with a parameter for the mode does not.
func (v View) Repeats() bool {
	has := func(name string) func(Column) bool { return func(c Column) bool { return c.Name == name } }
	return slices.ContainsFunc(v.Columns, has("mode")) && slices.ContainsFunc(v.Columns, has("metric")) &&
		!slices.ContainsFunc(v.Parameters, has("in_mode"))
}
