package perfdata

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	kernel       = ^uint64(0) - 127
	userDeferred = ^uint64(0) - 639
)

// findDeferred adds a CALLCHAIN_DEFERRED record of a thread.
func (b *builder) findDeferred(tid uint32, time int, cookie uint64, chain ...any) {
	body := append([]any{cookie, len(chain)}, chain...)
	b.record(recordDeferred, miscUser, append(body, tid, tid, time)...)
}

// at adds a sample of a thread with this misc field.
func (b *builder) at(tid uint32, misc uint16, time int, ip any, chain ...any) {
	b.record(recordSample, misc, append([]any{ip, tid, tid, time, len(chain)}, chain...)...)
}

// told opens a recording and lists its samples' stacks and its problems.
func told(t *testing.T, b *builder) (stacks, problems []string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "perf.data")
	if err := os.WriteFile(path, b.file(), 0o644); err != nil {
		t.Fatal(err)
	}
	rec := New().Open(t.Context(), path)
	defer rec.Close()
	for _, p := range rec.Processes {
		for _, row := range samplesOf(t, p, nil) {
			stacks = append(stacks, fmt.Sprintf("%d:%s", p.PID, row))
		}
		for _, s := range p.Stacks.Expanded() {
			if s.Reason != "" || s.Kernel > 0 {
				stacks = append(stacks, fmt.Sprintf("%d: %#x has %d of the kernel, %q", p.PID, s.Words, s.Kernel, s.Reason))
			}
		}
	}
	for _, p := range rec.Problems.Problems {
		problems = append(problems, fmt.Sprintf("%s %s %d", p.Severity, p.Reason, p.Count))
	}
	return stacks, problems
}

// A deferred user chain replaces its cookie in every sample that has the cookie. A cookie is not an
// address.
func TestDeferredChains(t *testing.T) {
	const flags = flagDeferCallchain | flagDeferOutput
	k := []any{kernel, inKernel, inKernel + 9}
	with := func(cookie int, chain ...any) []any { return append(chain, userDeferred, cookie) }
	const cut = "0xfffffffffffffffe"
	for _, tt := range []struct {
		name             string
		flags            uint64
		build            func(b *builder)
		stacks, problems []string
	}{
		{"two samples of one way into the kernel", flags, func(b *builder) {
			b.at(5, miscKernel, 10, inKernel, with(77, k...)...)
			b.at(5, miscKernel, 11, inKernel+1, with(77, kernel, inKernel+1)...)
			b.findDeferred(5, 12, 77, 0x4010, 0x4100)
		}, []string{"5:  0 [0xffffffff81000000 0xffffffff81000009 0x4010 0x4100] 1000", "5:  1 [0xffffffff81000001 0x4010 0x4100] 1000",
			`5: [0xffffffff81000000 0xffffffff81000009 0x4010 0x4100] has 2 of the kernel, ""`, `5: [0xffffffff81000001 0x4010 0x4100] has 1 of the kernel, ""`}, nil},
		{"in user code, at a more precise address", flags, func(b *builder) {
			b.at(5, miscUser, 10, 0x400c, with(77)...)
			b.findDeferred(5, 12, 77, 0x4010, 0x4100)
		}, []string{"5:  0 [0x400c 0x4100] 1000"}, nil},
		{"with a marker of its own", flags, func(b *builder) {
			b.at(5, miscUser, 10, 0x4010, with(77)...)
			b.findDeferred(5, 12, 77, user, 0x4010, 0x4100)
		}, []string{"5:  0 [0x4010 0x4100] 1000"}, nil},
		{"one cookie in two threads", flags, func(b *builder) {
			b.at(5, miscUser, 10, 0x4010, with(77)...)
			b.at(6, miscUser, 10, 0x5010, with(77)...)
			b.findDeferred(6, 11, 77, 0x5010, 0x5100)
			b.findDeferred(5, 12, 77, 0x4010, 0x4100)
		}, []string{"5:  0 [0x4010 0x4100] 1000", "6:  0 [0x5010 0x5100] 1000"}, nil},
		{"a cookie that comes again", flags, func(b *builder) {
			b.at(5, miscUser, 10, 0x4010, with(77)...)
			b.findDeferred(5, 12, 77, 0x4010, 0x4100)
			b.at(5, miscUser, 20, 0x4010, with(77)...)
			b.findDeferred(5, 22, 77, 0x4010, 0x4200)
		}, []string{"5:  0 [0x4010 0x4100] 1000", "5:  10 [0x4010 0x4200] 1000"}, nil},
		{"output of two events", flags, func(b *builder) {
			b.at(5, miscUser, 10, 0x4010, with(77)...)
			b.findDeferred(5, 12, 77, 0x4010, 0x4100)
			b.findDeferred(5, 12, 77, 0x4010, 0x4100)
		}, []string{"5:  0 [0x4010 0x4100] 1000"}, nil},
		{"of another thread only", flags, func(b *builder) {
			b.at(5, miscKernel, 10, inKernel, with(77, k...)...)
			b.at(5, miscUser, 11, 0x4010, with(77)...)
			b.findDeferred(6, 12, 77, 0x4010, 0x4100)
		}, []string{"5:  0 [0xffffffff81000000 0xffffffff81000009 " + cut + "] 1000", "5:  1 [0x4010 " + cut + "] 1000",
			"5: [0xffffffff81000000 0xffffffff81000009 " + cut + `] has 2 of the kernel, "deferred-chain"`, "5: [0x4010 " + cut + `] has 0 of the kernel, "deferred-chain"`},
			[]string{"info deferred-chain-unused 1", "warning deferred-chain-missing 2"}},
		{"not recorded at all, without its flags", 0, func(b *builder) {
			b.at(5, miscUser, 10, 0x4010, with(77)...)
			b.at(5, miscUser, 11, 0x4010, userDeferred) // cut before its cookie
		}, []string{"5:  0 [0x4010 " + cut + "] 1000", "5:  1 [0x4010 " + cut + "] 1000", "5: [0x4010 " + cut + `] has 0 of the kernel, "deferred-chain"`},
			[]string{"warning deferred-chain-missing 2"}},
		{"empty", flags, func(b *builder) {
			b.at(5, miscUser, 10, 0x4010, with(77)...)
			b.findDeferred(5, 12, 77)
		}, []string{"5:  0 [0x4010 " + cut + "] 1000", "5: [0x4010 " + cut + `] has 0 of the kernel, "deferred-chain"`}, []string{"warning deferred-chain-missing 1"}},
		{"deferred again", flags, func(b *builder) {
			b.at(5, miscUser, 10, 0x4010, with(77)...)
			b.findDeferred(5, 12, 77, 0x4010, userDeferred, 77)
		}, []string{"5:  0 [0x4010 " + cut + "] 1000", "5: [0x4010 " + cut + `] has 0 of the kernel, "unknown-context"`}, []string{"warning unknown-context 1"}},
		{"more addresses than the record has", flags, func(b *builder) {
			b.at(5, miscUser, 10, 0x4010, with(77)...)
			b.record(recordDeferred, miscUser, 77, 1<<61, 0x4010, uint32(5), uint32(5), 12)
		}, []string{"5:  0 [0x4010 " + cut + "] 1000", "5: [0x4010 " + cut + `] has 0 of the kernel, "deferred-chain"`},
			[]string{"error bad-record 1", "warning deferred-chain-missing 1"}},
	} {
		for _, order := range []binary.AppendByteOrder{binary.LittleEndian, binary.BigEndian} {
			t.Run(fmt.Sprint(tt.name, " ", order), func(t *testing.T) {
				b := &builder{order: order, flags: tt.flags}
				tt.build(b)
				stacks, problems := told(t, b)
				if d := cmp.Diff(tt.stacks, stacks); d != "" {
					t.Error(d)
				}
				if d := cmp.Diff(tt.problems, problems); d != "" {
					t.Error(d)
				}
			})
		}
	}
}

