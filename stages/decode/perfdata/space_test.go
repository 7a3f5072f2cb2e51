package perfdata

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"stackmill/internal/hosterr"
	"stackmill/internal/spill"
	"stackmill/schema"
	"stackmill/stages/decode"
)

// openIn opens a recording whose lists go to the space.
func openIn(t *testing.T, path string, s *spill.Space) *decode.Recording {
	t.Helper()
	rec := New().Open(spill.NewContext(t.Context(), s), path)
	t.Cleanup(func() { rec.Close(); s.Close() })
	return rec
}

// manySamples composes a recording of several processes whose samples are out of order. If damaged
// is true, every third sample has an impossible time.
func manySamples(t *testing.T, n int, damaged bool) (path string) {
	t.Helper()
	b := &builder{order: binary.LittleEndian}
	for i := range n {
		time := 1_000_000_000 + 10*(i^5) + i%7*1000
		if damaged && i%3 == 0 {
			time = 1 << 62
		}
		b.sample(uint32(i*i%5), time, user, 0x1000+i%100)
	}
	path = filepath.Join(t.TempDir(), "perf.data")
	if err := os.WriteFile(path, b.file(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// batchesOf returns the lengths of the batches of all processes, and the values of their columns.
func batchesOf(t *testing.T, rec *decode.Recording) (lengths, values []int64) {
	t.Helper()
	for _, p := range rec.Processes {
		events := p.Events(schema.Perf)
		for {
			b, err := events.Next()
			if err != nil {
				t.Fatal(err)
			}
			if b == nil {
				break
			}
			lengths = append(lengths, b.NumRows())
			e := schema.Events{RecordBatch: b}
			values = slices.Concat(values, e.Int64s("time_ns"), e.Int64s("period"))
			for _, column := range []string{"raw_stack", "cpu"} {
				for _, v := range e.Int32s(column) {
					values = append(values, int64(v))
				}
			}
			b.Release()
		}
		events.Close()
	}
	return lengths, values
}

// Rows that do not fit in memory are returned in the same order and batches as otherwise.
func TestLittleMemory(t *testing.T) {
	for _, damaged := range []bool{false, true} {
		path := manySamples(t, 200_000, damaged)
		whole := New().Open(t.Context(), path)
		defer whole.Close()
		lengths, values := batchesOf(t, whole)
		for _, memory := range []int64{0, 1 << 20, 4 << 20} {
			file := filepath.Join(t.TempDir(), "file")
			rec := openIn(t, path, spill.New(memory, func() (spill.File, error) { return os.Create(file) }))
			if info, err := os.Stat(file); err != nil || info.Size() == 0 {
				t.Errorf("memory %d: nothing was put aside: %v", memory, err)
			}
			gotLengths, got := batchesOf(t, rec)
			if !slices.Equal(gotLengths, lengths) || !slices.Equal(got, values) {
				t.Errorf("damaged %t, memory %d: batches of %d, want %d", damaged, memory, gotLengths, lengths)
			}
			if got, want := reasonsOf(rec), reasonsOf(whole); len(got) != len(want) || got["value-out-of-bounds"] != want["value-out-of-bounds"] {
				t.Errorf("problems %v, want %v", got, want)
			}
		}
	}
}

// fullDisk is a file that has room for a limited number of bytes.
type fullDisk struct {
	*os.File
	room int64
}

func (f fullDisk) WriteAt(b []byte, at int64) (int, error) {
	if at+int64(len(b)) > f.room {
		return 0, unix.ENOSPC
	}
	return f.File.WriteAt(b, at)
}

// A full disk is an error of the host, not a problem of the recording.
func TestNoRoom(t *testing.T) {
	path := manySamples(t, 200_000, false)
	for _, room := range []int64{0, 4 << 20} { // no room at all; room for the samples' times only
		rec := openIn(t, path, spill.New(0, func() (spill.File, error) {
			f, err := os.Create(filepath.Join(t.TempDir(), "file"))
			return fullDisk{f, room}, err
		}))
		if !hosterr.Is(rec.HostErr.Err()) || len(reasonsOf(rec)) > 0 {
			t.Errorf("room for %d bytes: %v, %v", room, rec.HostErr.Err(), reasonsOf(rec))
		}
	}
}

// mappedPages returns how many bytes of a file's mappings are in this process's memory.
func mappedPages(t *testing.T, path string) (bytes int) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	found, within := false, false
	for line := range strings.Lines(string(maps)) {
		fields := strings.Fields(line)
		if strings.Contains(fields[0], "-") {
			within = fields[len(fields)-1] == path
			found = found || within
		}
		var kilobytes int
		if n, _ := fmt.Sscanf(line, "Rss: %d kB", &kilobytes); n == 1 && within {
			bytes += kilobytes << 10
		}
	}
	if !found {
		t.Fatalf("%s is not mapped", path)
	}
	return bytes
}

// After a large recording was read, no pages of its file stay in memory, unless samples have dumps.
func TestReadPages(t *testing.T) {
	path := manySamples(t, 200_000, false)
	for _, tt := range []struct {
		mapped int64
		stay   bool
	}{{leastWindow, false}, {1 << 30, true}} {
		rec := openIn(t, path, &spill.Space{Memory: 1 << 30, Mapped: tt.mapped})
		if stay := mappedPages(t, path) > 1<<20; stay != tt.stay {
			t.Errorf("with room for %d bytes, %d bytes of the file are in memory", tt.mapped, mappedPages(t, path))
		}
		rec.Close()
	}
}
