package dataspace

import (
	"testing"

	"stackmill/stages/loadobject/types"
)

// The types of the tests: struct pair { long key; double of[3]; } of 32 bytes and
// arrays of it.
const (
	typeLong = iota + 1
	typeDouble
	typeThree // of double
	typePair
	typePairs // of pair
	typePointer
)

func testTypes() typeTable {
	t := &types.Table{
		Types: []types.Type{
			{},
			{Kind: types.Base, Name: "long", Size: 8},
			{Kind: types.Base, Name: "double", Size: 8, Float: true},
			{Kind: types.Array, Elem: typeDouble, Size: 24, Count: 3},
			{Kind: types.Structure, Name: "pair", Size: 32, Members: 2},
			{Kind: types.Array, Elem: typePair, Size: 320, Count: 10},
			{Kind: types.Pointer, Elem: typePair, Size: 8},
		},
		Members: []types.Member{{Name: "key", Type: typeLong}, {Name: "of", Type: typeThree, Offset: 8}},
	}
	t.Index()
	return typeTable{t}
}

func pointer(typ types.TypeNo, offset int64) value {
	return value{kind: valueAddress, typ: typ, variable: types.None, offset: offset}
}

// TestMerge checks the values where two paths meet.
func TestMerge(t *testing.T) {
	ts := testTypes()
	inPairs := func(offset int64) value {
		return value{kind: valueAddress, typ: typePairs, variable: 4, offset: offset}
	}
	for _, x := range []struct {
		name       string
		a, b, want value
	}{
		{"the same", pointer(typePair, 8), pointer(typePair, 8), pointer(typePair, 8)},
		{"the next element", pointer(typePair, 8), pointer(typePair, 40), value{kind: valueAddress, typ: typePair, variable: types.None, offset: 8, indexed: true}},
		{"another member", pointer(typePair, 0), pointer(typePair, 8), value{}},
		{"another element of a variable", inPairs(0), inPairs(64), value{kind: valueAddress, typ: typePairs, variable: 4, indexed: true}},
		{"a null pointer", value{kind: valueNumber}, pointer(typePair, 0), pointer(typePair, 0)},
		{"a number", value{kind: valueNumber, offset: 5}, pointer(typePair, 0), value{}},
		{"a loop's numbers", value{kind: valueNumber, offset: 8}, value{kind: valueNumber, offset: 24}, value{kind: valueNumber, offset: 8, step: 16}},
		{"a variable and what a pointer leads to", inPairs(32), pointer(typePair, 0), pointer(typePair, 0)},
		{"nothing", value{}, pointer(typePair, 0), value{}},
	} {
		if got := ts.merge(x.a, x.b); got != x.want {
			t.Errorf("%s: %+v, want %+v", x.name, got, x.want)
		}
	}
}

// TestSum checks addresses to which something is added.
func TestSum(t *testing.T) {
	ts := testTypes()
	index := value{kind: valueScalar, typ: typeLong, step: 1, origin: 7}
	three := ts.sum(index, index, 2, 0) // i + 2*i
	if three.step != 3 || three.origin != 7 {
		t.Fatalf("i+2*i: %+v", three)
	}
	for _, x := range []struct {
		name     string
		a, b     value
		scale, c int64
		want     value
	}{
		{"a constant", pointer(typePair, 0), value{kind: valueNumber, offset: 2}, 8, 8, pointer(typePair, 24)},
		{"whole elements", pointer(typePair, 0), index, 32, 8, value{kind: valueAddress, typ: typePair, variable: types.None, offset: 8, indexed: true}},
		{"elements of a member", pointer(typePair, 0), index, 8, 8, value{kind: valueAddress, typ: typePair, variable: types.None, offset: 8, indexed: true, step: 8}},
		{"what was added to the index", pointer(typePair, 0), ts.plus(index, 3), 32, 8, value{kind: valueAddress, typ: typePair, variable: types.None, offset: 8, indexed: true}},
		{"any index", pointer(typePair, 0), index, 1, 0, value{kind: valueAddress, typ: typePair, variable: types.None, indexed: true, step: 1}},
		{"a computed index", pointer(typePair, 0), value{kind: valueScalar, step: 1}, 1, 0, value{kind: valueAddress, typ: typePair, variable: types.None, indexed: true, step: unknownStep}},
		{"a multiple of a computed index", pointer(typePair, 0), value{kind: valueScalar, step: 1}, 8, 0, value{kind: valueAddress, typ: typePair, variable: types.None, indexed: true, step: unknownStep}},
		{"of two things", value{kind: valueScalar, step: 4, origin: 7}, value{kind: valueScalar, step: 6, origin: 8}, 1, 0, value{kind: valueScalar, step: 2, origin: unknownOrigin}},
		{"the stack", value{kind: valueFrame, offset: -64}, value{kind: valueNumber, offset: 2}, 8, 0, value{kind: valueFrame, offset: -48}},
		{"an index that is subtracted", pointer(typePair, 0), index, -32, 8, value{kind: valueAddress, typ: typePair, variable: types.None, offset: 8, indexed: true}},
		{"elements of a member, subtracted", pointer(typePair, 0), index, -8, 8, value{kind: valueAddress, typ: typePair, variable: types.None, offset: 8, indexed: true, step: 8}},
		{"two addresses", pointer(typePair, 0), pointer(typePair, 0), 1, 0, value{}},
	} {
		if got := ts.sum(x.a, x.b, x.scale, x.c); got != x.want {
			t.Errorf("%s: %+v, want %+v", x.name, got, x.want)
		}
	}
}

// TestValue checks the values of a type's members.
func TestValue(t *testing.T) {
	ts := testTypes()
	for _, x := range []struct {
		typ  types.TypeNo
		want value
	}{
		{typePointer, pointer(typePair, 0)},
		{typeLong, value{kind: valueScalar, typ: typeLong}},
		{typePair, value{}},
		{typeThree, value{}},
		{0, value{}},
	} {
		if got := ts.value(x.typ); got != x.want {
			t.Errorf("type %d: %+v, want %+v", x.typ, got, x.want)
		}
	}
}
