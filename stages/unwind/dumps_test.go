package unwind

import (
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/cfi"
	"stackmill/stages/loadobject/isa"
)

// framesOf loads tables by file, and counts the calls.
type framesOf struct {
	tables map[string]*cfi.Table
	asked  []string
}

func (f *framesOf) Frames(path string) (*cfi.Table, error) {
	f.asked = append(f.asked, path)
	if t, ok := f.tables[path]; ok {
		return t, nil
	}
	return nil, errors.New("it is gone")
}

// simple is the call frame information of code of size bytes in which the CFA is always rsp+8. A
// bad entry follows it.
func simple(size uint32) *cfi.Table {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, 16)
	b = append(b, 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1, 0, 0)
	b = le.AppendUint32(b, 20)
	b = le.AppendUint32(b, 24)
	b = le.AppendUint64(le.AppendUint64(b, 0), uint64(size))
	b = le.AppendUint32(b, 4)
	b = le.AppendUint32(b, 0x99) // of no CIE
	return cfi.Read(cfi.Input{Arch: isa.AMD64, Order: le, EHFrame: cfi.Section{Bytes: b},
		Segments: []cfi.Segment{{Offset: 0, Address: 0, Size: uint64(size)}}})
}

// leafOf is the call frame information of arm64 code: its first half has the return
// address in x30, the second has saved it on the stack.
func leafOf(size uint32) *cfi.Table {
	le := binary.LittleEndian
	b := le.AppendUint32(nil, 12)
	b = append(b, 0, 0, 0, 0, 1, 0, 4, 0x78, 30, 0x0c, 31, 0)
	b = le.AppendUint32(b, 28)
	b = le.AppendUint32(b, 20)
	b = le.AppendUint64(le.AppendUint64(b, 0), uint64(size))
	b = append(b, 0x03, 0, 0, 0x0e, 16, 0x9e, 1, 0) // advance by half of size, CFA is sp+16, x30 is at CFA-8
	le.PutUint16(b[len(b)-7:], uint16(size/2/4))
	return cfi.Read(cfi.Input{Arch: isa.ARM64, Order: le, EHFrame: cfi.Section{Bytes: b},
		Segments: []cfi.Segment{{Offset: 0, Address: 0, Size: uint64(size)}}})
}

// Without a stack, the return register counts as the leaf's caller only if it points to code and
// call frame information says that it is not saved.
func TestDumpsReturnRegister(t *testing.T) {
	u, _, _ := unwinder(&decode.Process{})
	d := NewDumpUnwinder(NewFrameTables(&framesOf{tables: map[string]*cfi.Table{"/bin/prog": leafOf(size)}}, &diagnostic.Log{}))
	d.Process(u.process)
	w := d.Walkers(1)[0]
	const live, saved = progBase + 0x110, progBase + size/2 + 0x10
	for _, tt := range []struct {
		name         string
		pc, register uint64
		want         []uint64
	}{
		{"live", live, saved + 0x100, []uint64{live, saved + 0x100}},
		{"saved", saved, live, []uint64{saved}},
		{"no code", live, pcWild, []uint64{live}},
		{"no rules", pcJVM, saved, []uint64{pcJVM}},
	} {
		dump := &decode.StackDump{Machine: decode.Machine{Arch: isa.ARM64}, Known: 1<<30 | 1<<31 | 1<<32}
		dump.Registers[30], dump.Registers[31], dump.Registers[32] = tt.register, 1<<63, tt.pc
		if diff := cmp.Diff(tt.want, w.Unwind(dump).Words); diff != "" {
			t.Errorf("%s: %s", tt.name, diff)
		}
	}
}

