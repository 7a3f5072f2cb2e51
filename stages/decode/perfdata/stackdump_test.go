package perfdata

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/cfi"
	"stackmill/stages/loadobject/isa"
	"stackmill/stages/unwind"
)

// walk is a function that implements unwind.Walker.
type walk func(*decode.StackDump) *cfi.Stack

func (w walk) Unwind(d *decode.StackDump) *cfi.Stack { return w(d) }

func (w walk) Report() func() { return nil }

// walkers returns w n times.
func (w walk) walkers(n int) []unwind.Walker { return slices.Repeat([]unwind.Walker{w}, n) }

// stackDumps is a recording of samples with user registers and stacks of 16 bytes.
type stackDumps struct{ builder }

func newStackDumps(order binary.AppendByteOrder, mask uint64) *stackDumps {
	return &stackDumps{builder{order: order, more: sampleRegsUser | sampleStackUser, regs: mask}}
}

// sample records a sample with a chain, registers of an ABI, and a stack of which valid bytes are
// valid.
func (d *stackDumps) sample(misc uint16, ip any, chain []any, abi int, regs []any, valid int) {
	body := append([]any{ip, uint32(1), uint32(1), 100, len(chain)}, chain...)
	body = append(append(append(body, abi), regs...), 16, 0x1111, 0x2222, valid)
	d.record(recordSample, misc, body...)
}

// unwound opens the recording and unwinds each dump to two callers. It returns the dumps that it
// was asked to unwind, and the samples.
func (d *stackDumps) unwound(t *testing.T) (asked, samples []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "perf.data")
	if err := os.WriteFile(path, d.file(), 0o644); err != nil {
		t.Fatal(err)
	}
	rec := New().Open(t.Context(), path)
	defer rec.Close()
	p := rec.Processes[0]
	if p.Dumps == nil {
		return nil, samplesOf(t, p, nil)
	}
	done, err := unwind.Complete(p, walk(func(d *decode.StackDump) *cfi.Stack {
		text := fmt.Sprintf("%t %t at %d, stack of %d %t:", d.Machine.Arch == isa.ARM64, d.Machine.Big, d.Time, len(d.Stack), d.Full)
		for i, v := range d.Registers {
			if d.Known>>i&1 != 0 {
				text += fmt.Sprintf(" %d=%#x", i, v)
			}
		}
		asked = append(asked, text)
		pc := d.Registers[16]
		if d.Machine.Arch == isa.ARM64 {
			pc = d.Registers[32]
		}
		return &cfi.Stack{Words: []uint64{pc, 0x701, 0x702}, Exact: []int32{1}, Reason: "dump-too-short"}
	}).walkers)
	if err != nil {
		t.Fatal(err)
	}
	p.Stacks = done.Stacks
	for _, s := range p.Stacks.Expanded() {
		samples = append(samples, fmt.Sprintf("%d %v %q", s.Kernel, s.Exact, s.Reason))
	}
	return asked, append(samples, samplesOf(t, p, done)...)
}

// Registers get their DWARF numbers; the unwound stack follows the kernel's, and
// the sampled address stays the leaf.
func TestStackDumps(t *testing.T) {
	const kernel = ^uint64(0) - 127
	le, be := binary.AppendByteOrder(binary.LittleEndian), binary.AppendByteOrder(binary.BigEndian)
	const mask = 1<<0 | 1<<1 | 1<<7 | 1<<8 | 1<<9 | 1<<16 // AX, BX, SP, IP, flags, R8
	regs := []any{1, 2, 0x5000, 0x700, 3, 8}
	arm := uint64(1<<0 | 1<<30 | 1<<31 | 1<<32)
	tests := []struct {
		name           string
		order          binary.AppendByteOrder
		mask           uint64
		record         func(d *stackDumps)
		asked, samples []string
	}{
		{"user", le, mask, func(d *stackDumps) {
			d.sample(miscUser, 0x6ff, nil, 2, regs, 8)
			d.sample(miscUser, 0x700, nil, 2, regs, 16)
		}, []string{"false false at 0, stack of 8 false: 0=0x1 3=0x2 7=0x5000 8=0x8 16=0x700", "false false at 0, stack of 16 true: 0=0x1 3=0x2 7=0x5000 8=0x8 16=0x700"},
			[]string{`0 [1] "dump-too-short"`, `0 [1] "dump-too-short"`,
				"  0 [0x6ff 0x701 0x702 0xfffffffffffffffe] 1000", "  0 [0x700 0x701 0x702 0xfffffffffffffffe] 1000"}},
		{"kernel", be, mask, func(d *stackDumps) {
			d.sample(miscKernel, uint64(0xffffffff81000000), []any{kernel, uint64(0xffffffff81000000), uint64(0xffffffff81000008)}, 2, regs, 8)
		}, []string{"false true at 0, stack of 8 false: 0=0x1 3=0x2 7=0x5000 8=0x8 16=0x700"},
			[]string{`2 [3] "dump-too-short"`, "  0 [0xffffffff81000000 0xffffffff81000008 0x700 0x701 0x702 0xfffffffffffffffe] 1000"}},
		{"arm64", le, arm, func(d *stackDumps) { d.sample(miscUser, 0x700, nil, 2, []any{1, 30, 31, 0x700}, 8) },
			[]string{"true false at 0, stack of 8 false: 0=0x1 30=0x1e 31=0x1f 32=0x700"},
			[]string{`0 [1] "dump-too-short"`, "  0 [0x700 0x701 0x702 0xfffffffffffffffe] 1000"}},
		{"32-bit process", le, mask, func(d *stackDumps) { d.sample(miscUser, 0x700, nil, abi32, regs, 8) },
			nil, []string{`0 [] "other-machine"`, "  0 [0x700 0xfffffffffffffffe] 1000"}},
		{"no stack pointer", le, 1 << 8, func(d *stackDumps) { d.sample(miscUser, 0x700, nil, 2, []any{0x700}, 8) },
			nil, []string{`0 [] "missing-registers"`, "  0 [0x700 0xfffffffffffffffe] 1000"}},
		{"nothing of the stack", le, mask, func(d *stackDumps) { d.sample(miscUser, 0x700, nil, 2, regs, 0) },
			nil, []string{"  0 [0x700] 1000"}},
		{"no registers", le, mask, func(d *stackDumps) { d.sample(miscUser, 0x700, nil, 0, nil, 8) },
			nil, []string{"  0 [0x700] 1000"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d := newStackDumps(tt.order, tt.mask)
			tt.record(d)
			asked, samples := d.unwound(t)
			if diff := cmp.Diff(tt.asked, asked); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.samples, samples); diff != "" {
				t.Error(diff)
			}
		})
	}
}
