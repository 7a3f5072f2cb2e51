package symtab

import (
	"encoding/binary"
	"fmt"
	"slices"
	"stackmill/stages/loadobject/funcinfo"
	"strings"
	"testing"
)

// archived appends a packet of an archived table of symbols.
func archived(b []byte, typ uint16, numbers []uint32, texts ...string) []byte {
	o, start := binary.LittleEndian, len(b)
	b = append(b, 0, 0, 0, 0)
	for _, n := range numbers {
		b = o.AppendUint32(b, n)
	}
	for _, t := range texts {
		b = append(append(b, t...), make([]byte, (len(t)+4)&^3-len(t))...)
	}
	o.PutUint16(b[start:], typ)
	o.PutUint16(b[start+2:], uint16(len(b)-start))
	return b
}

// archivedSegment returns the first packet, which has the size of the object's text.
func archivedSegment(size uint32) []byte {
	return archived(nil, archiveSegment, []uint32{archiveVersion, 77, size, 6}, "/home/me/prog")
}

func archivedTable() []byte {
	b := archivedSegment(0x2800)
	b = archived(b, archiveMessage, []uint32{9})
	b = archived(b, archiveText, nil, "Archived by er_archive")
	b = archived(b, archiveModule, []uint32{0, 1}, "(unknown)", "(unknown)")
	b = archived(b, archiveFunction, []uint32{0x1020, 0x30, 0x1020}, "@plt")
	b = archived(b, archiveFunction, []uint32{0x1300, 0x10, 0x1300}, "memcpy@@GLIBC_2.14")
	b = archived(b, archiveFunction, []uint32{0x1300, 0x10, 0x1300}, "__GI_memcpy")
	b = archived(b, 0x600, []uint32{0x1234, 0x1238})
	b = archived(b, archiveModule, []uint32{4, 1}, "/home/me/prog", "/home/me/prog.cc")
	b = archived(b, archiveFunction, []uint32{0x1200, 0x80, 0x1200}, "_ZN1A1fEi")
	b = archived(b, archiveFunction, []uint32{0x1100, 0x80, 0x1100}, "main")
	return archived(b, archiveFunction, []uint32{0x1280, 0x20, 0x1280}, "_ZN1A1fEi.cold")
}

