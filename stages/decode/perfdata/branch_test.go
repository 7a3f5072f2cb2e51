package perfdata

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/schema/diagnostic"
)

const inKernel = uint64(0xffffffff81000000)

// jump returns a branch entry.
func jump(from, to any, typ int) [3]any { return [3]any{from, to, typ} }

// branches returns the words of a branch stack. In each entry, all flags are set except those of
// the type.
func (b *builder) branches(hwIndex bool, entries ...[3]any) []any {
	out := []any{len(entries)}
	if hwIndex {
		out = append(out, ^uint64(0))
	}
	for _, e := range entries {
		typ, at := uint64(e[2].(int)), 20
		if b.order == binary.AppendByteOrder(binary.BigEndian) {
			at = 40
		}
		out = append(out, e[0], e[1], ^(uint64(15)<<at)|typ<<at)
	}
	return out
}

// stacksOf opens a recording and lists its stacks.
func stacksOf(t *testing.T, content []byte) (list []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "perf.data")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	rec := New().Open(t.Context(), path)
	defer rec.Close()
	for _, p := range rec.Problems.Problems {
		if p.Severity > diagnostic.Info {
			t.Error(p)
		}
	}
	for _, s := range rec.Processes[0].Stacks.Expanded() {
		list = append(list, fmt.Sprintf("%d %#x %v %q", s.Kernel, s.Words, s.Exact, s.Reason))
	}
	return list
}

// The calls in the processor's branch buffer become the callers of the user PC; calls that are no
// longer in the buffer are lost.
func TestCallStack(t *testing.T) {
	const kernel = ^uint64(0) - 127
	many := func(n int) (list [][3]any) {
		for i := range n {
			list = append(list, jump(0x5000+16*i, 0x6000, 0))
		}
		return list
	}
	frames := func(n int) string {
		text, exact := "", ""
		for i := range n {
			text, exact = text+fmt.Sprintf(" %#x", 0x5000+16*i), exact+fmt.Sprintf(" %d", i+1)
		}
		return "0 [0x4010" + text + "%s] [" + exact[1:] + "] "
	}
	whole := func(n int) string { return fmt.Sprintf(frames(n), "") + `""` }
	cut := func(n int) string {
		return fmt.Sprintf(frames(n), " 0xfffffffffffffffe") + `"branch-stack-full"`
	}
	chain := []any{user, 0x4010, 0x4100, 0x4200}
	deep, lost := []any{kernel}, "127 ["
	for range chainLimit {
		deep, lost = append(deep, inKernel), lost+"0xffffffff81000000 "
	}
	tests := []struct {
		name     string
		misc     uint16
		chain    []any
		branches [][3]any
		capacity string
		want     string
	}{
		{"calls", miscUser, chain, many(2), "", whole(2)},
		{"unused entries", miscUser, chain, append(many(2), jump(0, 0, 0), jump(0x99, 0x99, 0)), "", whole(2)},
		{"of the kernel", miscUser, chain, append(many(1), jump(inKernel, 0x99, 0)), "", whole(1)},
		{"none", miscUser, chain, nil, "", `0 [0x4010 0x4100 0x4200] [] ""`},
		{"none that is used", miscUser, chain, [][3]any{jump(0, 0, 0)}, "", `0 [0x4010 0x4100 0x4200] [] ""`},
		{"all that any processor holds", miscUser, chain, many(16), "", cut(16)},
		{"not all that this one holds", miscUser, chain, many(16), "32", whole(16)},
		{"all that this one holds", miscUser, chain, many(8), "8", cut(8)},
		{"in the kernel", miscKernel, []any{kernel, inKernel, inKernel + 9, user, 0x4010, 0x4100}, many(2), "",
			`2 [0xffffffff81000000 0xffffffff81000009 0x4010 0x5000 0x5010] [3 4] ""`},
		{"of the kernel only, and cut", miscKernel, deep, many(2), "", lost + `0xfffffffffffffffe] [] "chain-limit"`},
		{"behind a chain at the kernel's limit", miscUser, append([]any{user, 0x4010}, deep[1:]...), many(2), "", whole(2)},
		{"of the kernel only", miscKernel, []any{kernel, inKernel, inKernel + 9}, many(2), "", `2 [0xffffffff81000000 0xffffffff81000009] [] ""`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := &builder{order: binary.LittleEndian, more: sampleBranchStack, branchType: branchCallStack | branchHWIndex}
			b.feature(featureHostname, "host")
			if tt.capacity != "" {
				b.feature(featurePMUCaps, 2, "max_precise", "3", "branches", tt.capacity)
			}
			body := append([]any{tt.chain[1], uint32(1), uint32(1), 100, len(tt.chain)}, tt.chain...)
			b.record(recordSample, tt.misc, append(body, b.branches(true, tt.branches...)...)...)
			if d := cmp.Diff([]string{tt.want}, stacksOf(t, b.file())); d != "" {
				t.Error(d)
			}
		})
	}
}

