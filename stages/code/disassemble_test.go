package code

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"stackmill/stages/attribute"
	"stackmill/stages/decode"
	"stackmill/stages/listing"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/isa"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
	"stackmill/stages/symbolize"
)

// fixedTable loads the same symbol table for every file.
type fixedTable struct{ *symtab.Table }

func (t fixedTable) Load(string) (*symtab.Table, error) { return t.Table, nil }

// Functions come in order, as if they were disassembled one after the other: as a whole until there
// are enough instructions.
func TestDisassemble(t *testing.T) {
	const count, size = 4000, 0x40
	path := filepath.Join(t.TempDir(), "nops")
	code := bytes.Repeat([]byte{0x90}, count*size)
	for n := range count { // no two of them are equal
		code[n*size] = 0xb8 // mov $n,%eax
		code[n*size+1], code[n*size+2], code[n*size+3], code[n*size+4] = byte(n), byte(n>>8), 0, 0
	}
	if err := os.WriteFile(path, code, 0o644); err != nil {
		t.Fatal(err)
	}
	draft := &symtab.Draft{Table: symtab.Table{Key: "nops", Arch: isa.AMD64,
		Segments: []symtab.Segment{{FileSize: count * size, MemSize: count * size, Flags: 5}},
		Regions:  []symtab.Region{{Size: count * size}},
		Modules:  []symtab.Module{{Name: "nops"}},
	}}
	for n := range uint64(count) {
		name := fmt.Sprint("f", n)
		draft.Functions = append(draft.Functions, symtab.Function{Kind: funcinfo.Normal, Name: name, Linkage: name, Offset: n * size, Address: n * size, Size: size})
	}
	rec := &decode.Recording{PageSize: 0x1000, Arch: "x86_64", WordBits: 64, Locate: func(path string) []decode.Candidate {
		return []decode.Candidate{{Path: path, Origin: "path"}}
	}}
	resolver := symbolize.New(rec, rec, fixedTable{draft.Finish()})
	process := resolver.Process(&decode.Process{Mappings: []decode.MapEvent{{Path: path, Address: 0x10000, Size: count * size, Modes: 5}}}, "map.xml")
	var functions []program.FunctionNo
	pcs := make([][]uint64, 2*count)
	for n := range uint64(count) {
		f := resolver.Program.Location(process.Resolve(0x10000+n*size, 0).Location).Function
		functions = append(functions, f)
		pcs[f] = []uint64{n * size, n*size + 7}
	}
	resolver.Finish()
	r := &Result{Result: &attribute.Result{Program: resolver.Program}, Lists: listing.NewRegistry().Begin(), Disassembler: func() *symbolize.Disassembler {
		return symbolize.NewDisassembler(resolver, symbolize.NewDisassemblyCache())
	}}
	n, whole := 0, 0
	r.disassemble(functions, pcs, func(f program.FunctionNo, code *symbolize.Disassembly) {
		want := 2 // the PCs'
		if whole < wholeInstructions {
			want = size - 4
			whole += want
		}
		if f != functions[n] || code.Count != want || len(code.Instructions) != want {
			t.Fatalf("function %d of %d: %d instructions of %d, want %d", n, f, code.Count, functions[n], want)
		}
		if got := code.Instructions[0].Text; got != fmt.Sprintf("mov $%#x,%%eax", n) {
			t.Fatalf("function %d begins with %q", n, got)
		}
		n++
	})
	if n != count {
		t.Errorf("%d functions of %d", n, count)
	}
}

// A chunk gets functions until it has enough code. Only a bounded part of a large function counts.
func TestParts(t *testing.T) {
	r := &Result{Result: &attribute.Result{Program: &program.Program{Functions: []program.Function{{Size: chunkBytes}, {Size: 1}, {Size: chunkBytes / 2}, {Size: 1 << 40}, {Size: chunkBytes - 1}, {}}}}}
	for _, test := range []struct{ functions, ends []program.FunctionNo }{
		{nil, nil},
		{[]program.FunctionNo{5}, []program.FunctionNo{5}},
		{[]program.FunctionNo{0, 1, 2, 3, 4, 5}, []program.FunctionNo{0, 3, 5}},
		{[]program.FunctionNo{2, 2, 4, 1}, []program.FunctionNo{2, 1}},
	} {
		parts := r.chunks(test.functions)
		var ends []program.FunctionNo
		for _, part := range parts {
			ends = append(ends, part[len(part)-1])
		}
		if !slices.Equal(slices.Concat(parts...), test.functions) || !slices.Equal(ends, test.ends) {
			t.Errorf("parts of %v are %v, want them to end with %v", test.functions, parts, test.ends)
		}
	}
}
