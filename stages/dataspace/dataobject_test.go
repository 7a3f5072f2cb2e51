package dataspace

import (
	"testing"

	"stackmill/problem"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/types"
	"stackmill/stages/symbolize"
)

// TestScopes checks that variables of one descriptor stay apart when their scopes
// differ, and only then (S29).
func TestScopes(t *testing.T) {
	ts := testTypes()
	ts.Units = []string{"", "one.c", "two.c"}
	ts.Scopes = []types.Scope{{}, {Name: "init", Unit: 1, Function: 1}, {Name: "init", Unit: 2, Function: 2}, {Name: "run", Unit: 2, Function: 3}}
	ts.Variables = []types.Variable{
		{Name: "n", Type: typeLong, Unit: 1, External: true},
		{Name: "n", Type: typeLong, Unit: 1},
		{Name: "n", Type: typeLong, Unit: 2},
		{Name: "n", Type: typeLong, Unit: 1, Function: 1},
		{Name: "n", Type: typeLong, Unit: 2, Function: 2},
		{Name: "n", Type: typeLong, Unit: 2, Function: 3},
		{Name: "n", Type: typeLong, Unit: 2, Function: 3}, // in another block of it
	}
	s := New(symbolize.New(&decode.Recording{}, nil, nil), nil, &problem.Log{})
	o := &object{space: s, types: ts}
	seen := map[ObjectNo]int32{}
	ids := map[int64]bool{}
	for v := range ts.Variables {
		n := s.dataObject(o, root{ok: true, typ: typeLong, variable: int32(v)}, types.Use{Size: 8})
		if got := s.Objects[n]; got.Descriptor != "{long n}" || got.Kind != KindScalar || got.Parent != Scalars {
			t.Errorf("variable %d: %+v", v, got)
		}
		if other, ok := seen[n]; ok && v != 6 {
			t.Errorf("variables %d and %d are one object", v, other)
		}
		seen[n] = int32(v)
		ids[s.Objects[n].ID] = true
	}
	if len(seen) != 6 || len(ids) != 6 {
		t.Errorf("%d objects with %d identifiers, want 6", len(seen), len(ids))
	}
}
