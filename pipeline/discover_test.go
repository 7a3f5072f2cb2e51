package pipeline

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"stackmill/internal/corpus"
)

// A damaged recording is reported, also in a folder; unrelated files are not.
func TestDamagedIsReported(t *testing.T) {
	recordings := t.TempDir()
	if err := corpus.Perf(recordings); err != nil {
		t.Fatal(err)
	}
	content := func(name string) []byte {
		b, err := os.ReadFile(filepath.Join(recordings, "perf", name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	file, pipe := content("p_recur_fp.data"), content("p_pipe.data")
	damaged := func(b []byte) []byte { return append([]byte("\x00\x00garbag"), b[8:]...) }
	other := slices.Clone(file[:104]) // of another byte order
	for i := 8; i < 104; i += 8 {
		binary.BigEndian.PutUint64(other[i:], binary.LittleEndian.Uint64(file[i:]))
	}
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	for name, b := range map[string][]byte{
		"good.data": file, "structure": damaged(file), "through-pipe": damaged(pipe), "other-order": append(damaged(other), file[104:]...),
		"perf.data": []byte("hello"), "perf.data.old": nil, "night.perf.data": file[4:], "perf.data.2": []byte("x"), "dir/data": damaged(file),
		"notes.txt": []byte("a text"), "perf.data.txt": []byte("a report"), "perf.data.tar.gz": []byte("\x1f\x8b"), "superperf.database": []byte("x"), "zeros": make([]byte, 4096),
		"core": append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 200)...), "below/perf.data": []byte("damaged too"), "lost.er/map.xml": nil,
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(at(name)), 0o755), os.WriteFile(at(name), b, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(unix.Mkfifo(at("pipe.perf.data"), 0o600), unix.Mkfifo(at("pipe"), 0o600), os.Symlink(".", at("circle")), os.Symlink("loop", at("loop")),
		os.Symlink("none", at("perf.data.9")), os.Symlink("/dev/zero", at("zero"))); err != nil {
		t.Fatal(err)
	}
	const unknown, special = "not a recording of a known format", "not a regular file"
	want := map[string]string{
		"structure": unknown, "through-pipe": unknown, "other-order": unknown, "perf.data": "5 bytes", "perf.data.old": "0 bytes", "night.perf.data": unknown, "perf.data.2": unknown,
		"dir": unknown, "pipe.perf.data": special, "perf.data.9": "no such file",
	}
	found := []string{"good.data", "lost.er"} // a problem says that its log is lost
	for _, recursive := range []bool{false, true} {
		if recursive {
			want["below/perf.data"] = unknown
		}
		var good []string
		reported := map[string]string{}
		for _, in := range discover(t.Context(), []string{folder}, recursive) {
			name, _ := filepath.Rel(folder, in.path)
			if in.err == nil {
				good = append(good, name)
			} else {
				reported[name] = in.err.Error()
			}
		}
		if !slices.Equal(good, found) {
			t.Errorf("found %q", good)
		}
		for name, part := range want {
			if !strings.Contains(reported[name], part) {
				t.Errorf("recursive %v: %s: %q lacks %q", recursive, name, reported[name], part)
			}
			delete(reported, name)
		}
		if len(reported) > 0 {
			t.Errorf("recursive %v: reported without need: %q", recursive, reported)
		}
	}
}

// A folder that cannot be read is reported.
func TestUnreadableFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read every folder")
	}
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "below", "locked"), 0); err != nil {
		t.Skip(err)
	}
	if found := discover(t.Context(), []string{folder}, true); len(found) != 1 || found[0].err == nil {
		t.Error(found)
	}
}
