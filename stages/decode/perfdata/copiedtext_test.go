package perfdata

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// If a program maps anonymous memory over its text, the memory is a copy of the text, and becomes a
// mapping of the program's file. Memory elsewhere does not, not even where a library was mapped.
func TestCopiedText(t *testing.T) {
	b := &builder{order: binary.LittleEndian}
	anonymous := func(pid uint32, time, addr, size int) {
		b.record(recordMmap2, miscUser, pid, pid, addr, size, 0, 0, 0, 0, uint32(7), uint32(0), "//anon", pid, pid, time)
	}
	b.record(recordComm, miscExec, uint32(1), uint32(1), "p", uint32(1), uint32(1), 5)
	b.record(recordMmap2, miscUser, uint32(1), uint32(1), 0x401000, 0x4000, 0x1000, uint32(8), uint32(0), 3, 1, uint32(5), uint32(0), "/bin/p", uint32(1), uint32(1), 6)
	b.mmap2(1, 7, 0x800000, "/lib/l.so", 8, 4, 1)
	anonymous(1, 8, 0x402000, 0x1000) // in the text
	anonymous(1, 8, 0x404000, 0x2000) // beyond its end
	anonymous(1, 8, 0x800000, 0x1000) // where the library may have been unmapped
	b.record(recordFork, 0, uint32(2), uint32(1), uint32(2), uint32(1), 9, uint32(1), uint32(1), 9)
	anonymous(2, 10, 0x403000, 0x1000) // the child's
	b.record(recordComm, miscExec, uint32(2), uint32(2), "q", uint32(2), uint32(2), 11)
	b.mmap2(2, 12, 0x900000, "/bin/q", 8, 5, 1)
	anonymous(2, 13, 0x403000, 0x1000) // another program's
	b.sample(1, 20, user, 0x402010)
	b.sample(2, 20, user, 0x403010)
	rec := open(t, b)
	var got []string
	for _, p := range rec.Processes {
		for _, m := range p.Mappings {
			if !m.Unmap && m.Address < 0x1000000 && m.Modes == 7 {
				got = append(got, fmt.Sprintf("%d %#x %s @%#x", p.PID, m.Address, m.Path, m.FileOffset))
			}
		}
	}
	want := []string{"1 0x402000 /bin/p @0x2000", "1 0x404000 /tmp/perf-1.map @0x404000", "1 0x800000 /tmp/perf-1.map @0x800000",
		"2 0x402000 /bin/p @0x2000", "2 0x404000 /tmp/perf-1.map @0x404000", "2 0x800000 /tmp/perf-1.map @0x800000",
		"2 0x403000 /bin/p @0x3000", "2 0x403000 /tmp/perf-2.map @0x403000"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	var told []string
	for _, p := range rec.Problems.Problems {
		if p.Reason == "copied-text" {
			told = append(told, fmt.Sprint(p.Severity, " ", p.File, " ", p.Count))
		}
	}
	if d := cmp.Diff([]string{"info /bin/p 2"}, told); d != "" {
		t.Error(d)
	}
}
