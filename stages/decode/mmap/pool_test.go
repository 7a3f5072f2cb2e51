package mmap

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

func reopen(t *testing.T, ctx context.Context, path string) *File {
	t.Helper()
	m, err := Open(ctx, path, "file")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Who opens a file again shares the mapping, unless the file is another one by then or the
// other's context may end first; it lasts as long as one of them needs it.
func TestShared(t *testing.T) {
	ctx := WithPool(t.Context())
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 3*step+5), 0o666); err != nil {
		t.Fatal(err)
	}
	first, second := reopen(t, ctx, path), reopen(t, ctx, path)
	if &first.Data[0] != &second.Data[0] {
		t.Error("it is mapped twice")
	}
	shorter, cancel := context.WithCancel(ctx)
	defer cancel()
	if other := reopen(t, shorter, path); &first.Data[0] == &other.Data[0] || other.Unmap() != nil {
		t.Error("a mapping that ends earlier is shared")
	}
	if err := first.Unmap(); err != nil || first.Data != nil {
		t.Error(err)
	}
	if err := second.Guard(func() { _ = second.Data[3*step] }); err != nil {
		t.Error(err)
	}
	if err := os.Rename(path, path+".old"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("another"), 0o666); err != nil {
		t.Fatal(err)
	}
	if other := reopen(t, ctx, path); string(other.Data) != "another" || other.Unmap() != nil {
		t.Errorf("%q", other.Data)
	}
	if err := second.Unmap(); err != nil {
		t.Error(err)
	}
	if s := ctx.Value(poolKey{}).(*mappingPool); len(s.open) > 0 {
		t.Errorf("%d mappings are left", len(s.open))
	}
}

// Several goroutines may fetch the same parts while others release the mapping or cancel.
func TestFetchBesideOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, make([]byte, 2*step+5), 0o666); err != nil {
		t.Fatal(err)
	}
	for n := range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		ctx = WithPool(ctx)
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				m, err := Open(ctx, path, "file")
				if err != nil {
					return // canceled
				}
				ends := 0
				for at := 0; at < len(m.Data); ends++ {
					at = m.Fetch(at)
				}
				m.Release()
				if err := m.Unmap(); err != nil || ends != 3 {
					t.Error(ends, err)
				}
			})
		}
		if n%2 == 0 {
			cancel()
		}
		all.Wait()
		cancel()
	}
}

// The parts of a file are read in their order, from any offset on, also where they are released
// meanwhile.
func TestEach(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	content := make([]byte, 3*step+5)
	for i := range content {
		content[i] = byte(i / 1000)
	}
	if err := os.WriteFile(path, content, 0o666); err != nil {
		t.Fatal(err)
	}
	m := reopen(t, t.Context(), path)
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
