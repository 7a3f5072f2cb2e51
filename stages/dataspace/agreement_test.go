package dataspace

import (
	"testing"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/loadobject/types"
	"stackmill/stages/program"
	"stackmill/stages/symbolize"
)

// The variables of testObject.
const (
	variablePairs = iota // struct pair pairs[10]
	variableTotal        // double total
	variableOther        // long other
)

// testObject returns a space and a load object with some variables of the tests' types.
func testObject() (*Space, *loadObject) {
	ts := testTypes()
	ts.Units = []string{"", "one.c"}
	ts.Variables = []types.Variable{
		{Name: "pairs", Type: typePairs, External: true}, {Name: "total", Type: typeDouble, External: true}, {Name: "other", Type: typeLong, External: true},
	}
	s := New(symbolize.New(&decode.Recording{}, nil, nil), nil, &diagnostic.Log{})
	o := &loadObject{space: s, types: ts, symbols: &symtab.Table{}, variables: &symtab.Variables{}}
	s.objects[0] = o
	return s, o
}

// The operand names the data object. The data address confirms or contradicts it, and decides only
// if the operand names an address itself, or nothing (S27).
func TestAgreement(t *testing.T) {
	s, o := testObject()
	eight := types.Use{Size: 8}
	operandOf := func(r operandTarget) operand {
		op := operand{operandTarget: r, use: eight, size: 8}
		if r.ok {
			op.object = s.dataObject(o, r, eight)
			op.whole = op.object
		}
		return op
	}
	key := operandOf(operandTarget{ok: true, typ: typePair, variable: types.None, method: MethodVariable})                                      // p->key
	other := operandOf(operandTarget{ok: true, typ: typeLong, variable: variableOther, method: MethodGlobal})                                   // other
	container := operandOf(operandTarget{ok: true, typ: typePair, variable: types.None, offset: 8, method: MethodContainer})                    // a guess
	stack := operand{operandTarget: operandTarget{ok: true, typ: typeLong, variable: types.None, method: MethodStack}, frame: true, use: eight} // on the stack
	at := func(variable types.VariableNo, offset int64) addressInfo {
		return addressInfo{object: o, variable: variable, offset: offset, found: true, kind: RegionSegment, symbol: program.None}
	}
	in := func(kind string) addressInfo {
		return addressInfo{kind: kind, variable: types.None, symbol: program.None}
	}
	for _, x := range []struct {
		name       string
		operands   []operand
		at         addressInfo
		descriptor string
		method     Method
		agreement  Agreement
		embedding  string // empty: nothing else is there, or of the same structure
	}{
		{"an element of an array", []operand{key}, at(variablePairs, 3*32), "{structure:pair}.{long key}", MethodVariable, Agrees, ""},
		{"another member", []operand{key}, at(variablePairs, 3*32+8), "{structure:pair}.{long key}", MethodVariable, Disagrees, ""},
		{"something else", []operand{key}, at(variableTotal, 0), "{structure:pair}.{long key}", MethodVariable, Disagrees, "{double total}"},
		{"the variable itself", []operand{other}, at(variableOther, 0), "{long other}", MethodGlobal, Agrees, ""},
		{"another variable", []operand{other}, at(variableTotal, 0), "{double total}", MethodAddress, Disagrees, ""},
		{"a guess", []operand{container}, at(variableTotal, 0), "{double total}", MethodAddress, Disagrees, ""},
		{"no operand", []operand{{}}, at(variableTotal, 0), "{double total}", MethodAddress, Unchecked, ""},
		{"memory without variables", []operand{key}, in(RegionHeap), "{structure:pair}.{long key}", MethodVariable, Unchecked, ""},
		{"a variable that is not there", []operand{other}, in(RegionHeap), NotDetermined.String(), MethodNone, Disagrees, ""},
		{"a pointer into the kernel", []operand{key}, in(RegionKernel), NotDetermined.String(), MethodNone, Disagrees, ""},
		{"the second of two operands", []operand{other, key}, in(RegionAnonymous), "{structure:pair}.{long key}", MethodVariable, Unchecked, ""},
		{"the stack", []operand{stack}, in(RegionSegment), NotDetermined.String(), MethodNone, Disagrees, ""},
	} {
		found := s.decide(&reference{object: o, operands: x.operands, reason: NotDetermined}, x.at, true, accessStart)
		embedding := ""
		if found.Embedding != program.None {
			embedding = s.Objects[found.Embedding].Descriptor
		}
		if got := s.Objects[found.Object].Descriptor; got != x.descriptor || found.Method != x.method || found.Agreement != x.agreement || embedding != x.embedding {
			t.Errorf("%s: %s, %q, %v, in %q; want %s, %q, %v, in %q", x.name, got, found.Method, found.Agreement, embedding, x.descriptor, x.method, x.agreement, x.embedding)
		}
	}
}

// An event without a data object has one of the manual's reasons (S31), by its code, address or
// instruction.
func TestFailures(t *testing.T) {
	exact, final := decode.TriggerExact, &reference{final: true, reason: NoBranchTarget}
	for _, x := range []struct {
		name  string
		event Event
		ref   *reference
		want  string
	}{
		{"jump", Event{Code: 2}, &reference{}, PreventedByJump.String()},
		{"no trigger", Event{Code: 3}, &reference{}, NoTrigger.String()},
		{"registers changed", Event{Code: 4}, &reference{}, ""}, // the code may tell even so
		{"no address", Event{Code: 5}, &reference{}, InvalidAddress.String()},
		{"fetch", Event{PC: 0x1000, Address: 0x100f, HasAddress: true, Trigger: exact}, &reference{}, NoMemoryReference.String()},
		{"data behind the code", Event{PC: 0x1000, Address: 0x1010, HasAddress: true, Trigger: exact}, &reference{}, ""},
		{"no program's", Event{PC: 0x1000, Address: 1 << 60, HasAddress: true, Trigger: exact}, &reference{}, InvalidAddress.String()},
		{"the kernel's", Event{PC: 0x1000, Address: 0xffff888000000000, HasAddress: true, Trigger: exact}, &reference{}, ""},
		{"no instruction", Event{Address: 0x1000, HasAddress: true}, final, NoBranchTarget.String()},
		{"whatever the instruction", Event{Code: 3}, final, NoTrigger.String()},
	} {
		reason, _, failed := failure(&x.event, x.ref)
		got := ""
		if failed {
			got = reason.String()
		}
		if got != x.want {
			t.Errorf("%s: %q, want %q", x.name, got, x.want)
		}
	}
}
