package perfdata

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"stackmill/stages/decode"
)

// allocated opens a recording and returns the number of bytes that this allocated.
func allocated(t *testing.T, content []byte) (*decode.Recording, uint64) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "perf.data")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	rec := New().Open(t.Context(), path)
	runtime.ReadMemStats(&after)
	t.Cleanup(func() { rec.Close() })
	return rec, after.TotalAlloc - before.TotalAlloc
}

// fork adds a process; times are those of the trailer.
func (b *builder) fork(pid, parent uint32, time int) {
	b.record(recordFork, 0, pid, parent, pid, parent, time, pid, pid, time)
}

// reasonsOf returns the number of problems by reason.
func reasonsOf(rec *decode.Recording) map[string]int64 {
	counts := map[string]int64{}
	for _, p := range rec.Problems.Problems {
		counts[p.Reason] += p.Count
	}
	return counts
}

// Attributes that share one list of ids do not multiply the memory for it.
func TestOverlappingIDs(t *testing.T) {
	const events, ids = 1000, 10000
	b := &builder{order: binary.LittleEndian}
	attr := b.words(uint32(typeSoftware), uint32(104), 0, 1000, tinyType, 0, flagSampleIDAll, uint32(0), uint32(0), 0, 0, 0, 0, uint32(0), uint32(0), 0)
	const entry, at = 104 + 16, headerSize
	file := append([]byte("PERFILE2"), b.words(headerSize, entry, at, events*entry, at+events*entry+8*ids, 0, 0, 0, 0, 0, 0, 0)...)
	for range events {
		file = append(append(file, attr...), b.words(at+events*entry, 8*ids)...)
	}
	for i := range ids {
		file = append(file, b.words(i+1)...)
	}
	rec, n := allocated(t, file)
	if most := uint64(16 * len(file)); n > most || reasonsOf(rec)["bad-attributes"] == 0 {
		t.Errorf("%d bytes for a file of %d, %v", n, len(file), reasonsOf(rec))
	}
}

// Forked processes share the mappings of their parents. If there are too many for each process to
// have its own, a process has those that its samples touch.
func TestInheritedMappings(t *testing.T) {
	const maps, forks, start = 2000, 400, 1_000_000_000
	for _, sampled := range []bool{false, true} {
		b := &builder{order: binary.LittleEndian}
		for i := range maps {
			b.mmap(1, 0, 0x10000*(i+1), fmt.Sprint("/lib/", i))
		}
		b.sample(1, start, user, 0x10010)
		last := uint32(0)
		for i := range forks {
			last = uint32(i + 2)
			b.fork(last, 1, start+2*i+1)
			if sampled {
				b.sample(last, start+2*i+2, user, 0x10000*(maps-i)+0x10)
			}
		}
		file := b.file()
		rec, n := allocated(t, file)
		most := uint64(32 * len(file))
		if sampled {
			most += 4 * maxInherited * 136
		}
		if n > most {
			t.Errorf("sampled %t: %d bytes for a file of %d", sampled, n, len(file))
		}
		if !sampled {
			continue
		}
		first, child := rec.Processes[1], rec.Processes[len(rec.Processes)-1]
		if len(first.Mappings) != maps || first.Mappings[0].Time != first.StartNS {
			t.Errorf("the first child has %d mappings", len(first.Mappings))
		}
		if len(child.Mappings) != 1 || child.Mappings[0].Address != 0x10000*(maps-forks+1) || child.Mappings[0].Time != child.StartNS {
			t.Errorf("the last child has %v", child.Mappings)
		}
		if reasonsOf(rec)["unused-segments"] == 0 {
			t.Error(rec.Problems.Problems)
		}
	}
}

// In a chain of forks in which each process adds a mapping, processes do not copy the mappings of
// all processes before.
func TestChainOfForks(t *testing.T) {
	const forks, start = 2000, 1_000_000_000
	b := &builder{order: binary.LittleEndian}
	b.mmap(1, 0, 0x10000, "/bin/first")
	for i := range forks {
		b.fork(uint32(i+2), uint32(i+1), start+2*i)
		b.mmap(uint32(i+2), start+2*i+1, 0x20000+0x2000*i, "/lib/own")
	}
	b.sample(forks+1, start+2*forks, user, 0x10010)
	file := b.file()
	rec, n := allocated(t, file)
	if most := uint64(32 * len(file)); n > most {
		t.Errorf("%d bytes for a file of %d", n, len(file))
	}
	if image := rec.Processes[0].Mappings; len(image) != forks+1 || image[0].Path != "/bin/first" {
		t.Errorf("%d mappings, of %d", len(image), forks+1)
	}
}

// A program that a forked process executes has none of the mappings that it shared.
func TestExecAfterFork(t *testing.T) {
	b := &builder{order: binary.LittleEndian}
	b.mmap(1, 0, 0x10000, "/bin/old")
	b.mmap(1, 0, 0x20000, "/lib/hidden")
	b.fork(2, 1, 100)
	b.mmap(2, 200, 0x20000, "/lib/plugin")
	b.fork(3, 2, 250)
	b.record(recordComm, miscExec, uint32(2), uint32(2), "new", uint32(2), uint32(2), 300)
	b.mmap(2, 400, 0x30000, "/bin/new")
	b.sample(2, 500, user, 0x30010)
	b.sample(3, 500, user, 0x10010)
	rec := openFile(t, b.file())
	var got []string
	for _, p := range rec.Processes {
		for _, m := range p.Mappings {
			got = append(got, fmt.Sprintf("%d at %d %#x %s%t", p.PID, m.Time, m.Address, m.Path, m.Unmap))
		}
	}
	want := []string{
		"2 at 0 0x10000 /bin/oldfalse", "2 at 0 0x20000 /lib/hiddenfalse", "2 at 100 0x20000 /lib/pluginfalse",
		"2 at 200 0x10000 true", "2 at 200 0x20000 true", "2 at 300 0x30000 /bin/newfalse",
		"3 at 150 0x10000 /bin/oldfalse", "3 at 150 0x20000 /lib/pluginfalse",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", got, want)
	}
}