// The call into a leaf without a frame is taken from the branches, if they hold it.
func TestLastCall(t *testing.T) {
	const typed = branchAny | branchTypes
	const (
		cond, call, indirect, ret, syscall = 1, typeCall, typeIndCall, typeReturn, 7
		leaf, caller, grand                = 0x4010, 0x4800, 0x4900
	)
	enter := jump(caller, 0x4000, call) // main's caller called main, which called the leaf
	const plain, restored = "0 [0x4010 0x4900] []", "0 [0x4010 0xfffffffffffffffc 0x4800 0x4900] [2]"
	back := func(from, to int) [3]any { return jump(from, to, ret) }
	tests := []struct {
		name       string
		branchType uint64
		chain      []any
		branches   [][3]any
		want       string
	}{
		{"a call", typed, []any{leaf, grand}, [][3]any{enter, jump(grand-5, 0x4700, call)}, restored},
		{"an indirect call, and jumps", typed, []any{leaf, grand}, [][3]any{jump(0x4008, 0x400a, cond), jump(caller, 0x4000, indirect)}, restored},
		{"behind a call that returned", typed, []any{leaf, grand}, [][3]any{back(0x7010, 0x400c), jump(0x4007, 0x7000, call), enter}, restored},
		{"behind calls in calls", typed, []any{leaf, grand}, [][3]any{
			back(0x7010, 0x400c), back(0x8010, 0x7008), jump(0x7003, 0x8000, call), jump(0x4007, 0x7000, call), enter}, restored},
		{"behind the kernel", typed, []any{leaf, grand}, [][3]any{jump(inKernel, 0x400c, 8), jump(0x400a, inKernel, syscall), jump(0x4001, 0x4004, cond), enter}, restored},
		{"the chain has it", typed, []any{leaf, caller + 5, grand}, [][3]any{enter}, "0 [0x4010 0x4805 0x4900] []"},
		{"the chain has nothing else", typed, []any{leaf}, [][3]any{enter}, "0 [0x4010 0xfffffffffffffffc 0x4800] [2]"},
		{"calls and returns only", branchAnyCall | branchAnyReturn | branchTypes, []any{leaf, grand}, [][3]any{jump(caller, 0x2000, call)}, restored},
		{"calls only: they may have returned", branchAnyCall | branchTypes, []any{leaf, grand}, [][3]any{enter}, plain},
		{"no types", branchAny, []any{leaf, grand}, [][3]any{enter}, plain},
		{"an unknown type", typed, []any{leaf, grand}, [][3]any{jump(0x4008, 0x400a, typeUnknown), enter}, plain},
		{"a return to elsewhere", typed, []any{leaf, grand}, [][3]any{back(0x7010, 0x400c), jump(0x9000, 0x7000, call), enter}, plain},
		{"younger than the sampled instruction", typed, []any{leaf, grand}, [][3]any{jump(leaf+4, 0x6000, call), enter}, plain},
		{"only returns", typed, []any{leaf, grand}, [][3]any{back(0x7010, 0x400c)}, plain},
		{"no branches", typed, []any{leaf, grand}, nil, plain},
	}
	for _, tt := range tests {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			t.Run(fmt.Sprint(tt.name, order), func(t *testing.T) {
				b := &builder{order: order, more: sampleBranchStack, branchType: tt.branchType}
				body := append([]any{leaf, uint32(1), uint32(1), 100, 1 + len(tt.chain), user}, tt.chain...)
				b.record(recordSample, miscUser, append(body, b.branches(false, tt.branches...)...)...)
				if d := cmp.Diff([]string{tt.want + ` ""`}, stacksOf(t, b.file())); d != "" {
					t.Error(d)
				}
			})
		}
	}
}

// Samples with one chain and other branches have stacks of their own.
func TestLastCallDiffers(t *testing.T) {
	b := &builder{order: binary.LittleEndian, more: sampleBranchStack, branchType: branchAny | branchTypes}
	for i := range 3 {
		body := []any{0x4010, uint32(1), uint32(1), 100 + i, 3, user, 0x4010, 0x4900}
		b.record(recordSample, miscUser, append(body, b.branches(false, jump(0x4800+16*(i%2), 0x4000, typeCall))...)...)
	}
	want := []string{`0 [0x4010 0xfffffffffffffffc 0x4800 0x4900] [2] ""`, `0 [0x4010 0xfffffffffffffffc 0x4810 0x4900] [2] ""`}
	if d := cmp.Diff(want, stacksOf(t, b.file())); d != "" {
		t.Error(d)
	}
}

// Counters of branches are skipped, and a sample whose count exceeds its record is bad.
func TestBranchLayout(t *testing.T) {
	b := &builder{order: binary.LittleEndian}
	body := append(b.words(b.branches(true, jump(1, 2, 3), jump(4, 5, 6))...), b.words(7, 8, 9)...)
	c := cursorOf(body, false)
	entries := cursorOf(c.branches(branchHWIndex|branchCounters), false)
	got := []branch{entries.branch(), entries.branch()}
	if d := cmp.Diff([]branch{{1, 2, 3}, {4, 5, 6}}, got, cmp.AllowUnexported(branch{})); d != "" {
		t.Error(d)
	}
	if rest := c.U64(); rest != 9 || c.Short || len(entries.Rest) > 0 {
		t.Errorf("%d follows, %d bytes of entries are left", rest, len(entries.Rest))
	}
	c = cursorOf(b.words(^uint64(0)/branchSize+1, 0), false)
	if c.branches(0); !c.Short {
		t.Error("more branches than bytes were read")
	}
}
