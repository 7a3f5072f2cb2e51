package perfdata

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"stackmill/internal/hosterr"
	"stackmill/schema/diagnostic"
)

// packed adds a compressed record.
func (b *builder) packed(content []byte) {
	size := recordHeader + len(content)
	b.data = append(append(b.data, b.words(uint32(recordCompressed), uint16(0), uint16(size))...), content...)
}

func pack(t *testing.T, content []byte) []byte {
	t.Helper()
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return e.EncodeAll(content, nil)
}

// A stream that becomes far larger than any that perf writes is cut and reported.
func TestExpansion(t *testing.T) {
	bomb := pack(t, make([]byte, 64<<20))
	b := &builder{order: binary.LittleEndian}
	b.packed(bomb)
	rec := openFile(t, b.file())
	if !slices.ContainsFunc(rec.Problems.Problems, func(p diagnostic.Problem) bool {
		return p.Severity == diagnostic.Error && p.Reason == "compressed" && strings.Contains(p.Message, "times their size")
	}) {
		t.Errorf("%d bytes: %v", len(bomb), rec.Problems.Problems)
	}
}

// A full disk while a recording is unpacked is an error of the host.
func TestNowhereToUnpack(t *testing.T) {
	b := &builder{order: binary.LittleEndian}
	inner := recording(binary.LittleEndian)
	b.packed(pack(t, inner.data))
	path := filepath.Join(t.TempDir(), "perf.data")
	if err := os.WriteFile(path, b.file(), 0o644); err != nil {
		t.Fatal(err)
	}
	rec := New().Open(t.Context(), path)
	if rec.HostErr.Err() != nil || len(rec.Processes) != 2 {
		t.Errorf("%v, %d processes", rec.HostErr.Err(), len(rec.Processes))
	}
	rec.Close()
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	rec = New().Open(t.Context(), path)
	defer rec.Close()
	if !hosterr.Is(rec.HostErr.Err()) {
		t.Errorf("%v, %v", rec.HostErr.Err(), rec.Problems.Problems)
	}
}
