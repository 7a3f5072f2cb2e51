package elf_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ulikunitz/xz"

	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/elf/elftest"
)

// Files that are compressed as a whole are read like others, with Packed set; damaged ones are not
// ELF objects.
func TestPacked(t *testing.T) {
	var e elftest.File
	plain := elftest.File{Sections: []elftest.Section{e.BuildID([]byte{1, 2, 3}), elftest.Text(".text", 0x40, 0, 64)}}.Bytes()
	var gz, xzed bytes.Buffer
	g := gzip.NewWriter(&gz)
	g.Write(plain)
	x, err := xz.WriterConfig{CheckSum: xz.CRC32}.NewWriter(&xzed)
	if err != nil {
		t.Fatal(err)
	}
	x.Write(plain)
	if err := errors.Join(g.Close(), x.Close()); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"a.ko": plain, "a.ko.gz": gz.Bytes(), "a.ko.xz": xzed.Bytes(), "a.ko.zst": zstdded(t, plain)} {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		f, err := elf.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if f.BuildID() != "010203" || f.Packed != (name != "a.ko") || f.Path != path {
			t.Errorf("%s: build-id %q, packed %t", name, f.BuildID(), f.Packed)
		}
		f.Close()
		if name == "a.ko" {
			continue
		}
		if err := os.WriteFile(path, content[:len(content)/2], 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := elf.Open(path); !errors.Is(err, elf.ErrNotELF) {
			t.Errorf("half of %s: %v", name, err)
		}
	}
}
