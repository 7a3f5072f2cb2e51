package verify

import (
	"testing"

	"stackmill/schema"
)

// Of every table that experiments do not share, whose rows they are is read first, also of
// one without a key.
func TestColumns(t *testing.T) {
	for _, table := range schema.Tables {
		if c := columnsOf(table); len(c) == 0 || c[0].name != table.Columns[0].Name {
			t.Errorf("%s: %v", table.Name, c)
		}
	}
}
