package dataspace

import (
	"testing"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/types"
	"stackmill/stages/symbolize"
)

// TestScopes checks that variables with the same descriptor are two data objects if, and only if,
// their scopes differ (S29).
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
	s := New(symbolize.New(&decode.Recording{}, nil, nil), nil, &diagnostic.Log{})
	o := &loadObject{space: s, types: ts}
	seen := map[ObjectNo]types.VariableNo{}
	ids := map[int64]bool{}
	for v := range ts.Variables {
		n := s.dataObject(o, operandTarget{ok: true, typ: typeLong, variable: types.VariableNo(v)}, types.Use{Size: 8})
		if got := s.Objects[n]; got.Descriptor != "{long n}" || got.Kind != KindScalar || got.Parent != Scalars {
			t.Errorf("variable %d: %+v", v, got)
		}
		if other, ok := seen[n]; ok && v != 6 {
			t.Errorf("variables %d and %d are one object", v, other)
		}
		seen[n] = types.VariableNo(v)
		ids[s.Objects[n].ID] = true
	}
	if len(seen) != 6 || len(ids) != 6 {
		t.Errorf("%d objects with %d identifiers, want 6", len(seen), len(ids))
	}
}

// A structure is listed with all its members; an array counts as one member (S28). The parent of an
// element is the object that contains it (S30).
func TestElements(t *testing.T) {
	s, o := testObject()
	n := s.dataObject(o, operandTarget{ok: true, typ: typePair, variable: types.None}, types.Use{Size: 4096})
	whole := s.Objects[n]
	for whole.Kind == KindElement {
		n = whole.Parent
		whole = s.Objects[n]
	}
	if whole.Descriptor != "{structure:pair}" || whole.Kind != KindAggregate || whole.Parent != Total || whole.Size != 32 {
		t.Errorf("%+v", whole)
	}
	for offset, want := range map[int64]string{0: "{structure:pair}.{long key}", 8: "{structure:pair}.{array[3]:double of}", 24: "{structure:pair}.{array[3]:double of}"} {
		e := s.Objects[s.dataObject(o, operandTarget{ok: true, typ: typePair, variable: types.None, offset: offset}, types.Use{Size: 8, Float: offset > 0})]
		if e.Descriptor != want || e.Kind != KindElement || e.Parent != n {
			t.Errorf("at %d: %+v, want %s", offset, e, want)
		}
	}
	if all := len(s.Objects) - len(artificialObjects()); all != 3 {
		t.Errorf("%d data objects, want the structure and its two members", all)
	}
}

// The unnamed structures of a union are different elements, although they differ only in their
// members.
func TestUnnamedElements(t *testing.T) {
	const union, first, second = 1, 2, 3
	ts := &types.Table{
		Types: []types.Type{
			{},
			{Kind: types.Union, Name: "either", Size: 8, Members: 2},
			{Kind: types.Structure, Size: 8, First: 2, Members: 1},
			{Kind: types.Structure, Size: 8, First: 3, Members: 1},
			{Kind: types.Base, Name: "long", Size: 8},
		},
		Members: []types.Member{{Type: first}, {Type: second}, {Name: "a", Type: 4}, {Name: "a", Type: 4}},
	}
	ts.Index()
	s := New(symbolize.New(&decode.Recording{}, nil, nil), nil, &diagnostic.Log{})
	s.dataObject(&loadObject{space: s, types: typeTable{ts}}, operandTarget{ok: true, typ: union, variable: types.None}, types.Use{Size: 8})
	ids := map[int64]bool{}
	for _, o := range s.Objects {
		ids[o.ID] = true
	}
	if all := len(artificialObjects()) + 5; len(s.Objects) != all || len(ids) != all {
		t.Errorf("%d data objects with %d identifiers, want %d: %+v", len(s.Objects), len(ids), all, s.Objects[len(artificialObjects()):])
	}
}
