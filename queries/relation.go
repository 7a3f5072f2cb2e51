package queries

import (
	"fmt"

	"stackmill/schema"
)

// Relation is a table, or its wide view, as SQL sees it.
type Relation struct {
	Name, Row string
	Wide      bool
	Columns   []Column
}

// Relations returns the tables, each followed by its wide view if it has one.
func Relations() (list []Relation) {
	for _, t := range schema.Tables {
		list = append(list, Relation{Name: t.Name, Row: t.Row, Columns: append(columnsOf(t.Columns), computedOf(t.Committed)...)})
		if name := t.Wide(); name != "" {
			list = append(list, Relation{name, fmt.Sprintf("%s, as in `%s`, with the identifiers and names that its numbers refer to", t.Row, t.Name), true,
				append(columnsOf(t.Shown()), computedOf(t.Computed)...)})
		}
	}
	return list
}

func columnsOf(columns []schema.Column) []Column {
	return mapped(columns, func(c schema.Column) Column {
		return Column{Name: c.Name, Type: c.Type.SQL(), Unit: c.Unit, Doc: c.Doc}
	})
}

func computedOf(columns []schema.DerivedColumn) []Column {
	return mapped(columns, func(c schema.DerivedColumn) Column { return Column{Name: c.Name, Type: c.Type.SQL(), Doc: c.Doc} })
}
