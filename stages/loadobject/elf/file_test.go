package elf_test

import (
	"bytes"
	"compress/zlib"
	debugelf "debug/elf"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/elf/elftest"
)

var content = bytes.Repeat([]byte("line numbers "), 1000)

func zlibbed(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	w.Write(b)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zstdded(t *testing.T, b []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return w.EncodeAll(b, nil)
}

// header returns the header of a compressed section.
func header(kind debugelf.CompressionType, size int) []byte {
	b := binary.LittleEndian.AppendUint32(nil, uint32(kind))
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint64(b, uint64(size))
	return binary.LittleEndian.AppendUint64(b, 1)
}

func TestCompressedSections(t *testing.T) {
	n := len(content)
	gnu := append([]byte("ZLIB"), binary.BigEndian.AppendUint64(nil, uint64(n))...)
	z, s := zlibbed(t, content), zstdded(t, content)
	for _, c := range []struct {
		name, section string
		flags         debugelf.SectionFlag
		data          []byte
		want          string // of the error, empty for none
	}{
		{"plain", ".debug_line", 0, content, ""},
		{"zlib", ".debug_line", debugelf.SHF_COMPRESSED, append(header(debugelf.COMPRESS_ZLIB, n), z...), ""},
		{"zstd", ".debug_line", debugelf.SHF_COMPRESSED, append(header(debugelf.COMPRESS_ZSTD, n), s...), ""},
		{"gnu", ".zdebug_line", 0, append(gnu, z...), ""},
		{"cut zlib", ".debug_line", debugelf.SHF_COMPRESSED, append(header(debugelf.COMPRESS_ZLIB, n), z[:len(z)/2]...), "unexpected EOF"},
		{"cut zstd", ".debug_line", debugelf.SHF_COMPRESSED, append(header(debugelf.COMPRESS_ZSTD, n), s[:len(s)/2]...), "unexpected EOF"},
		{"too short", ".debug_line", debugelf.SHF_COMPRESSED, append(header(debugelf.COMPRESS_ZLIB, n+1), z...), "the header says 13001"},
		{"absurd size", ".debug_line", debugelf.SHF_COMPRESSED, append(header(debugelf.COMPRESS_ZLIB, 1<<40), z...), "more than"},
		{"unknown", ".debug_line", debugelf.SHF_COMPRESSED, append(header(9, n), z...), "unknown compression"},
		{"no header", ".debug_line", debugelf.SHF_COMPRESSED, []byte("abc"), "unexpected EOF"},
		{"gnu without header", ".zdebug_line", 0, z, "no ZLIB header"},
	} {
		f, err := elf.New("test", elftest.File{Sections: []elftest.Section{{Name: c.section, Flags: c.flags, Data: c.data}}}.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		got, err := f.Debug("line")
		if c.want == "" && (err != nil || !bytes.Equal(got, content)) {
			t.Errorf("%s: %d bytes, %v", c.name, len(got), err)
		}
		if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.section+" at offset")) {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
	}
}

func TestSectionBeyondFile(t *testing.T) {
	f, err := elf.New("test", elftest.File{Sections: []elftest.Section{{Name: ".debug_info", Data: []byte("x"), Size: 1 << 50}}}.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if b, err := f.Debug("info"); err == nil {
		t.Errorf("%d bytes", len(b))
	}
}

func TestNotELF(t *testing.T) {
	whole := elftest.File{}.Bytes()
	for name, b := range map[string][]byte{
		"empty":        nil,
		"text":         []byte("#!/bin/sh\necho this is no ELF object\n"),
		"short":        whole[:40],
		"class":        append([]byte("\x7fELF\x09\x01"), whole[6:]...),
		"byte order":   append([]byte("\x7fELF\x02\x09"), whole[6:]...),
		"magic number": append([]byte("\x7fELG"), whole[4:]...),
	} {
		if _, err := elf.New(name, b); !errors.Is(err, elf.ErrNotELF) {
			t.Errorf("%s: %v", name, err)
		}
		path := filepath.Join(t.TempDir(), "object")
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := elf.Open(path); !errors.Is(err, elf.ErrNotELF) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := elf.Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	if _, err := elf.Open(pipe); !errors.Is(err, elf.ErrNotELF) {
		t.Errorf("pipe: %v", err)
	}
}

func TestBuildID(t *testing.T) {
	for _, e := range []elftest.File{{}, {Class: debugelf.ELFCLASS32, Order: binary.BigEndian}} {
		e.Sections = []elftest.Section{e.BuildID([]byte{0xca, 0xfe, 0x01})}
		f, err := elf.New("test", e.Bytes())
		if err != nil || f.BuildID() != "cafe01" {
			t.Errorf("%v %v", f.BuildID(), err)
		}
	}
}

func TestEmbedded(t *testing.T) {
	inner := elftest.File{Sections: []elftest.Section{{Name: ".inside", Data: content}}}.Bytes()
	pack := func(c xz.WriterConfig) []byte {
		var out bytes.Buffer
		w, err := c.NewWriter(&out)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(inner)
		w.Close()
		return out.Bytes()
	}
	spoilt := pack(xz.WriterConfig{})
	spoilt[len(spoilt)/3] ^= 0xff
	for _, c := range []struct {
		name string
		data []byte
		ok   bool
	}{
		{"crc64", pack(xz.WriterConfig{}), true},
		{"crc32", pack(xz.WriterConfig{CheckSum: xz.CRC32}), true},
		{"sha256", pack(xz.WriterConfig{CheckSum: xz.SHA256}), true},
		{"blocks", pack(xz.WriterConfig{BlockSize: 4096}), true},
		{"absurd dictionary", pack(xz.WriterConfig{DictCap: 1 << 30, BufSize: 1 << 12}), false},
		{"spoilt", spoilt, false},
		{"cut", pack(xz.WriterConfig{})[:100], false},
		{"other", []byte("no xz stream at all"), false},
	} {
		f, err := elf.New("test", elftest.File{Sections: []elftest.Section{{Name: ".gnu_debugdata", Data: c.data}}}.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		e, err := f.MiniDebugInfo()
		if ok := err == nil && e.Section(".inside") != nil; ok != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// Debug files are found by build-id or link, and must match the object.
func TestFindDebug(t *testing.T) {
	var e elftest.File
	id, other := []byte{0xab, 0xcd, 0xef}, []byte{0xab, 0, 0}
	object1 := func(parts ...elftest.Section) []byte { return elftest.File{Sections: parts}.Bytes() }
	debug := object1(e.BuildID(id), elftest.Section{Name: ".debug_info", Data: content})
	wrong := object1(e.BuildID(other))
	nameless := object1(elftest.Section{Name: ".debug_info", Data: content})
	crc := crc32.ChecksumIEEE(nameless)
	linked := object1(e.BuildID(id), e.DebugLink("prog.debug", 0))
	byCRC := object1(e.DebugLink("prog.debug", crc))

	for _, c := range []struct {
		name   string
		object []byte
		files  map[string][]byte
		found  string
		notes  int
	}{
		{"none", linked, nil, "", 0},
		{"build-id", linked, map[string][]byte{"debug/.build-id/ab/cdef.debug": debug, "bin/prog.debug": debug}, "debug/.build-id/ab/cdef.debug", 0},
		{"debuginfod's cache", linked, map[string][]byte{"debug/abcdef/debuginfo": debug}, "debug/abcdef/debuginfo", 0},
		{"perf's cache", linked, map[string][]byte{"debug/.build-id/ab/cdef/debug": debug, "debug/.build-id/ab/cdef/elf": linked}, "debug/.build-id/ab/cdef/debug", 0},
		{"next to it", linked, map[string][]byte{"bin/prog.debug": debug, "bin/.debug/prog.debug": debug}, "bin/prog.debug", 0},
		{"subfolder", linked, map[string][]byte{"bin/.debug/prog.debug": debug}, "bin/.debug/prog.debug", 0},
		{"global folder", linked, map[string][]byte{"debug/@/bin/prog.debug": debug}, "debug/@/bin/prog.debug", 0},
		{"other build", linked, map[string][]byte{"bin/prog.debug": wrong}, "", 1},
		{"other build first", linked, map[string][]byte{"bin/prog.debug": wrong, "bin/.debug/prog.debug": debug}, "bin/.debug/prog.debug", 1},
		{"no object", linked, map[string][]byte{"bin/prog.debug": []byte("this is a text file\n")}, "", 1},
		{"checksum", byCRC, map[string][]byte{"bin/prog.debug": nameless}, "bin/prog.debug", 0},
		{"other checksum", byCRC, map[string][]byte{"bin/prog.debug": debug}, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			root, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			place := func(name string) string { return filepath.Join(root, strings.Replace(name, "@", root, 1)) }
			write := func(name string, b []byte) {
				os.MkdirAll(filepath.Dir(place(name)), 0o755)
				if err := os.WriteFile(place(name), b, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			write("bin/prog", c.object)
			for name, b := range c.files {
				write(name, b)
			}
			f, err := elf.Open(place("bin/prog"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			d, notes := elf.FindDebug(f, []string{place("debug")})
			got := ""
			if d != nil {
				got = d.Path
				d.Close()
			}
			if want := place(c.found); c.found != "" && got != want || c.found == "" && got != "" || len(notes) != c.notes {
				t.Errorf("found %s with notes %v, want %s", got, notes, c.found)
			}
		})
	}
}
