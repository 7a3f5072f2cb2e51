package dataspace

import (
	"testing"

	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/isa"
	"stackmill/stages/loadobject/types"
)

// TestArray checks which array of an aggregate an index counts in: struct
// pair's doubles, or the pairs themselves.
func TestArray(t *testing.T) {
	ts := testTypes()
	index := func(offset, step int64) value {
		return value{kind: valueAddress, typ: typePair, variable: types.None, offset: offset, indexed: true, step: step}
	}
	integer, number := types.Use{Size: 8}, types.Use{Size: 8, Float: true}
	for _, x := range []struct {
		name string
		at   value
		use  types.Use
		want int64 // the offset, -1 for one that is not known
	}{
		{"pairs", index(0, 0), integer, 0},
		{"of[i]", index(8, 8), number, 8},
		{"of[i-1]", index(0, 8), number, 8},
		{"of[i+1]", index(16, 8), number, 16},
		{"bytes, as many as may be", index(0, 1), integer, -1},
		{"a computed index of pairs or numbers", index(0, unknownStep), integer, -1},
		{"a computed index of numbers", index(0, unknownStep), number, 8},
		{"a computed index of bytes", index(0, unknownStep), types.Use{Size: 1}, 0},
		{"bytes", index(0, 1), types.Use{Size: 1}, -1},
		{"the step of neither", index(0, 12), integer, -1},
		{"two at once, behind the key", index(0, 8), types.Use{Size: 16}, -1},
	} {
		got, ok := ts.resolveIndex(x.at, x.use)
		if ok != (x.want >= 0) || ok && (got.offset != x.want || got.step != 0) {
			t.Errorf("%s: %+v, %v", x.name, got, ok)
		}
	}
}

// TestArrays checks which of several arrays of a structure an index counts in: struct {
// long one[1]; long many[3]; float f; float few[2]; }.
func TestArrays(t *testing.T) {
	tt := typeTable{&types.Table{
		Types: []types.Type{
			{},
			{Kind: types.Base, Name: "long", Size: 8},
			{Kind: types.Base, Name: "float", Size: 4, Float: true},
			{Kind: types.Array, Elem: 1, Size: 8, Count: 1},
			{Kind: types.Array, Elem: 1, Size: 24, Count: 3},
			{Kind: types.Array, Elem: 2, Size: 8, Count: 2},
			{Kind: types.Structure, Name: "s", Size: 48, Members: 4},
		},
		Members: []types.Member{{Name: "one", Type: 3}, {Name: "many", Type: 4, Offset: 8}, {Name: "f", Type: 2, Offset: 32}, {Name: "few", Type: 5, Offset: 36}},
	}}
	tt.Index()
	integer, number := types.Use{Size: 8}, types.Use{Size: 4, Float: true}
	for _, x := range []struct {
		name         string
		offset, step int64
		use          types.Use
		want         int64 // the offset, -1 for one that is not known
	}{
		{"many[i], or one[i+1]", 8, 8, integer, -1},
		{"many[i+1]", 16, 8, integer, 16},
		{"one[i], or many[i-1]", 0, 8, integer, 0},
		{"few[i-1]", 32, 4, number, 36},
		{"few[i+2]", 44, 4, number, 36},
		{"f, or few[i], by a computed index", 32, unknownStep, number, -1},
		{"few[i], by a computed index", 36, unknownStep, number, 36},
		{"many[i], by a computed index", 8, unknownStep, integer, 8},
		{"many[i+1], or one[i+2], by a computed index", 16, unknownStep, integer, -1},
		{"any bytes of a float", 36, 1, number, -1},
	} {
		for _, variable := range []types.VariableNo{types.None, 0} {
			got, ok := tt.resolveVariableIndex(value{kind: valueAddress, typ: 6, variable: variable, offset: x.offset, indexed: true, step: x.step}, x.use)
			if ok != (x.want >= 0) || ok && (got.offset != x.want || got.step != 0) {
				t.Errorf("%s of variable %d: %+v, %v", x.name, variable, got, ok)
			}
		}
	}
}