// Words after an unknown marker are left out and reported, wherever the marker is. No word in the
// range of markers becomes an address.
func TestMarkersAreNoAddresses(t *testing.T) {
	const cut = "0xfffffffffffffffe"
	for _, marker := range []uint64{^uint64(0) - 4063, ^uint64(0) - 927, ^uint64(0) - 63} {
		b := &builder{order: binary.LittleEndian}
		b.at(5, miscUser, 10, 0x4010, user, 0x4010, 0x4100, marker, 0x9999, 0x9998)
		b.at(5, miscUser, 11, 0x4010, marker, 0x9999, user, 0x4010, 0x4100)
		b.at(5, miscUser, 12, 0x4010, user, 0x4010, 0x4100, marker, 0x9999, 0x9998) // the same
		b.at(5, miscUser, 13, marker)
		stacks, problems := told(t, b)
		want := []string{"5:  0 [0x4010 0x4100 " + cut + "] 1000", "5:  1 [0x4010 0x4100 " + cut + "] 1000", "5:  2 [0x4010 0x4100 " + cut + "] 1000", "5:  3 [" + cut + "] 1000",
			"5: [0x4010 0x4100 " + cut + `] has 0 of the kernel, "unknown-context"`, "5: [" + cut + `] has 0 of the kernel, "bad-address"`}
		if d := cmp.Diff(want, stacks); d != "" {
			t.Errorf("%d: %s", int64(marker), d)
		}
		if d := cmp.Diff([]string{"warning unknown-context 3", "error bad-address 1"}, problems); d != "" {
			t.Errorf("%d: %s", int64(marker), d)
		}
	}
	// In a chain of user code, a word that cannot be a marker comes from the frame pointer
	// register.
	for _, word := range []uint64{contextMax, ^uint64(0) - 254, ^uint64(0)} {
		b := &builder{order: binary.LittleEndian}
		b.at(5, miscUser, 10, 0x4010, user, 0x4010, 0x4100, word, 0x9999)
		stacks, problems := told(t, b)
		if d := cmp.Diff([]string{"5:  0 [0x4010 0x4100] 1000"}, stacks); d != "" || len(problems) > 0 {
			t.Errorf("%d: %s, problems %q", int64(word), d, problems)
		}
	}
	// Flipping the bit of a guest's address must not make a marker either.
	b := &builder{order: binary.LittleEndian}
	b.at(5, miscUser, 10, 0x4010, user, 0x4010, uint64(contextGuestUser), (^uint64(0)-3)^guest.bit)
	if stacks, _ := told(t, b); len(stacks) == 0 || stacks[0] != "5:  0 [0x4010 "+cut+"] 1000" {
		t.Error(stacks)
	}
}

// Unknown records and fields of samples are reported.
func TestUnknownRecords(t *testing.T) {
	b := &builder{order: binary.LittleEndian, more: 1 << 30}
	b.at(5, miscUser, 10, 0x4010, user, 0x4010)
	for _, typ := range []uint32{23, 63, 99} {
		b.record(typ, 0, 1, 2)
	}
	_, problems := told(t, b)
	if d := cmp.Diff([]string{"warning unknown-fields 1", "warning unknown-record 3"}, problems); d != "" {
		t.Error(d)
	}
}
