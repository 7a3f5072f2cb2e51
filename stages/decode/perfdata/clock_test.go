package perfdata

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/decode"
)

// open reads a recording that was built.
func open(t *testing.T, b *builder) *decode.Recording {
	t.Helper()
	path := filepath.Join(t.TempDir(), "perf.data")
	if err := os.WriteFile(path, b.file(), 0o644); err != nil {
		t.Fatal(err)
	}
	rec := New().Open(t.Context(), path)
	t.Cleanup(func() { rec.Close() })
	return rec
}

// A jitdump file belongs to the process that maps it, until the process executes another program,
// and to the processes that it forks.
func TestDumps(t *testing.T) {
	b := &builder{order: binary.LittleEndian}
	b.mmap(10, 1000, 0x10000, "/bin/sh")
	b.mmap(10, 1100, 0x20000, "/run/jit-10.dump")
	b.record(recordFork, 0, uint32(11), uint32(10), uint32(11), uint32(10), 2000, uint32(10), uint32(10), 2000)
	b.record(recordComm, miscExec, uint32(10), uint32(10), "ls", uint32(10), uint32(10), 3000)
	b.sample(10, 3500, user, 0x10010)
	b.sample(11, 3600, user, 0x10010)
	rec := open(t, b)
	dump := decode.JITDump{Path: "/run/jit-10.dump", Mapped: 100, From: 100, Until: 2000}
	inherited := decode.JITDump{Path: "/run/jit-10.dump", Mapped: 100, From: 1000, Until: decode.Never}
	if d := cmp.Diff([][]decode.JITDump{{dump}, {inherited}}, [][]decode.JITDump{rec.Processes[0].JITDumps, rec.Processes[1].JITDumps}); d != "" {
		t.Error(d)
	}
	for _, m := range rec.Processes[1].Mappings {
		if m.Path != "/bin/sh" {
			t.Errorf("mapping of %s", m.Path)
		}
	}
}

// JIT compilers' times can be converted if the compilers read the recording's clock, or the counter
// from which that clock is computed.
func TestCompilerTime(t *testing.T) {
	conv := func(b *builder) { b.record(recordTimeConv, 0, 4, 8, 500) } // 2 cycles are 1 ns
	monotonic := attr{flags: flagClockID, clockID: clockMonotonic}
	for _, c := range []struct {
		name   string
		attr   attr
		build  func(*builder)
		time   uint64
		cycles bool
		want   int64
		ok     bool
	}{
		{"monotonic", monotonic, nil, 1700, false, 700, true},
		{"before the start", monotonic, nil, 900, false, -100, true},
		{"kernel's clock", attr{}, nil, 1700, false, 0, false},
		{"raw clock", attr{flags: flagClockID, clockID: 4}, nil, 1700, false, 0, false},
		{"cycles", attr{}, conv, 2001, true, 500, true},
		{"cycles, monotonic", monotonic, conv, 2001, true, 0, false},
		{"cycles without conversion", attr{}, nil, 2001, true, 0, false},
		{"short counter", attr{}, func(b *builder) { b.record(recordTimeConv, 0, 4, 8, 500, 0x10000, 0xffff, 0x101) }, 0x10, true, 32768 + 8 + 500 - 1000, true},
	} {
		b := &builder{order: binary.LittleEndian}
		if c.build != nil {
			c.build(b)
		}
		b.sample(1, 1000, user, 0x10)
		rec := open(t, b)
		r := &reader{recordParser: recordParser{events: []*event{{attr: c.attr}}}}
		if c.build != nil { // content of the TIME_CONV record
			body := b.data[recordHeader:binary.LittleEndian.Uint16(b.data[6:])]
			r.toolRecord(recordTimeConv, 0, body)
		}
		got, ok := (&timeline{r: r, start: 1000}).compilerClock().Time(c.time, c.cycles)
		if got != c.want || ok != c.ok {
			t.Errorf("%s: %d, %t, want %d, %t", c.name, got, ok, c.want, c.ok)
		}
		if _, ok := rec.Clock.Time(c.time, c.cycles); ok != (c.cycles && c.build != nil) {
			t.Errorf("%s: a recording with the kernel's clock converts: %t", c.name, ok)
		}
	}
}

// The start of a recording without a wall-clock time is its modification time minus its length.
func TestBegan(t *testing.T) {
	b := &builder{order: binary.LittleEndian}
	b.mmap(1, 1_000_000_000, 0x4000, "/bin/p")
	b.sample(1, 6_000_000_000, user, 0x4010)
	path := filepath.Join(t.TempDir(), "perf.data")
	written := time.Unix(1_700_000_000, 500)
	if err := errors.Join(os.WriteFile(path, b.file(), 0o644), os.Chtimes(path, written, written)); err != nil {
		t.Fatal(err)
	}
	rec := New().Open(t.Context(), path)
	defer rec.Close()
	if want := written.Add(-5 * time.Second); !rec.Started.IsZero() || !rec.Began.Equal(want) {
		t.Errorf("started %v, began %v, want %v", rec.Started, rec.Began, want)
	}
}
