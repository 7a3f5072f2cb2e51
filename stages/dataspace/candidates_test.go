package dataspace

import (
	"testing"

	"stackmill/stages/loadobject/types"
)

// TestCandidates checks which of two variables in a register is chosen: pair is struct { long key;
// double of[3]; }.
func TestCandidates(t *testing.T) {
	ts := testTypes()
	at := func(typ types.TypeNo, offset int64) operandTarget {
		return operandTarget{ok: true, typ: typ, variable: types.None, offset: offset, method: MethodVariable}
	}
	integer, number := types.Use{Size: 8}, types.Use{Size: 8, Float: true}
	for _, x := range []struct {
		name  string
		roots []operandTarget
		use   types.Use
		want  types.TypeNo // 0 for a reason
		why   string
	}{
		{"a member", []operandTarget{at(typePair, 0)}, integer, typePair, ""},
		{"a number of another kind", []operandTarget{at(typeLong, 0)}, number, 0, detailFit},
		{"a part of a number", []operandTarget{at(typeLong, 0)}, types.Use{Size: 4, Float: true}, 0, detailFit},
		{"a plain pointer, then an aggregate", []operandTarget{at(typeLong, 0), at(typePair, 0)}, integer, typePair, ""},
		{"an aggregate that does not fit", []operandTarget{at(typePair, 0), at(typeDouble, 0)}, number, typeDouble, ""},
		{"nothing", nil, integer, 0, ""},
	} {
		c := candidates{types: ts, use: x.use}
		for _, r := range x.roots {
			c.add(r, "")
		}
		if got, why := c.found(); got.ok != (x.want != 0) || got.ok && got.typ != x.want || why != x.why {
			t.Errorf("%s: %+v, %q", x.name, got, why)
		}
	}
}