// TestContainer checks the aggregate that contains a link, perhaps in an array, by an access to
// another member: struct a { long key; link one; int count; } and struct b { long key; link two[2];
// long last; }.
func TestContainer(t *testing.T) {
	const typeLink, typeA, typeB = 3, 5, 6
	o := &loadObject{types: typeTable{&types.Table{
		Types: []types.Type{
			{},
			{Kind: types.Base, Name: "long", Size: 8},
			{Kind: types.Base, Name: "int", Size: 4},
			{Kind: types.Structure, Name: "link", Size: 8, Members: 1},
			{Kind: types.Array, Elem: typeLink, Size: 16, Count: 2},
			{Kind: types.Structure, Name: "a", Size: 24, First: 1, Members: 3},
			{Kind: types.Structure, Name: "b", Size: 32, First: 4, Members: 3},
		},
		Members: []types.Member{{Name: "next", Type: 1},
			{Name: "key", Type: 1}, {Name: "one", Type: typeLink, Offset: 8}, {Name: "count", Type: 2, Offset: 16},
			{Name: "key", Type: 1}, {Name: "two", Type: 4, Offset: 8}, {Name: "last", Type: 1, Offset: 24}},
	}}}
	o.types.Index()
	for _, x := range []struct {
		name         string
		offset, size int64
		want         types.TypeNo // 0 for none
	}{
		{"a count behind it", 8, 4, typeA},
		{"a key before it, of either", -8, 8, 0},
		{"a key before the second one", -16, 8, typeB},
		{"half a number before it", -4, 4, 0},
	} {
		got, ok := o.container(value{kind: valueAddress, typ: typeLink, variable: types.None, offset: x.offset}, &insn.Access{Size: int(x.size)}, false)
		if ok != (x.want != 0) || ok && got.typ != x.want {
			t.Errorf("%s: %+v, %v", x.name, got, ok)
		}
	}
}

// TestHeld checks the value loaded from union { long n; double d; pair *p; }: the pointer, if
// possible.
func TestHeld(t *testing.T) {
	tt := typeTable{&types.Table{
		Types: []types.Type{
			{},
			{Kind: types.Base, Name: "long", Size: 8},
			{Kind: types.Base, Name: "double", Size: 8, Float: true},
			{Kind: types.Structure, Name: "pair", Size: 32},
			{Kind: types.Pointer, Elem: 3, Size: 8},
			{Kind: types.Union, Name: "one", Size: 8, First: 0, Members: 3},
			{Kind: types.Pointer, Elem: 1, Size: 8},
			{Kind: types.Union, Name: "two", Size: 8, First: 3, Members: 3},
			{Kind: types.Base, Name: "int", Size: 4},
			{Kind: types.Union, Name: "half", Size: 8, First: 6, Members: 2},
		},
		Members: []types.Member{{Name: "n", Type: 1}, {Name: "d", Type: 2}, {Name: "p", Type: 4},
			{Name: "n", Type: 1}, {Name: "p", Type: 4}, {Name: "q", Type: 6}, {Name: "i", Type: 8}, {Name: "p", Type: 4}},
	}}
	tt.Index()
	for _, x := range []struct {
		union types.TypeNo
		size  int64
		want  value
	}{
		{5, 8, value{kind: valueAddress, typ: 3, variable: types.None}},
		{7, 8, value{}},                          // of two pointers neither
		{9, 4, value{kind: valueScalar, typ: 8}}, // half a pointer is none
	} {
		if got := tt.valueAt(x.union, 0, x.size); got != x.want {
			t.Errorf("%s: %+v", tt.Types[x.union].Name, got)
		}
	}
}

// TestCopies checks which registers hold the same value as a register because of earlier moves.
func TestCopies(t *testing.T) {
	const rax, rdx, rcx, rbx = 0, 1, 2, 3 // as DWARF numbers them
	code := []byte{
		0x48, 0x89, 0xd0, // mov %rdx,%rax
		0x48, 0x89, 0xc3, // mov %rax,%rbx
		0x48, 0x89, 0xc1, // mov %rax,%rcx
		0x31, 0xc9, // xor %ecx,%ecx
		0x48, 0x8b, 0x30, // mov (%rax),%rsi
		0xe8, 0, 0, 0, 0, // call
		0x48, 0x8b, 0x33, // mov (%rbx),%rsi
	}
	f := disassemble(&loadObject{}, code, isa.AMD64, 0x1000, 0)
	for _, x := range []struct {
		n    int
		r    insn.Register
		want uint64
	}{
		{4, rax, 1<<rax | 1<<rbx | 1<<rdx},
		{4, rcx, 1 << rcx},
		{2, rdx, 1<<rdx | 1<<rax},
		{6, rbx, 1 << rbx}, // a call is not passed
		{0, rax, 1 << rax},
	} {
		if got := f.copies(x.n, x.r); got != x.want {
			t.Errorf("of %d before instruction %d: %#x, want %#x", x.r, x.n, got, x.want)
		}
	}
}
