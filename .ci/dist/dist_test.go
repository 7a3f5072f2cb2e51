package main

import (
	"archive/tar"
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
)

// An archive has the content of every file, entries for the folders, and the same bytes each time.
func TestArchive(t *testing.T) {
	r := &release{time: time.Unix(1_700_000_000, 0).UTC()}
	files := []file{{"usr/bin/p", 0o755, bytes.Repeat([]byte("program"), 100_000)}, {"a", 0o644, []byte("text")}, {path: "tmp"}}
	var archives [2][]byte
	for i := range archives {
		content, err := r.tar(files)
		if err == nil {
			content, err = compress(content)
		}
		if err != nil {
			t.Fatal(err)
		}
		archives[i] = content
		files[0], files[1] = files[1], files[0]
	}
	if !bytes.Equal(archives[0], archives[1]) {
		t.Error("another order of files gives other bytes")
	}
	z, err := gzip.NewReader(bytes.NewReader(archives[0]))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for in := tar.NewReader(z); ; {
		h, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(in)
		if err != nil || !h.ModTime.Equal(r.time) {
			t.Errorf("%s: %v, %v", h.Name, h.ModTime, err)
		}
		for _, f := range files {
			if f.path == h.Name && (!bytes.Equal(f.content, content) || f.mode != h.Mode) {
				t.Errorf("%s has %d bytes and mode %o", h.Name, len(content), h.Mode)
			}
		}
		list = append(list, h.Name)
	}
	if rest, err := io.ReadAll(z); err != nil { // checks the sum at the end
		t.Errorf("%d bytes, %v", len(rest), err)
	}
	if got := strings.Join(list, " "); got != "a tmp/ usr/ usr/bin/ usr/bin/p" {
		t.Errorf("it has %s", got)
	}
}
