package mmap

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/sys/unix"

	"stackmill/internal/hosterr"
	"stackmill/internal/safefile"
)

func mapFile(t *testing.T, ctx context.Context, size int) *File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	m, err := Open(ctx, path, "file")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Unmap(); err != nil {
			t.Error(err)
		}
	})
	return m
}

// readForEver searches a file of zeros for another byte, again and again.
func readForEver(m *File) {
	for {
		for _, b := range m.Data {
			if b != 0 {
				return
			}
		}
	}
}

// Canceling the context ends a loop over the file, with a host error.
func TestContextEndsReading(t *testing.T) {
	why := errors.New("a signal")
	ctx, cancel := context.WithCancelCause(t.Context())
	m := mapFile(t, ctx, 100_000)
	begun := make(chan bool)
	go func() { <-begun; cancel(why) }()
	err := m.Guard(func() { close(begun); readForEver(m) })
	if !errors.Is(err, why) || !hosterr.Is(err) {
		t.Error(err)
	}
	if _, err := Open(ctx, m.path, "file"); !errors.Is(err, why) {
		t.Errorf("opened later: %v", err)
	}
}

// A file that became shorter is a problem of the recording, not an error of the host.
func TestShortened(t *testing.T) {
	m := mapFile(t, t.Context(), 100_000)
	if err := os.Truncate(m.path, 10); err != nil {
		t.Fatal(err)
	}
	if err := m.Guard(func() { readForEver(m) }); err == nil || hosterr.Is(err) {
		t.Error(err)
	}
}

// All operations that end a mapping may run at the same time.
func TestUnmapBesideCancel(t *testing.T) {
	for range 200 {
		ctx, cancel := context.WithCancel(t.Context())
		m := mapFile(t, ctx, 5000)
		go cancel()
		if err := m.Unmap(); err != nil || m.Data != nil {
			t.Fatal(err)
		}
	}
}

func TestSpecial(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path, "pipe"); !errors.Is(err, safefile.ErrNotRegular) {
		t.Error(err)
	}
}

// The parts of a file are read in order, from any offset on, even if they are released meanwhile.
func TestEach(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	content := make([]byte, 3*step+5)
	for i := range content {
		content[i] = byte(i / 1000)
	}
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	m, err := Open(t.Context(), path, "file")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		from, most int
		want       []int
	}{
		{0, 9, []int{step, 2 * step, 3 * step, 3*step + 5}},
		{step + 7, 9, []int{2 * step, 3 * step, 3*step + 5}},
		{step, 2, []int{2 * step, 3 * step}},
		{3*step + 4, 9, []int{3*step + 5}},
		{3*step + 5, 9, nil},
	} {
		var ends []int
		at := tt.from
		m.EachPart(tt.from, func(end int) bool {
			if !bytes.Equal(m.Data[at:end], content[at:end]) {
				t.Errorf("from %d: what is between %d and %d differs", tt.from, at, end)
			}
			m.ReleaseBefore(end)
			at, ends = end, append(ends, end)
			return len(ends) < tt.most
		})
		if !slices.Equal(ends, tt.want) {
			t.Errorf("from %d: parts end at %d, want %d", tt.from, ends, tt.want)
		}
	}
	if err := m.Unmap(); err != nil {
		t.Error(err)
	}
}
