package dataspace

import (
	"testing"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/cache"
	"stackmill/stages/symbolize"
)

// operandCase is an instruction with the target of its operand.
type operandCase struct {
	pc         uint64
	function   string
	descriptor string
	method     Method
}

// TestARM64 checks the targets of operands in A64 code, without data addresses: by the addresses in
// testdata/access_arm64.
func TestARM64(t *testing.T) {
	testOperands(t, "aarch64", 64, decode.MapEvent{Address: 0x400000, Size: 0x1000, Modes: 5, Path: "testdata/access_arm64"}, []operandCase{
		{0x400194, "global", "{structure:item}.{int count}", MethodGlobal},
		{0x4001a8, "local_static", "{long total}", MethodGlobal},
		{0x4001b0, "local_static", "{long total}", MethodGlobal},
		{0x4001d0, "thread", NotDetermined.String(), MethodNone}, // the compiler does not tell where mine is
		{0x4001f0, "chase", "{structure:item}.{long key}", MethodVariable},
		{0x4001f4, "chase", "{structure:item}.{pointer+structure:item next}", MethodVariable},
		{0x400208, "nested", "{structure:item}.{structure:point}.{double y}", MethodRegister},
		{0x40022c, "returned", "{short -}", MethodRegister},
		{0x40025c, "typed", "{structure:item}.{int count}", MethodRegister},
		{0x400270, "kept", NotDetermined.String(), MethodNone}, // saves registers
		{0x400288, "kept", "{structure:item}.{int count}", MethodVariable},
		{0x40028c, "kept", "{structure:item}.{short tail}", MethodVariable},
		{0x4002c0, "locals", "{array[40]:double values}", MethodStack},
		{0x4002d0, "copy", "{structure:item}.{long key}", MethodVariable},
		{0x4002e4, "copy", "{structure:item}.{pointer+structure:item next}", MethodVariable},
	})
}

// Test386 checks the same in 32-bit code without call frame information: the stack is tracked from
// the function's entry.
func Test386(t *testing.T) {
	testOperands(t, "i686", 32, decode.MapEvent{Address: 0x8049000, FileOffset: 0x1000, Size: 0x1000, Modes: 5, Path: "testdata/access_386"}, []operandCase{
		{0x8049000, "global", "{int i}", MethodStack},
		{0x8049010, "local_static", "{long total}", MethodGlobal},
		{0x8049040, "chase", "{pointer+structure:item p}", MethodStack},
		{0x8049050, "chase", "{structure:item}.{long key}", MethodVariable},
		{0x8049052, "chase", "{structure:item}.{pointer+structure:item next}", MethodVariable},
		{0x804906b, "nested", "{structure:item}.{structure:point}.{double y}", MethodRegister},
		{0x804908c, "returned", "{short -}", MethodRegister},
		{0x80490b8, "typed", "{structure:item}.{int count}", MethodRegister},
		{0x80490c0, "kept", NotDetermined.String(), MethodNone}, // saves a register
		{0x80490ce, "kept", "{structure:item}.{short tail}", MethodRegister},
		{0x80490f9, "locals", "{array[40]:double values}", MethodStack},
		{0x804911a, "copy", "{structure:item}.{long key}", MethodRegister},
	})
}

func testOperands(t *testing.T, arch string, bits int, code decode.MapEvent, cases []operandCase) {
	rec := &decode.Recording{
		Arch: arch, WordBits: bits, PageSize: 4096,
		Locate: func(string) []decode.Candidate { return []decode.Candidate{{Path: code.Path, Origin: "path"}} },
	}
	p := &decode.Process{Number: 1, Mappings: []decode.MapEvent{code}}
	loader := cache.New(cache.Options{}).Local()
	resolver := symbolize.New(rec, rec, loader)
	space := New(resolver, loader, &rec.Problems)
	process := space.Process(p, resolver.Process(p, "."), nil)
	for _, x := range cases {
		found := process.Find(&Event{PC: x.pc, Trigger: decode.TriggerExact})
		at := resolver.Program.Functions[resolver.Program.Location(found.Location).Function].Name
		if got := space.Objects[found.Object].Descriptor; got != x.descriptor || found.Method != x.method || at != x.function {
			t.Errorf("%#x in %s: %s, %q (%s), want %s, %q in %s", x.pc, at, got, found.Method, found.Detail, x.descriptor, x.method, x.function)
		}
	}
}
