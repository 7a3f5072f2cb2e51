package types

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// The numbers of the types in sample.
const (
	void = iota
	integer
	real8
	long8
	list
	pointer
	inner
	text
	record
	records
	named
	bits
	holder
	empty
	matrix
	flexible
	loop
	size
	callback
	derived
	pair
	halves
	twoWays
)

// sample returns a table of types such as compilers describe.
func sample() *Table {
	t := &Table{Units: []string{"", "a.c"}, Scopes: make([]Scope, 1)}
	types := []Type{
		void:     {Size: -1},
		integer:  {Kind: Base, Name: "int", Size: 4},
		real8:    {Kind: Base, Name: "double", Size: 8, Float: true},
		long8:    {Kind: Base, Name: "long", Size: 8},
		list:     {Kind: Union, Size: 8},
		pointer:  {Kind: Pointer, Elem: list, Size: 8},
		inner:    {Kind: Structure, Name: "inner_t", Size: 16},
		text:     {Kind: Array, Elem: integer, Size: 40, Count: 10},
		record:   {Kind: Structure, Name: "rec_t", Size: 64},
		records:  {Kind: Array, Elem: record, Size: 640, Count: 10},
		named:    {Kind: Typedef, Name: "records_t", Elem: records, Size: 640},
		bits:     {Kind: Structure, Name: "bits", Size: 8},
		holder:   {Kind: Class, Name: "Holder<int, 3>", Size: 72},
		empty:    {Kind: Structure, Name: "empty", Size: 1},
		matrix:   {Kind: Array, Elem: records, Size: 1280, Count: 2},
		flexible: {Kind: Array, Elem: inner, Size: -1, Count: -1},
		loop:     {Kind: Structure, Name: "loop", Size: 8},
		size:     {Kind: Typedef, Name: "size_t", Elem: long8, Size: 8},
		callback: {Kind: Subroutine, Elem: integer, Size: -1},
		derived:  {Kind: Const, Elem: pointer, Size: 8},
		pair:     {Kind: Array, Elem: long8, Size: 16, Count: 2},
		halves:   {Kind: Structure, Name: "halves", Size: 16},
		twoWays:  {Kind: Union, Name: "two", Size: 16},
	}
	members := map[int][]Member{
		list:   {{Name: "d", Type: real8}, {Name: "l", Type: long8}, {Name: "i", Type: integer}},
		inner:  {{Name: "tag", Type: integer}, {Name: "u", Type: list, Offset: 8}},
		record: {{Name: "key", Type: long8}, {Name: "in", Type: inner, Offset: 8}, {Name: "pad", Type: text, Offset: 24}},
		bits: {{Name: "a", Type: integer, Bits: 3}, {Name: "b", Type: integer, Bit: 3, Bits: 9},
			{Name: "c", Type: integer, Offset: 4, Bit: 1, Bits: 2}},
		holder:  {{Type: empty, Base: true}, {Type: record, Base: true}, {Name: "rest", Type: flexible, Offset: 64}},
		halves:  {{Name: "low", Type: integer}, {Name: "far", Type: long8, Offset: 4}},
		twoWays: {{Name: "words", Type: pair}, {Name: "halves", Type: halves}},
		loop:    {{Name: "self", Type: loop}, {Name: "again", Type: loop}},
	}
	t.Types = types
	for i := range types {
		t.Types[i].First, t.Types[i].Members = MemberNo(len(t.Members)), int32(len(members[i]))
		t.Members = append(t.Members, members[i]...)
	}
	t.Index()
	return t
}

func way(t *Table, steps []Step) string {
	var parts []string
	for _, s := range steps {
		name := ""
		if s.Member >= 0 {
			name = t.Members[s.Member].Name
		}
		parts = append(parts, fmt.Sprintf("%s+%d", t.Spell(s.Type, name), s.Offset))
	}
	return strings.Join(parts, " . ")
}

