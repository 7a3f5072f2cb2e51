package safefile

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// Special files are refused without waiting: opening a pipe would wait for a writer.
func TestSpecialFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(unix.Mkfifo(at("pipe"), 0o600), os.Symlink("/dev/zero", at("device")), os.Symlink("pipe", at("link"))); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, path := range []string{at("pipe"), at("device"), at("link"), at("socket"), dir} {
		if _, err := Read(path, Recording); !errors.Is(err, ErrNotRegular) {
			t.Errorf("%s: %v, want %v", path, err, ErrNotRegular)
		}
	}
	if err := os.Symlink("loop", at("loop")); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(at("loop"), Note); !errors.Is(err, unix.ELOOP) {
		t.Errorf("a loop of links: %v", err)
	}
	if _, err := Read(at("missing"), Note); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

func TestLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := Read(path, 5); err != nil || string(data) != "12345" {
		t.Errorf("%q, %v", data, err)
	}
	if _, err := Read(path, 4); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a file over the limit: %v", err)
	}
	// The kernel's files have size 0.
	if data, err := Read("/proc/self/status", Note); err != nil || len(data) == 0 {
		t.Errorf("%d bytes, %v", len(data), err)
	}
	if _, err := Read("/proc/self/status", 10); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a file of the kernel over the limit: %v", err)
	}
}
