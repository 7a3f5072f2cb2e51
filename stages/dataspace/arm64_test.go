package dataspace

import (
	"testing"

	"stackmill/stages/decode"
	"stackmill/stages/symbolize"
	"stackmill/stages/symbolize/tables"
)

// TestARM64 checks what the operands of A64 code refer to, without data addresses:
// by the addresses in testdata/access_arm64.
func TestARM64(t *testing.T) {
	const path = "testdata/access_arm64"
	rec := &decode.Recording{
		Arch: "aarch64", WordBits: 64, PageSize: 4096,
		Locate: func(string) []decode.Candidate { return []decode.Candidate{{Path: path, Origin: "path"}} },
	}
	p := &decode.Process{Number: 1, Image: []decode.MapEvent{{Address: 0x400000, Size: 0x1000, Modes: 5, Path: path}}}
	loader := tables.New(tables.Options{})
	resolver := symbolize.New(rec, loader)
	space := New(resolver, loader, &rec.Problems)
	process := space.Process(p, resolver.Process(p, "."), nil)
	for _, x := range []struct {
		pc         uint64
		function   string
		descriptor string
		method     Method
	}{
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
	} {
		found := process.Find(&Event{PC: x.pc, Trigger: decode.TriggerExact})
		at := resolver.Program.Functions[resolver.Program.Locations[found.Location].Function].Name
		if got := space.Objects[found.Object].Descriptor; got != x.descriptor || found.Method != x.method || at != x.function {
			t.Errorf("%#x in %s: %s, %q (%s), want %s, %q in %s", x.pc, at, got, found.Method, found.Detail, x.descriptor, x.method, x.function)
		}
	}
}
