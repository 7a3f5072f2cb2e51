package perfdata

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/cfi"
	"stackmill/stages/loadobject/isa"
	"stackmill/stages/unwind"
)

// The address in the link register is inserted as the leaf's caller where the chain lacks it.
func TestLinkRegister(t *testing.T) {
	const lr, kernel = uint64(1) << arm64LR, ^uint64(0) - 127
	const asked = "arm64 big %t, known [30 31 32], pc 0x4010, lr 0x4804, stack 0 false"
	var long []any
	for i := range chainLimit {
		long = append(long, 0x4010+16*i)
	}
	tests := []struct {
		name        string
		arch        string
		mask        uint64
		misc        uint16
		chain       []any
		abi         int
		regs        []any
		unwound     cfi.Stack
		asked, want string
	}{
		{"live", "aarch64", lr, miscUser, []any{user, 0x4010, 0x4900}, 2, []any{0x4804}, cfi.Stack{Words: []uint64{0x4010, 0x4804}, Reason: "unreadable"},
			asked, "0 [0x4010 0xffffffffffffffff 0x4804 0x4900]"},
		{"other registers are not used", "aarch64", lr | 1<<29, miscUser, []any{user, 0x4010, 0x4900}, 2, []any{0x5000, 0x4804},
			cfi.Stack{Words: []uint64{0x4010, 0x4804}}, asked, "0 [0x4010 0xffffffffffffffff 0x4804 0x4900]"},
		{"saved", "aarch64", lr, miscUser, []any{user, 0x4010, 0x4900}, 2, []any{0x4804}, cfi.Stack{Words: []uint64{0x4010}, Reason: "unreadable"},
			asked, "0 [0x4010 0x4900]"},
		{"the chain has it", "aarch64", lr, miscUser, []any{user, 0x4010, 0x4804}, 2, []any{0x4804}, cfi.Stack{Words: []uint64{0x4010, 0x4804}},
			asked, "0 [0x4010 0x4804]"},
		{"in the kernel", "aarch64", lr, miscKernel, []any{kernel, inKernel, user, 0x4010, 0x4900}, 2, []any{0x4804}, cfi.Stack{Words: []uint64{0x4010, 0x4804}},
			asked, "1 [0xffffffff81000000 0x4010 0xffffffffffffffff 0x4804 0x4900]"},
		{"of the kernel only", "aarch64", lr, miscKernel, []any{kernel, inKernel}, 2, []any{0x4804}, cfi.Stack{}, "", "1 [0xffffffff81000000]"},
		{"32-bit process", "aarch64", lr, miscUser, []any{user, 0x4010, 0x4900}, abi32, []any{0x4804}, cfi.Stack{}, "", "0 [0x4010 0x4900]"},
		{"no registers", "aarch64", lr, miscUser, []any{user, 0x4010, 0x4900}, 0, nil, cfi.Stack{}, "", "0 [0x4010 0x4900]"},
		{"another processor", "x86_64", lr, miscUser, []any{user, 0x4010, 0x4900}, 2, []any{0x4804}, cfi.Stack{}, "", "0 [0x4010 0x4900]"},
		{"a chain at the kernel's limit", "aarch64", 1, miscUser, append([]any{user}, long...), 2, []any{1}, cfi.Stack{}, "", "truncated"},
	}
	for _, tt := range tests {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			t.Run(fmt.Sprint(tt.name, order), func(t *testing.T) {
				b := &builder{order: order, more: sampleRegsUser, regs: tt.mask}
				b.feature(featureHostname, "host")
				b.feature(featureArch, tt.arch)
				body := append([]any{tt.chain[1], uint32(1), uint32(1), 100, len(tt.chain)}, tt.chain...)
				b.record(recordSample, tt.misc, append(append(body, tt.abi), tt.regs...)...)
				path := filepath.Join(t.TempDir(), "perf.data")
				if err := os.WriteFile(path, b.file(), 0o644); err != nil {
					t.Fatal(err)
				}
				rec := New().Open(t.Context(), path)
				defer rec.Close()
				p := rec.Processes[0]
				was := ""
				done, err := unwind.Complete(p, walk(func(d *decode.StackDump) *cfi.Stack {
					var known []int
					for i := range d.Registers {
						if d.Known>>i&1 != 0 {
							known = append(known, i)
						}
					}
					was = fmt.Sprintf("arm64 big %t, known %v, pc %#x, lr %#x, stack %d %t",
						d.Machine.Arch == isa.ARM64 && d.Machine.Big, known, d.Registers[arm64IP], d.Registers[arm64LR], len(d.Stack), d.Full)
					return &tt.unwound
				}).walkers)
				if err != nil {
					t.Fatal(err)
				}
				p.Stacks = done.Stacks
				want := tt.asked
				if want != "" {
					want = fmt.Sprintf(want, order == binary.AppendByteOrder(binary.BigEndian))
				}
				if was != want {
					t.Errorf("asked for %q, not %q", was, want)
				}
				s := p.Stacks.Expanded()[0]
				if tt.want == "truncated" {
					if s.Words[len(s.Words)-1] != decode.MarkTruncated {
						t.Errorf("%#x", s.Words)
					}
				} else if d := cmp.Diff(tt.want, fmt.Sprintf("%d %#x", s.Kernel, s.Words)); d != "" || p.Stacks.Len() != 1 {
					t.Error(d)
				}
			})
		}
	}
}