func TestDescend(t *testing.T) {
	table := sample()
	for _, x := range []struct {
		what   string
		typ    TypeNo
		offset int64
		use    Use
		want   string
	}{
		{"a scalar", integer, 0, Use{Size: 4, Float: false}, "int -+0"},
		{"a scalar by its typedef", size, 0, Use{Size: 8, Float: false}, "size_t=long -+0"},
		{"an array of scalars", text, 12, Use{Size: 4, Float: false}, "array[10]:int -+0"},
		{"a member", record, 0, Use{Size: 8, Float: false}, "structure:rec_t+0 . long key+0"},
		{"a nested member", record, 8, Use{Size: 4, Float: false}, "structure:rec_t+0 . structure:inner_t+8 . int tag+0"},
		{"an array in an aggregate", record, 60, Use{Size: 4, Float: false}, "structure:rec_t+0 . array[10]:int pad+24"},
		{"a hole", record, 12, Use{Size: 4, Float: false}, "structure:rec_t+0 . structure:inner_t+8"},
		{"behind the end", record, 64, Use{Size: 4, Float: false}, "structure:rec_t+0"},
		{"before the begin", record, -8, Use{Size: 4, Float: false}, "structure:rec_t+0"},
		{"an array of aggregates", records, 3*64 + 8, Use{Size: 4, Float: false}, "structure:rec_t+0 . structure:inner_t+8 . int tag+0"},
		{"two dimensions by a typedef", matrix, 640 + 64 + 0, Use{Size: 8, Float: false}, "structure:rec_t+0 . long key+0"},
		{"a typedef of an array", named, 64, Use{Size: 8, Float: false}, "structure:rec_t+0 . long key+0"},
		{"a union as floating point", record, 16, Use{Size: 8, Float: true}, "structure:rec_t+0 . structure:inner_t+8 . union:u+8 . double d+0"},
		{"a union as a long", record, 16, Use{Size: 8, Float: false}, "structure:rec_t+0 . structure:inner_t+8 . union:u+8 . long l+0"},
		{"a union as an int", list, 0, Use{Size: 4, Float: false}, "union:-+0 . int i+0"},
		{"a union as a float, which it has not", list, 0, Use{Size: 4, Float: true}, "union:-+0"},
		{"a union as who knows", list, 0, Use{}, "union:-+0 . double d+0"},
		{"a union as what it has not", list, 0, Use{Size: 2, Float: false}, "union:-+0"},
		{"elements of a member that are used at once", record, 24, Use{Size: 16, Vector: true}, "structure:rec_t+0 . array[10]:int pad+24"},
		{"a union as a word", twoWays, 8, Use{Size: 8, Float: false}, "union:two+0 . array[2]:long words+0"},
		{"a union across words", twoWays, 4, Use{Size: 8, Float: false}, "union:two+0 . structure:halves+0 . long far+4"},
		{"bit fields", bits, 0, Use{Size: 4, Float: false}, "structure:bits+0"},
		{"the first byte of bit fields", bits, 0, Use{}, "structure:bits+0"},
		{"the second byte of bit fields", bits, 1, Use{Size: 1, Float: false}, "structure:bits+0 . int b+0"},
		{"bit fields behind the first byte used", bits, 2, Use{Size: 4, Float: false}, "structure:bits+0 . int c+4"},
		{"no bit fields", bits, 2, Use{Size: 2, Float: false}, "structure:bits+0"},
		{"a base class behind an empty one", holder, 0, Use{Size: 8, Float: false}, "class:Holder<int,_3>+0 . structure:rec_t+0 . long key+0"},
		{"that of a use not known", holder, 0, Use{}, "class:Holder<int,_3>+0 . structure:rec_t+0 . long key+0"},
		{"a flexible array at the end", holder, 64 + 3*16, Use{Size: 4, Float: false}, "class:Holder<int,_3>+0 . structure:inner_t+64 . int tag+0"},
		{"nothing", void, 0, Use{Size: 8, Float: false}, "void -+0"},
	} {
		if got := way(table, table.Descend(x.typ, x.offset, x.use)); got != x.want {
			t.Errorf("%s: got  %s\nwant %s", x.what, got, x.want)
		}
	}
	if n := len(table.Descend(loop, 0, Use{})); n > maxSteps {
		t.Errorf("%d steps into a type that contains itself", n)
	}
}

