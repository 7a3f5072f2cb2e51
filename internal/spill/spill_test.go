package spill

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"stackmill/internal/hosterr"
)

// space returns a space, and a counter of the files that it has made.
func space(t *testing.T) (s *Space, made *int) {
	t.Helper()
	made = new(int)
	s = New(0, func() (File, error) {
		*made++
		return os.Create(filepath.Join(t.TempDir(), "file"))
	})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, made
}

// Appended bytes are read back, both before and after they are written to the file.
func TestAppend(t *testing.T) {
	s, made := space(t)
	var at []int64
	part := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, bufferBytes/4+i) }
	for i := range 10 {
		n, err := s.Append(part(i))
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, n)
	}
	if err := s.WriteAt([]byte{99}, at[3]+1); err != nil {
		t.Fatal(err)
	}
	for i := range at {
		got, want := make([]byte, bufferBytes/4+i), part(i)
		if i == 3 {
			want[1] = 99
		}
		if err := s.ReadAt(got, at[i]); err != nil || !bytes.Equal(got, want) {
			t.Errorf("part %d differs, %v", i, err)
		}
	}
	if *made != 1 {
		t.Errorf("%d files", *made)
	}
}

// A space to which nothing is appended makes no file.
func TestUnused(t *testing.T) {
	s, made := space(t)
	if err := s.Close(); err != nil || *made != 0 {
		t.Error(err, *made)
	}
	if _, err := s.Append(nil); !hosterr.Is(err) {
		t.Errorf("appended after the end: %v", err)
	}
}

// full is a file on a full disk.
type full struct{ File }

func (full) WriteAt([]byte, int64) (int, error) { return 0, unix.ENOSPC }
func (full) Close() error                       { return nil }

// After an error, every use fails and takes no memory.
func TestFault(t *testing.T) {
	for name, create := range map[string]func() (File, error){
		"create": func() (File, error) { return nil, errors.New("no folder") },
		"write":  func() (File, error) { return full{}, nil },
	} {
		s := New(0, create)
		var err error
		for range 10 {
			_, err = s.Append(make([]byte, bufferBytes/4))
		}
		if !hosterr.Is(err) || len(s.buffer) > 0 {
			t.Errorf("%s: %v, %d bytes in the buffer", name, err, len(s.buffer))
		}
		if err := s.ReadAt(make([]byte, 1), 0); !hosterr.Is(err) {
			t.Errorf("%s: read %v", name, err)
		}
	}
}

// Without a space in the context, nothing is spilled.
func TestOf(t *testing.T) {
	if s := FromContext(t.Context()); s != unlimited {
		t.Error(s)
	}
	s, _ := space(t)
	if FromContext(NewContext(t.Context(), s)) != s {
		t.Error("another one")
	}
}
