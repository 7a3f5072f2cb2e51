package schema

import "fmt"

// asWhole is what files have in place of an exclusive value that is the inclusive or
// attributed value of its row, as that of most leaves is: it need not be stored twice.
const asWhole = -1

// StoredExclusive returns what files have of an exclusive value, given the inclusive or
// attributed one of its row. No value is negative.
func StoredExclusive(exclusive, whole int64) int64 {
	if exclusive == whole && whole != 0 {
		return asWhole
	}
	return exclusive
}

// ExclusiveOf returns the exclusive value of which files have that, given the inclusive or
// attributed one of its row.
func ExclusiveOf(stored, whole int64) int64 {
	if stored == asWhole {
		return whole
	}
	return stored
}

// WholeOf returns the column of a table whose values the stored ones of a column may stand
// for, empty if they stand for themselves.
func (t *Table) WholeOf(column string) string {
	switch {
	case column != exclusive.Name:
		return ""
	case t.Has(inclusive.Name):
		return inclusive.Name
	}
	return attribute.Name
}

// Value is the SQL of the value that a row t of the table's files has in a column.
func (t *Table) Value(c Column) string {
	if t == Locations && c.Name == "instruction" {
		return `t."offset" + t.instruction`
	}
	if whole := t.WholeOf(c.Name); whole != "" {
		return fmt.Sprintf("IF(t.%[1]s = %[3]d, t.%[2]s, t.%[1]s)", c.Name, whole, asWhole)
	}
	return `t."` + c.Name + `"`
}