func TestSpell(t *testing.T) {
	table := &Table{Types: []Type{
		void: {},
		1:    {Kind: Base, Name: "unsigned long"},
		2:    {Kind: Const, Elem: 1},
		3:    {Kind: Pointer, Elem: 2},
		4:    {Kind: Const, Elem: 3},
		5:    {Kind: Structure, Name: "node_t"},
		6:    {Kind: Typedef, Name: "node", Elem: 5},
		7:    {Kind: Pointer, Elem: 6},
		8:    {Kind: Array, Elem: 7, Count: 4},
		9:    {Kind: Array, Elem: 8, Count: -1},
		10:   {Kind: Typedef, Name: "inner_size", Elem: 1},
		11:   {Kind: Typedef, Name: "size type", Elem: 10},
		12:   {Kind: Subroutine},
		13:   {Kind: Pointer, Elem: 12},
		14:   {Kind: Enumeration, Name: "color"},
		15:   {Kind: Typedef, Name: "color", Elem: 14},
		16:   {Kind: Unspecified, Name: "decltype(nullptr)"},
		17:   {Kind: Union},
		18:   {Kind: Reference, Elem: 17},
		19:   {Kind: Pointer},
		20:   {Kind: Volatile, Elem: 4},
		21:   {Kind: Array, Elem: 2, Count: 3},
		22:   {Kind: Const, Elem: 21},
		23:   {Kind: MemberPointer, Elem: 12},
		24:   {Kind: Const, Elem: 6},
	}}
	for _, x := range []struct {
		typ        TypeNo
		name, want string
	}{
		{1, "n", "unsigned_long n"},
		{4, "p", "const+pointer+const+unsigned_long p"},
		{5, "x", "structure:node_t"},
		{6, "x", "structure:node_t"},
		{24, "x", "structure:node_t"},
		{7, "next", "pointer+structure:node_t next"},
		{9, "a", "array[]:array[4]:pointer+structure:node_t a"},
		{11, "n", "size_type=unsigned_long n"},
		{13, "f", "pointer+function f"},
		{15, "c", "enumeration:color c"},
		{16, "", "unspecified:decltype(nullptr) -"},
		{17, "u", "union:u"},
		{17, "", "union:-"},
		{18, "r", "reference+union:- r"},
		{19, "v", "pointer+void v"},
		{20, "p", "const+volatile+pointer+const+unsigned_long p"},
		{22, "a", "array[3]:const+unsigned_long a"},
		{23, "m", "member+pointer+function m"},
		{void, "x", "void x"},
	} {
		if got := table.Spell(x.typ, x.name); got != x.want {
			t.Errorf("%d: got %q, want %q", x.typ, got, x.want)
		}
	}
	if got := sample().SpellMember(8); got != "int:3 a" {
		t.Errorf("a bit field is %q", got)
	}
}

// Global finds the same variable as a linear search: of those that contain the address, one that
// begins last.
func TestGlobal(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		table := &Table{Types: []Type{{Size: -1}}, Scopes: make([]Scope, 1)}
		for n := range int64(9) {
			table.Types = append(table.Types, Type{Kind: Array, Size: n})
		}
		at := uint64(0)
		for i := range rapid.Int32Range(0, 12).Draw(r, "n") {
			at += rapid.Uint64Range(0, 4).Draw(r, "gap")
			table.Variables = append(table.Variables, Variable{Address: at, Type: TypeNo(rapid.Int32Range(0, 9).Draw(r, "type"))})
			table.Globals = append(table.Globals, VariableNo(i))
		}
		table.Index()
		for a := range at + 12 {
			begin, found := uint64(0), false
			for i, v := range table.Variables {
				if v.Address <= a && a < table.end(VariableNo(i)) {
					begin, found = v.Address, true
				}
			}
			v, offset, ok := table.Global(a)
			if ok != found || ok && (table.Variables[v].Address != begin || offset != int64(a-begin)) {
				r.Fatalf("%d: got %d, %d, %v; want one at %d, %v", a, v, offset, ok, begin, found)
			}
		}
	})
}

func TestScopes(t *testing.T) {
	table := &Table{Scopes: []Scope{{}, {Function: 1}, {Parent: 1, Function: 1}, {Parent: 2, Function: 3}, {Function: 4}},
		Ranges: []Range{{10, 50, 1}, {12, 40, 2}, {12, 20, 3}, {30, 40, 3}, {50, 60, 4}}}
	table.Index()
	for _, x := range []struct {
		pc       uint64
		scopes   []ScopeNo
		function ScopeNo
	}{
		{9, nil, 0}, {10, []ScopeNo{1}, 1}, {12, []ScopeNo{3, 2, 1}, 1}, {25, []ScopeNo{2, 1}, 1}, {30, []ScopeNo{3, 2, 1}, 1},
		{40, []ScopeNo{1}, 1}, {49, []ScopeNo{1}, 1}, {50, []ScopeNo{4}, 4}, {60, nil, 0},
	} {
		if d := cmp.Diff(x.scopes, table.ScopesAt(x.pc)); d != "" || table.Function(x.pc) != x.function {
			t.Errorf("%d: function %d, %s", x.pc, table.Function(x.pc), d)
		}
	}
}