// Dumps are unwound by the tables of the objects mapped at the time. Each table is loaded once; its
// defects are problems.
func TestDumps(t *testing.T) {
	p := &decode.Process{Mappings: []decode.MapEvent{
		{Address: pcWild &^ 0xfff, Size: 0x1000, Modes: 5, Path: decode.KernelPath, Time: 10},
	}}
	u, _, _ := unwinder(p)
	frames := &framesOf{tables: map[string]*cfi.Table{"/bin/prog": simple(size)}}
	log := &diagnostic.Log{}
	d := NewDumpUnwinder(NewFrameTables(frames, log))
	d.Process(u.process)
	both := d.Walkers(2)
	unwound := func(time int64, words ...uint64) string {
		dump := &decode.StackDump{Machine: decode.Machine{Arch: isa.AMD64}, Time: time, Known: 1<<7 | 1<<16}
		dump.Registers[7], dump.Registers[16] = 0x5000, pcMain
		for _, w := range words {
			dump.Stack = binary.LittleEndian.AppendUint64(dump.Stack, w)
		}
		s := both[time%2].Unwind(dump)
		return fmt.Sprintf("%#x %s", s.Words, s.Reason)
	}
	got := []string{
		unwound(0, pcWork, pcSignal, 0),
		unwound(1, pcWork, pcJVM, 0),
		unwound(2, pcWork, 0x10, 0),
		unwound(20, pcWork, pcWild, 0), // the kernel's code has no user callers
		unwound(30, pcWork),
	}
	want := []string{
		fmt.Sprintf("[%#x %#x %#x] ", uint64(pcMain), uint64(pcWork), uint64(pcSignal)),
		fmt.Sprintf("[%#x %#x %#x] no-cfi", uint64(pcMain), uint64(pcWork), uint64(pcJVM)),
		fmt.Sprintf("[%#x %#x] no-code", uint64(pcMain), uint64(pcWork)),
		fmt.Sprintf("[%#x %#x] no-code", uint64(pcMain), uint64(pcWork)),
		fmt.Sprintf("[%#x %#x] unreadable", uint64(pcMain), uint64(pcWork)),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"/bin/prog", "/lib/libjvm.so"}, frames.asked); diff != "" {
		t.Error(diff)
	}
	for _, w := range both {
		if report := w.Report(); report != nil {
			report()
		}
	}
	var problems []string
	for _, p := range log.Problems {
		problems = append(problems, p.Reason+" "+p.File)
	}
	if diff := cmp.Diff([]string{"bad-call-frame-information /bin/prog", "bad-call-frame-information /lib/libjvm.so"}, problems); diff != "" {
		t.Error(diff)
	}
}

// Generated code is unwound by the call frame information that its compiler recorded, which is
// written as if it followed the code in memory.
func TestDumpsOfGeneratedCode(t *testing.T) {
	const address, length = pcWild &^ 0xfff, 0x13
	le := binary.LittleEndian
	b := le.AppendUint32(nil, 20)
	b = append(b, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0)
	b = le.AppendUint32(b, 20)
	b = le.AppendUint32(b, 28)
	distance := int32(0x18 + len(b)) // the code, rounded up
	b = le.AppendUint32(le.AppendUint32(b, uint32(-distance)), length)
	b = append(b, 0, 0, 0, 0, 0, 0, 0, 0)
	for _, c := range []struct {
		unwinding []byte
		want      string
	}{
		{b, fmt.Sprintf("[%#x %#x %#x] ", uint64(address+4), uint64(pcWork), uint64(pcSignal))},
		{nil, fmt.Sprintf("[%#x] no-cfi", uint64(address+4))},
	} {
		u, _, _ := unwinder(&decode.Process{Mappings: []decode.MapEvent{
			{Address: address, Size: length, Modes: 5, Path: decode.GeneratedPath, Code: &decode.Code{Function: "handler", Unwinding: c.unwinding}},
		}})
		d := NewDumpUnwinder(NewFrameTables(&framesOf{tables: map[string]*cfi.Table{"/bin/prog": simple(size)}}, &diagnostic.Log{}))
		d.Process(u.process)
		dump := &decode.StackDump{Machine: decode.Machine{Arch: isa.AMD64}, Known: 1<<7 | 1<<16}
		dump.Registers[7], dump.Registers[16] = 0x5000, address+4
		for _, w := range []uint64{pcWork, pcSignal, 0} {
			dump.Stack = le.AppendUint64(dump.Stack, w)
		}
		s := d.Walkers(1)[0].Unwind(dump)
		if got := fmt.Sprintf("%#x %s", s.Words, s.Reason); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}
