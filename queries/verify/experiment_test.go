package verify

import (
	"testing"

	"stackmill/schema"
)

// The first column read of each table that experiments do not share is the experiment's, even of a
// table without a key.
func TestColumns(t *testing.T) {
	for _, table := range schema.Tables {
		if c := columnsOf(table); len(c) == 0 || c[0].name != table.Columns[0].Name {
			t.Errorf("%s: %v", table.Name, c)
		}
	}
}
