package schema

import "slices"

// FactNumber is the column by which rows of a table refer to its facts.
const FactNumber = "fact"

var fact = Column{FactNumber, Int32, DictOrDelta, "", false, "The number, within the batch, of the row's facts."}

// withFacts returns a table whose columns but experiment_id and the own ones are facts:
// what the experiments of one program have in common. For a batch, the file of facts has
// each distinct row of them once, under its number, and the table's file the own columns
// and that number. Both begin with the same experiment of the batch in `listed_in`, as
// others that experiments share do.
func (t Table) withFacts(name string, own ...string) *Table {
	isOwn := func(c Column) bool { return c.Name == experimentID.Name || slices.Contains(own, c.Name) }
	t.Own = &Table{Name: t.Name, Row: t.Row, Summary: t.Summary}
	t.Facts = &Table{Name: name, Row: "what `" + t.Name + "` has in common", Summary: t.Summary, Columns: []Column{listedIn, fact.as(Delta)}}
	for _, c := range t.Columns {
		if isOwn(c) {
			t.Own.Columns = append(t.Own.Columns, c)
		} else {
			t.Facts.Columns = append(t.Facts.Columns, c)
		}
	}
	t.Own.Columns = append(t.Own.Columns, listedIn, fact)
	return &t
}

// File returns the table whose columns the table's file has: itself, or its own.
func (t *Table) File() *Table {
	if t.Own != nil {
		return t.Own
	}
	return t
}

// FileTables are the tables that files have: Tables, and the facts of those.
var FileTables = func() (list []*Table) {
	for _, t := range Tables {
		if list = append(list, t.File()); t.Facts != nil {
			list = append(list, t.Facts)
		}
	}
	return list
}()
