package acceptance

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"testing"

	"stackmill/pipeline"
	"stackmill/queries"
)

// objectDamages change an object's file at random places.
var objectDamages = []struct {
	name string
	do   func(b []byte, f *elf.File, r *rand.Rand) []byte
}{
	{"cut in the text", func(b []byte, f *elf.File, r *rand.Rand) []byte {
		text := f.Section(".text")
		return b[:text.Offset+text.Size/4+uint64(r.Intn(int(text.Size/2)))]
	}},
	{"cut in the symbols", func(b []byte, f *elf.File, r *rand.Rand) []byte {
		s := f.SectionByType(elf.SHT_SYMTAB)
		if s == nil {
			s = f.SectionByType(elf.SHT_DYNSYM)
		}
		return b[:s.Offset+uint64(r.Intn(int(s.FileSize)))]
	}},
	{"section headers", func(b []byte, f *elf.File, r *rand.Rand) []byte {
		at := binary.LittleEndian.Uint64(b[40:])
		return scatter(b, r, int(at), 64*len(f.Sections), 8)
	}},
	{"program headers", func(b []byte, f *elf.File, r *rand.Rand) []byte {
		return scatter(b, r, int(binary.LittleEndian.Uint64(b[32:])), 56*len(f.Progs), 3)
	}},
	{"symbols", in(".symtab", 200)}, {"dynamic symbols", in(".dynsym", 50)}, {"names", in(".strtab", 200)},
	{"lines", in(".debug_line", 20)}, {"entries", in(".debug_info", 50)}, {"abbreviations", in(".debug_abbrev", 10)},
	{"ranges", in(".debug_ranges", 20)}, {"call frames", in(".eh_frame", 20)}, {"text", in(".text", 100)},
}

// in returns a damage that changes n bytes of a section.
func in(name string, n int) func([]byte, *elf.File, *rand.Rand) []byte {
	return func(b []byte, f *elf.File, r *rand.Rand) []byte {
		s := f.Section(name)
		if s == nil || s.Type == elf.SHT_NOBITS {
			return nil
		}
		return scatter(b, r, int(s.Offset), int(s.FileSize), n)
	}
}

func scatter(b []byte, r *rand.Rand, from, size, n int) []byte {
	for range n {
		b[from+r.Intn(size)] = byte(r.Intn(256))
	}
	return b
}

// If the file of a load object is damaged, only names are lost. The store stays consistent: all
// parts sum to their whole.
func TestDamagedObjects(t *testing.T) {
	folder := t.TempDir()
	r := rand.New(rand.NewSource(1))
	made := 0
	for name, program := range map[string]string{"recur.er": "recur_", "omp_gcc.er": "omp_gcc_", "stripmain.er": "libstripped.so_"} {
		from := filepath.Join(recordings, "exp", name)
		found, err := filepath.Glob(filepath.Join(from, "archives", program+"*"))
		if err != nil || len(found) != 1 {
			t.Fatal(found, err)
		}
		whole, err := os.ReadFile(found[0])
		if err != nil {
			t.Fatal(err)
		}
		f, err := elf.NewFile(bytes.NewReader(whole))
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range objectDamages {
			content := d.do(bytes.Clone(whole), f, r)
			if content == nil {
				continue
			}
			made++
			to := filepath.Join(folder, fmt.Sprintf("%s %s.er", name, d.name))
			if err := errors.Join(replaced(from, to, found[0], content)); err != nil {
				t.Fatal(err)
			}
		}
	}
	store := filepath.Join(t.TempDir(), "store")
	results, err := pipeline.Ingest(t.Context(), pipeline.Options{Store: store, Jobs: 2, Recursive: true, DebugDirs: []string{}}, folder)
	if err != nil || len(results) != made {
		t.Fatalf("%d results of %d: %v", len(results), made, err)
	}
	samples := map[string]int64{}
	for _, x := range results {
		name := filepath.Base(x.Path)[:3]
		if samples[name] == 0 {
			samples[name] = x.Samples
		}
		if x.Lost() || x.Samples == 0 || x.Samples != samples[name] {
			t.Errorf("%s: %s, %d samples of %d, %v", x.Path, x.Status, x.Samples, samples[name], x.Err)
		}
	}
	proof, err := queries.Check(t.Context(), store, queries.CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range proof.Wrong {
		t.Error(w)
	}
}

// replaced copies a recording with different content of one file.
func replaced(from, to, file string, content []byte) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at := filepath.Join(to, path[len(from):])
		switch {
		case e.IsDir():
			return os.MkdirAll(at, 0o755)
		case path == file:
			return os.WriteFile(at, content, 0o644)
		}
		return os.Link(path, at)
	})
}
