package dataspace

import (
	"testing"

	"stackmill/stages/symbolize/datatype"
)

// TestArray checks which array of an aggregate an index counts in: struct
// pair's doubles, or the pairs themselves.
func TestArray(t *testing.T) {
	ts := testTypes()
	index := func(offset, step int64) value {
		return value{kind: address, typ: typePair, variable: none, offset: offset, indexed: true, step: step}
	}
	integer, number := datatype.Use{Size: 8}, datatype.Use{Size: 8, Float: true}
	for _, x := range []struct {
		name string
		at   value
		use  datatype.Use
		want int64 // the offset, -1 for one that is not known
	}{
		{"pairs", index(0, 0), integer, 0},
		{"of[i]", index(8, 8), number, 8},
		{"of[i-1]", index(0, 8), number, 8},
		{"of[i+1]", index(16, 8), number, 16},
		{"of an index that may be anything", index(0, 1), integer, 8},
		{"bytes", index(0, 1), datatype.Use{Size: 1}, -1},
		{"the step of neither", index(0, 12), integer, -1},
		{"two at once, behind the key", index(0, 8), datatype.Use{Size: 16}, -1},
	} {
		got, ok := ts.array(x.at, x.use)
		if ok != (x.want >= 0) || ok && (got.offset != x.want || got.step != 0) {
			t.Errorf("%s: %+v, %v", x.name, got, ok)
		}
	}
}
