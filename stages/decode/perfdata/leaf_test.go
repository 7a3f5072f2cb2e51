package perfdata

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/schema"
	"stackmill/stages/decode"
)

// preciseIP are the flags of an event that was recorded with precise_ip 2.
const preciseIP = 2 << preciseShift

// The sampled address is the leaf, wherever the interrupt arrived; the callers come from the chain.
func TestExactLeaf(t *testing.T) {
	const precise = miscExact | miscUser
	const inside = inKernel + 0x500
	for _, tt := range []struct {
		name  string
		misc  uint16
		ip    any
		chain []any
		want  string
	}{
		{"at the next instruction", precise, 0x400c, []any{user, 0x4010, 0x4100}, "0 [0x400c 0x4100]"},
		{"at the same one", precise, 0x4010, []any{user, 0x4010, 0x4100}, "0 [0x4010 0x4100]"},
		{"in another function", precise, 0x9000, []any{user, 0x4010, 0x4100}, "0 [0x9000 0x4100]"},
		{"without callers", precise, 0x400c, []any{user, 0x4010}, "0 [0x400c]"},
		{"without a marker", precise, 0x400c, []any{0x4010, 0x4100}, "0 [0x400c 0x4100]"},
		{"without a chain", precise, 0x400c, nil, "0 [0x400c]"},
		{"in the kernel, which the program entered later", precise, 0x400c, []any{kernel, inKernel, inKernel + 9, user, 0x4010, 0x4100}, "0 [0x400c 0x4100]"},
		{"in the kernel, without the program's chain", precise, 0x400c, []any{kernel, inKernel, inKernel + 9}, "0 [0x400c]"},
		{"of the kernel, at the next instruction", miscExact | miscKernel, inside, []any{kernel, inside + 4, inKernel, user, 0x4010, 0x4100},
			"2 [0xffffffff81000500 0xffffffff81000000 0x4010 0x4100]"},
		{"of the kernel, back in the program", miscExact | miscKernel, inside, []any{user, 0x4010, 0x4100}, "1 [0xffffffff81000500 0x4010 0x4100]"},
		{"not marked as exact", miscUser, 0x400c, []any{user, 0x4010, 0x4100}, "0 [0x400c 0x4100]"},
		{"user chains only", miscKernel, inside, []any{user, 0x4010, 0x4100}, "1 [0xffffffff81000500 0x4010 0x4100]"},
		{"no address", precise, 0, []any{user, 0x4010, 0x4100}, "0 [0x4010 0x4100]"},
		{"a marker for an address", precise, user, []any{user, 0x4010, 0x4100}, "0 [0x4010 0x4100]"},
	} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			t.Run(fmt.Sprint(tt.name, order), func(t *testing.T) {
				b := &builder{order: order, flags: preciseIP}
				b.at(1, tt.misc, 100, tt.ip, tt.chain...)
				if d := cmp.Diff([]string{tt.want + ` [] ""`}, stacksOf(t, b.file())); d != "" {
					t.Error(d)
				}
			})
		}
	}
}

// A branch from the exact instruction, which the processor has taken when the interrupt arrives, is
// not a call that led to the instruction.
func TestExactLeafOfBranches(t *testing.T) {
	const typed = branchAny | branchTypes
	for _, tt := range []struct {
		name       string
		misc       uint16
		branchType uint64
		ip         int
		chain      []any
		branches   [][3]any
		want       string
	}{
		{"a call", miscExact, branchCallStack, 0x4010, []any{user, 0x6000, 0x4015, 0x4105}, [][3]any{jump(0x4010, 0x6000, 0), jump(0x4100, 0x4000, 0)}, "0 [0x4010 0x4100] [1]"},
		{"next to a call", miscExact, branchCallStack, 0x400c, []any{user, 0x4010, 0x4105}, [][3]any{jump(0x4100, 0x4000, 0)}, "0 [0x400c 0x4100] [1]"},
		{"a recursion that is interrupted there", 0, branchCallStack, 0x4010, []any{user, 0x4010, 0x4015}, [][3]any{jump(0x4010, 0x4000, 0), jump(0x4100, 0x4000, 0)}, "0 [0x4010 0x4010 0x4100] [1 2]"},
		{"a call, with all branches", miscExact, typed, 0x4010, []any{user, 0x6000, 0x4905},
			[][3]any{jump(0x4010, 0x6000, typeCall), jump(0x4800, 0x4000, typeCall)}, "0 [0x4010 0xfffffffffffffffc 0x4800 0x4905] [2]"},
		{"a return, with all branches", miscExact, typed, 0x4010, []any{user, 0x4805, 0x4905},
			[][3]any{jump(0x4010, 0x4805, typeReturn), jump(0x4800, 0x4000, typeCall)}, "0 [0x4010 0xfffffffffffffffc 0x4800 0x4905] [2]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := &builder{order: binary.LittleEndian, more: sampleBranchStack, branchType: tt.branchType, flags: preciseIP}
			body := append([]any{tt.ip, uint32(1), uint32(1), 100, len(tt.chain)}, tt.chain...)
			b.record(recordSample, miscUser|tt.misc, append(body, b.branches(false, tt.branches...)...)...)
			if d := cmp.Diff([]string{tt.want + ` ""`}, stacksOf(t, b.file())); d != "" {
				t.Error(d)
			}
		})
	}
}

// The branch buffer also counts as full if its newest branch is the exact instruction.
func TestExactLeafOfFullBranches(t *testing.T) {
	b := &builder{order: binary.LittleEndian, more: sampleBranchStack, branchType: branchCallStack, flags: preciseIP}
	b.feature(featureHostname, "host")
	b.feature(featurePMUCaps, 1, "branches", "2")
	body := []any{0x4010, uint32(1), uint32(1), 100, 2, user, 0x6000}
	b.record(recordSample, miscUser|miscExact, append(body, b.branches(false, jump(0x4010, 0x6000, 0), jump(0x4100, 0x4000, 0))...)...)
	if d := cmp.Diff([]string{`0 [0x4010 0x4100 0xfffffffffffffffe] [1] "branch-stack-full"`}, stacksOf(t, b.file())); d != "" {
		t.Error(d)
	}
}

// Each sample says whether its address is exact. For the others, the instruction that accessed
// memory must be searched.
func TestExactSamples(t *testing.T) {
	typ := uint32(typeHardware)
	b := &builder{order: binary.LittleEndian, typ: &typ, more: sampleAddr, flags: preciseIP}
	for i, misc := range []uint16{miscExact, 0, miscExact} {
		b.record(recordSample, miscUser|misc, 0x4010, uint32(1), uint32(1), 100+i, 0x9000, 2, user, 0x4014)
	}
	path := filepath.Join(t.TempDir(), "perf.data")
	if err := os.WriteFile(path, b.file(), 0o644); err != nil {
		t.Fatal(err)
	}
	rec := New().Open(t.Context(), path)
	defer rec.Close()
	events := rec.Processes[0].Events(schema.Perf)
	defer events.Close()
	batch, err := events.Next()
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Release()
	if d := cmp.Diff([]int64{1, 0, 1}, schema.Events{RecordBatch: batch}.Int64s("exact_pc")); d != "" {
		t.Error(d)
	}
	if got := rec.Processes[0].Counters[0].Trigger; got != decode.TriggerSkid {
		t.Errorf("trigger %d", got)
	}
}