func TestReadArchive(t *testing.T) {
	data := archivedTable()
	if !IsArchive(data[:64]) || IsArchive(data[1:]) || IsArchive(data[:8]) {
		t.Error("archives are not recognized")
	}
	table := ReadArchive(data).Finish()
	var got []string
	for f := range table.Functions.All() {
		m := table.Modules[f.Module]
		got = append(got, fmt.Sprintf("%#x+%#x %s %q %s %s %s", f.Offset, f.Size, f.Name, f.Aliases, f.Kind, m.Name, m.Language))
	}
	want := []string{
		`0x1020+0x30 @plt "" plt (unknown) `,
		`0x1100+0x80 main "main" normal /home/me/prog.cc C++`,
		`0x1200+0x80 A::f(int) "_ZN1A1fEi" normal /home/me/prog.cc C++`,
		`0x1280+0x20 A::f(int) [clone .cold] "_ZN1A1fEi.cold" outline /home/me/prog.cc C++`,
		`0x1300+0x10 memcpy "__GI_memcpy\tmemcpy" normal (unknown) `,
	}
	if !slices.Equal(got, want) {
		t.Errorf("functions:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for offset, want := range map[uint64]string{0x1000: "<static>@0x0", 0x1050: "<static>@0x1050", 0x1110: "main", 0x1180: "<static>@0x1180", 0x2fff: "<static>@0x1310", 0x3000: ""} {
		if f, _ := table.Function(offset); f.Name != want {
			t.Errorf("at %#x: %s, want %s", offset, f.Name, want)
		}
	}
	if table.Arch != 0 || table.Lines.Len() != 0 || len(table.Segments) != 0 {
		t.Error("there is code, or there are lines")
	}
	if len(table.Notes) != 1 || table.Notes[0].Damage || !strings.Contains(table.Notes[0].Text, "0x600") {
		t.Errorf("notes: %v", table.Notes)
	}
}

// A table that is cut within a packet is reported as damaged, and what precedes the cut is used.
func TestCutArchive(t *testing.T) {
	data := archivedTable()
	whole := map[int]bool{}
	for at := 0; at < len(data); at += int(binary.LittleEndian.Uint16(data[at+2:])) {
		whole[at] = true
	}
	for n := 1; n < len(data); n++ {
		d := ReadArchive(data[:n])
		if damaged := slices.ContainsFunc(d.Notes, func(x Note) bool { return x.Damage }); damaged == whole[n] {
			t.Errorf("cut at %d: %v", n, d.Notes)
		}
		if n > len(data)-40 && len(d.Functions) < 3 {
			t.Errorf("cut at %d: %d functions", n, len(d.Functions))
		}
	}
}

// An invalid packet ends the table, with a reason.
func TestDamagedArchive(t *testing.T) {
	first := archivedSegment(0x2000)
	function := archived(nil, archiveFunction, []uint32{0x1000, 16, 0x1000}, "f")
	for name, c := range map[string]struct {
		data []byte
		want int // number of functions
	}{
		"size of 0":             {append(slices.Concat(first, function), 0, 5, 0, 0), 1},
		"size of 2":             {append(slices.Concat(first, function), 0, 5, 2, 0, 1, 2, 3, 4), 1},
		"size not aligned":      {append(slices.Concat(first, function), 0, 5, 6, 0, 1, 2, 3, 4), 1},
		"size beyond the end":   {append(slices.Concat(first, function), 0, 5, 16, 0, 1, 2, 3, 4), 1},
		"text without NUL":      {append(slices.Concat(first, function), 0, 5, 20, 0, 0, 16, 0, 0, 1, 0, 0, 0, 0, 16, 0, 0, 'a', 'b', 'c', 'd'), 1},
		"module without texts":  {slices.Concat(first, function, archived(nil, archiveModule, []uint32{1, 1}), function), 1},
		"module without source": {slices.Concat(first, function, archived(nil, archiveModule, []uint32{1, 1}, "a"), function), 1},
		"no name":               {slices.Concat(first, function, archived(nil, archiveFunction, []uint32{0x1100, 16, 0}, "")), 1},
		"two segments":          {slices.Concat(first, function, first, archived(nil, archiveFunction, []uint32{0x1100, 16, 0}, "g")), 1},
	} {
		d := ReadArchive(c.data)
		if len(d.Functions) != c.want || len(d.Notes) != 1 || !d.Notes[0].Damage || d.Notes[0].Offset < int64(len(first)) {
			t.Errorf("%s: %d functions, %v", name, len(d.Functions), d.Notes)
		}
	}
}

// Large tables, names, sizes and offsets can be read.
func TestLargeArchive(t *testing.T) {
	b := archived(archivedSegment(1<<31), archiveModule, []uint32{2, 1}, "/a", "/a.c")
	for i := range uint32(70000) {
		b = archived(b, archiveFunction, []uint32{0x1000 + 16*i, 16, 0}, fmt.Sprintf("f%d", i))
	}
	long := strings.Repeat("n", 60000)
	b = archived(b, archiveFunction, []uint32{0x200000, 1<<32 - 1, 0}, long)
	b = archived(b, archiveFunction, []uint32{1<<32 - 1, 1<<32 - 1, 0}, "last")
	table := ReadArchive(b).Finish()
	if n := table.Functions.Len(); n != 70002 || len(table.Notes) != 0 {
		t.Errorf("%d functions, %v", n, table.Notes)
	}
	for offset, want := range map[uint64]string{0x1000 + 16*69999: "f69999", 0x200000: long, 1<<32 - 2: long, 1<<32 - 1: "last"} {
		if f, _ := table.Function(offset); f.Name != want {
			t.Errorf("at %#x: %.20s", offset, f.Name)
		}
	}
}

// Whatever a table contains, its functions lie in a region and do not overlap.
func FuzzArchive(f *testing.F) {
	f.Add(archivedTable())
	f.Add(archivedTable()[:99])
	f.Fuzz(func(t *testing.T, data []byte) {
		d := ReadArchive(data)
		end := uint64(0)
		for i, g := range d.Functions {
			if g.Offset < end || g.Size == 0 && g.Kind != funcinfo.PLT || int(g.Module) >= len(d.Modules) {
				t.Fatalf("function %d at %#x of %#x bytes, after %#x", i, g.Offset, g.Size, end)
			}
			end = g.Offset + g.Size
		}
		end = 0
		for _, g := range d.Regions {
			if g.Offset < end || g.Size == 0 {
				t.Fatalf("region at %#x after %#x", g.Offset, end)
			}
			end = g.Offset + g.Size
		}
		d.Finish().Function(0x1000)
	})
}
