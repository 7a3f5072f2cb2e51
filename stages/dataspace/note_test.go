package dataspace

import (
	"testing"

	"stackmill/schema/diagnostic"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/loadobject/types"
)

// Notes about types and variables become problems, once.
func TestNotes(t *testing.T) {
	var log diagnostic.Log
	s := New(nil, nil, &log)
	told := []symtab.Note{{Text: "a unit is damaged", Damage: true}}
	s.reportNotes("prog", &types.Table{Notes: []symtab.Note{
		{Offset: 7, Text: "a unit is damaged", Damage: true}, {Offset: 9, Text: "a list is damaged", Damage: true}, {Offset: -1, Text: "a file is missing"},
	}}, told)
	s.reportNotes("other", nil, nil)
	got := log.Problems
	if len(got) != 2 || got[0].Severity != diagnostic.Warning || got[0].Reason != "damaged-load-object" || got[0].Offset != 9 || got[0].File != "prog" || got[1].Severity != diagnostic.Warning {
		t.Errorf("%+v", got)
	}
}
