package dwarf

import (
	"bytes"
	"compress/zlib"
	debugelf "debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/elf/elftest"
)

var packParts = []string{"info.dwo", "abbrev.dwo", "str.dwo", "str_offsets.dwo", "rnglists.dwo", "cu_index"}

func packOf(t testing.TB, parts ...[]byte) *elf.File {
	t.Helper()
	var e elftest.File
	for i, b := range parts {
		e.Sections = append(e.Sections, elftest.Section{Name: ".debug_" + packParts[i], Data: b})
	}
	f, err := elf.New("prog.dwp", e.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// packed makes a package of two units with inlined code.
func packed(t testing.TB, tool, version string) [][]byte {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"one.c": "extern int v; static inline __attribute__((always_inline)) int a(void) { return ++v; }\nint f(void) { return a() * a(); }\n",
		"two.c": "int v; int f(void); static inline __attribute__((always_inline)) int b(void) { return ++v; }\nint main(void) { return b() + f(); }\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"gcc", "-O2", "-gsplit-dwarf", version, "-o", "prog", "one.c", "two.c"}, {tool, "-e", "prog", "-o", "prog.dwp"},
	} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("%v: %v\n%s", args, err, out)
		}
	}
	f, err := elf.Open(filepath.Join(dir, "prog.dwp"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var parts [][]byte
	for _, name := range packParts {
		b, err := f.Debug(name)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, append([]byte(nil), b...))
	}
	return parts
}

// Units that claim each other's parts are read only once altogether.
func TestOverlappingUnits(t *testing.T) {
	content := packed(t, "dwp", "-gdwarf-4")
	p, err := newDWP(packOf(t, content...))
	if err != nil || len(p.units) != 2 {
		t.Fatalf("%v: %d units", err, len(p.units))
	}
	for id, row := range p.units {
		if u := p.unit(id).byID()[id]; u == nil {
			t.Errorf("no unit %#x in its part %+v", id, row)
		}
	}
	whole := p.units
	p.left = uint64(len(p.all.info))
	for id := range whole {
		whole[id] = contributions{{0, uint32(len(p.all.info))}}
	}
	read := 0
	for id := range whole {
		if p.unit(id) != nil {
			read++
		}
	}
	if read != 1 {
		t.Errorf("%d units share all bytes", read)
	}
}

// Compressed sections that overlap are not all decompressed.
func TestOverlappingSections(t *testing.T) {
	var content bytes.Buffer
	for _, v := range []uint64{1, 1 << 16, 1} { // zlib, the size, the alignment
		binary.Write(&content, binary.LittleEndian, v)
	}
	z := zlib.NewWriter(&content)
	z.Write(make([]byte, 1<<16))
	z.Close()
	e := elftest.File{Sections: []elftest.Section{{Name: ".debug_types.dwo", Flags: debugelf.SHF_COMPRESSED, Data: content.Bytes()}}}
	f, err := elf.New("many.dwo", e.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if b, err := joinSections(f, "types.dwo", nil); len(b) != 1<<16 || err != nil {
		t.Error(len(b), err)
	}
	one := *f.Section(".debug_types.dwo")
	for range 100 {
		f.Sections = append(f.Sections, one)
	}
	if b, err := joinSections(f, "types.dwo", nil); err == nil {
		t.Errorf("%d bytes of a file of %d", len(b), len(f.Bytes()))
	}
}

func FuzzPack(f *testing.F) {
	b := packed(f, "dwp", "-gdwarf-4")
	f.Add(b[0], b[1], b[2], b[3], b[4], b[5])
	f.Fuzz(func(t *testing.T, b0, b1, b2, b3, b4, b5 []byte) {
		p, err := newDWP(packOf(t, b0, b1, b2, b3, b4, b5))
		if err != nil {
			return
		}
		linked := &Sections{Order: binary.LittleEndian, Addr: make([]byte, 64), ranges: make([]byte, 256)}
		linked.SetBudget()
		for id := range p.units {
			s := p.unit(id)
			if s == nil {
				continue
			}
			for _, u := range s.byID() {
				ranges := s.Join(u, &Unit{Format: u.Format}, linked)
				for w := NewWalk(s, u, struct{}{}); w.Next(); {
					w.Attributes()
					if n := len(ranges.Ranges(nil, u, w.Attrs)); n > len(b4)+len(linked.ranges) {
						t.Fatalf("%d ranges", n)
					}
				}
			}
		}
	})
}