func TestReturned(t *testing.T) {
	table := &Table{Returns: []ReturnType{{"a", 3}, {"malloc", 4}}}
	if table.Returned("malloc") != 4 || table.Returned("a") != 3 || table.Returned("b") != 0 || table.Returned("z") != 0 {
		t.Error(table.Returned("malloc"), table.Returned("a"), table.Returned("b"))
	}
}

// Decode rejects a type that contains itself, even type 0.
func TestDecodeNothing(t *testing.T) {
	table := sample()
	table.Types[0].Kind = Const
	if _, err := Decode(table.Append(nil)); !errors.Is(err, ErrEncoding) {
		t.Error(err)
	}
}

func FuzzDecode(f *testing.F) {
	table := sample()
	table.Variables = []Variable{{Name: "v", Type: record, Unit: 1, Address: 64, Places: 1}, {Name: "t", Type: integer, First: 1}}
	table.Places = []Place{{Low: 1, High: Always, Kind: AtRegister, Register: 7, Offset: -8, PieceSize: 4}}
	table.Globals, table.Threads = []VariableNo{0}, []VariableNo{1}
	table.Scopes = append(table.Scopes, Scope{Function: 1, Name: "f", Unit: 1, Type: pointer, Variables: 2, FrameBase: table.Places})
	table.Ranges = []Range{{1, 2, 1}}
	table.Returns = []ReturnType{{"f", pointer}}
	table.Index()
	encoded := table.Append(nil)
	again, err := Decode(encoded)
	if err != nil {
		f.Fatal(err)
	}
	if d := cmp.Diff(table, again, cmp.AllowUnexported(Table{})); d != "" {
		f.Fatal(d)
	}
	f.Add(encoded)
	for i := 0; i < len(encoded); i += 7 {
		b := bytes.Clone(encoded)
		b[i] ^= 0x41
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		table, err := Decode(b)
		if err != nil {
			return
		}
		for typ := range table.Types {
			table.Descend(TypeNo(typ), 8, Use{Size: 8, Float: true})
			table.Spell(TypeNo(typ), "x")
		}
		for m := range table.Members {
			table.SpellMember(MemberNo(m))
		}
		for _, a := range []uint64{0, 1, 64, 1 << 40} {
			table.Global(a)
			table.Thread(a)
			table.ScopesAt(a)
			table.Function(a)
		}
		table.Bytes()
	})
}

// TestUnion checks which member of union { signed char c; int i; long l, m; double d; } or of
// union { long l; void *p; } is used: none if several fit equally well, or if a load may read only
// a part of one.
func TestUnion(t *testing.T) {
	x := &Table{
		Types: []Type{
			{},
			{Kind: Base, Name: "signed char", Size: 1},
			{Kind: Base, Name: "int", Size: 4},
			{Kind: Base, Name: "long", Size: 8},
			{Kind: Base, Name: "double", Size: 8, Float: true},
			{Kind: Union, Name: "u", Size: 8, Members: 5},
			{Kind: Pointer, Elem: 1, Size: 8},
			{Kind: Union, Name: "v", Size: 8, First: 5, Members: 2},
		},
		Members: []Member{{Name: "c", Type: 1}, {Name: "i", Type: 2}, {Name: "l", Type: 3}, {Name: "m", Type: 3}, {Name: "d", Type: 4},
			{Name: "l", Type: 3}, {Name: "p", Type: 6}},
	}
	x.Index()
	for _, c := range []struct {
		name  string
		union TypeNo
		use   Use
		want  MemberNo // None for the union
	}{
		{"a byte is stored", 5, Use{Size: 1, Store: true}, 0},
		{"a byte is loaded, perhaps of a longer number", 5, Use{Size: 1, Part: true}, None},
		{"an int is stored", 5, Use{Size: 4, Store: true}, 1},
		{"an int is loaded", 5, Use{Size: 4}, 1},
		{"a word is loaded, perhaps for its first byte", 5, Use{Size: 4, Part: true}, None},
		{"either long", 5, Use{Size: 8, Store: true}, None},
		{"a double", 5, Use{Size: 8, Float: true}, 4},
		{"a long or a pointer", 7, Use{Size: 8, Store: true}, None},
		{"a long is stored", 7, Use{Size: 8, Store: true, Kind: Base}, 5},
		{"a pointer is stored", 7, Use{Size: 8, Store: true, Kind: Pointer}, 6},
	} {
		way := x.Descend(c.union, 0, c.use)
		if got := way[len(way)-1].Member; got != c.want {
			t.Errorf("%s: member %d, want %d", c.name, got, c.want)
		}
	}
}
