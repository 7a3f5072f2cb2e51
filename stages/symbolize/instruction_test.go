package symbolize

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/isa"
	"stackmill/stages/loadobject/symtab"
)

// text returns, for each instruction, offset, size, assembly text, target, line.
func (d Disassembly) text() string {
	var b strings.Builder
	for _, i := range d.Instructions {
		fmt.Fprintf(&b, "%x %d %s", i.Offset, i.Size, i.Text)
		if i.HasTarget {
			fmt.Fprintf(&b, " -> %x", i.Target)
		}
		if i.TargetName != "" {
			fmt.Fprintf(&b, " <%s>", i.TargetName)
		}
		if i.File != "" {
			fmt.Fprintf(&b, " %s:%d", filepath.Base(i.File), i.Line)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestDisassembler(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prog")
	content := make([]byte, 0x2000)
	for i := range content {
		content[i] = 0x90
	}
	copy(content[0x1000:], "\x55\xe8\xfa\x00\x00\x00\x48\x8d\x43\x10\xe8\xf7\x00\x00\x00\x06\x74\xef\xe9\xea\x0f\x00\x00\xc3")
	copy(content[0x1300:], "\x48\xb8\x55\x55\x55\x55\x55\x55\x55\x55\xc3") // covered by no symbol
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	table := tableOf("aa", symtab.Function{Name: "f", Size: 0x18}, symtab.Function{Name: "g"})
	table.Arch, table.Key = isa.AMD64, "f and g"
	table.Files = []string{"/src/f.c"}
	table.Lines = symtab.RowsOf([]symtab.Row{{Offset: 0x1001, Line: 3}, {Offset: 0x1006, Line: 4}, {Offset: 0x1017, File: -1}})
	made := decode.MapEvent{Path: "made", Address: 0x90000, Size: 3, Modes: 5, Code: &decode.Code{Function: "made", File: "gen.x",
		Bytes: []byte{0xeb, 0xfe, 0xc3}, Lines: []decode.CodeLine{{Offset: 2, Line: 7}}}}
	r, rec := recording(tableMap{path: table})
	rec.Arch, rec.WordBits = "x86_64", 64
	pr := process(r, text(path, 0x10000), made)
	d := NewDisassembler(r, NewDisassemblyCache())
	defer d.Close()

	whole := `1000 1 push %rbp
1001 5 callq 0x1100 -> 1100 <g> f.c:3
1006 4 lea 0x10(%rbx),%rax f.c:4
100a 5 callq 0x1106 -> 1106 <g+0x6> f.c:4
100f 1 .byte 0x06 f.c:4
1010 2 je 0x1001 -> 1001 f.c:4
1012 5 jmpq 0x2001 f.c:4
1017 1 retq
`
	lines := strings.SplitAfter(whole, "\n")
	for _, test := range []struct {
		name   string
		at     uint64 // a PC in the function
		pcs    []uint64
		within int
		want   string
		meant  map[uint64]uint64
	}{
		{"whole", 0x10000, []uint64{0x1001}, All, whole, nil},
		{"those at PCs", 0x10000, []uint64{0x1001, 0x1010}, 0, lines[1] + lines[5], nil},
		{"near a PC", 0x10000, []uint64{0x100f}, 5, strings.Join(lines[3:7], ""), nil},
		{"PC before a call", 0x10000, []uint64{0x1009}, 0, lines[3], map[uint64]uint64{0x1009: 0x100a}},
		{"PC inside a call", 0x10000, []uint64{0x1003}, 0, lines[1], map[uint64]uint64{0x1003: 0x1001}},
		{"PC inside another", 0x10000, []uint64{0x1002, 0x1014}, 0, lines[1] + lines[6], map[uint64]uint64{0x1002: 0x1001, 0x1014: 0x1012}},
		{"static region", 0x10300, []uint64{0x130a}, 10, "1300 10 mov $0x5555555555555555,%rax\n130a 1 retq\n" + nops(0x130b, 10), nil},
		{"static region from what arrives at the PC", 0x10300, []uint64{0x130a}, 1, "1309 1 push %rbp\n130a 1 retq\n130b 1 nop\n", nil},
		{"generated code", 0x90000, []uint64{0}, All, "0 2 jmp 0x0 -> 0\n2 1 retq gen.x:7\n", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := r.Program.Location(pr.Resolve(test.at, 0).Location).Function
			got := d.Function(nil, f, test.pcs, test.within)
			known, ok := d.Cached(f, test.pcs, test.within)
			if ok != (test.name != "generated code") || ok && !alike(known, got) {
				t.Errorf("known %v: %+v, it is %+v", ok, known, got)
			}
			if diff := cmp.Diff(test.want, got.text()); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(test.meant, got.Starts); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// alike reports whether two disassemblies are the same except for the instructions.
func alike(a, b Disassembly) bool {
	return a.Count == b.Count && a.Content == b.Content && maps.Equal(a.Starts, b.Starts)
}

// The cached disassembly of a whole function has the instructions of other PCs in it.
func TestKnown(t *testing.T) {
	path := filepath.Join(t.TempDir(), "app")
	content := make([]byte, 0x1020)
	copy(content[0x1000:], "\x55\xe8\xfa\x00\x00\x00\x48\x8d\x43\x10\xe8\xf7\x00\x00\x00\x06\x74\xef\xe9\xea\x0f\x00\x00\xc3")
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	table := tableOf("aa", symtab.Function{Name: "f", Size: 0x40}) // the file has half of it
	table.Arch, table.Key = isa.AMD64, "f"
	r, _ := recording(tableMap{path: table})
	pr := process(r, text(path, 0x10000))
	f := r.Program.Location(pr.Resolve(0x10000, 0).Location).Function
	outlines := NewDisassemblyCache()
	d := NewDisassembler(r, outlines)
	if _, ok := d.Cached(f, nil, All); ok {
		t.Error("known before it was asked for")
	}
	d.Function(nil, f, []uint64{0x1000}, All)
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var pcs []uint64
		for range random.IntN(4) {
			pcs = append(pcs, 0x1000+random.Uint64N(0x24))
		}
		slices.Sort(pcs)
		want := NewDisassembler(r, NewDisassemblyCache()).Function(nil, f, pcs, All)
		got, ok := NewDisassembler(r, outlines).Cached(f, pcs, All)
		if inside := len(pcs) == 0 || pcs[len(pcs)-1] < 0x1020; ok != inside || ok && !alike(got, want) {
			t.Fatalf("%x: known %v, %+v, want %+v", pcs, ok, got, want)
		}
	}
	if _, ok := d.Cached(f, nil, 0); ok {
		t.Error("a part of it is taken for the whole")
	}
	table.Alone = true
	if _, ok := d.Cached(f, nil, All); ok {
		t.Error("known although the table is of other files as well")
	}
}

// A procedure linkage table is one function, the first of its sections, whichever of
// them a PC lies in.
func TestDisassembleLinkageTable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prog")
	content := make([]byte, 0x2000)
	copy(content[0x1000:], "\xff\x25\xca\xdf\xf6\x01\x68\x00\x00\x00\x00\xe9\x00\x00\x00\x00") // .plt
	copy(content[0x1100:], "\xff\x25\xca\xdf\xf6\x01\x66\x90")                                 // .plt.got
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	table := tableOf("aa", symtab.Function{Name: "@plt", Kind: funcinfo.PLT, Size: 16}, symtab.Function{Name: "@plt", Kind: funcinfo.PLT, Size: 8})
	table.Arch = isa.AMD64
	r, rec := recording(tableMap{path: table})
	rec.Arch, rec.WordBits = "x86_64", 64
	pr := process(r, text(path, 0x10000))
	d := NewDisassembler(r, NewDisassemblyCache())
	defer d.Close()
	first, second := *r.Program.Location(pr.Resolve(0x10006, 0).Location), *r.Program.Location(pr.Resolve(0x10100, 0).Location)
	if first.Function != second.Function || second.Offset != 0x1100 {
		t.Fatalf("%+v and %+v are not in one function", first, second)
	}
	want := "1000 6 jmpq *0x1f6dfca(%rip)\n1006 5 pushq $0x0\n1100 6 jmpq *0x1f6dfca(%rip)\n"
	if got := d.Function(nil, first.Function, []uint64{0x1000, 0x1006, 0x1100}, 0).text(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// nops prints n no-ops from an offset on.
func nops(offset, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%x 1 nop\n", offset+i)
	}
	return b.String()
}

// Unavailable code has no instructions, whichever way it is requested.
func TestDisassembleNothing(t *testing.T) {
	table := tableOf("aa", symtab.Function{Name: "f"})
	table.Arch = isa.AMD64
	r, _ := recording(tableMap{"/gone": table, "/other": tableOf("bb", symtab.Function{Name: "f"})})
	pr := process(r, text("/gone", 0x10000), text("/other", 0x20000), text("/none", 0x30000))
	d := NewDisassembler(r, NewDisassemblyCache())
	for _, pc := range []uint64{0x10000, 0x10300, 0x20000, 0x20300, 0x30000} {
		l := *r.Program.Location(pr.Resolve(pc, 0).Location)
		for _, within := range []int{All, 0, 1 << 10} {
			if got := d.Function(nil, l.Function, []uint64{l.Offset}, within); !slices.Equal(got.Instructions, nil) {
				t.Errorf("code at %#x: %v", pc, got)
			}
		}
	}
}
