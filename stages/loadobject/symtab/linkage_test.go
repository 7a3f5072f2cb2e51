package symtab_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/insn/disasm"
	"stackmill/stages/loadobject/linkage"
	"stackmill/stages/loadobject/symtab"
)

// forms returns, by name, one program linked by several linkers for two processors, with each form
// of procedure linkage table (testdata/linkage/make.sh).
func forms(t *testing.T) map[string][]byte {
	t.Helper()
	f, err := os.Open("testdata/linkage/forms.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	list := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		if list[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

// With every form of procedure linkage table, with and without section headers, the call in one
// goes to tiny's entry, and the call in two to tiny2's. At the start of an entry, the return address
// is on top of the stack (x86-64) or in a register (A64).
func TestLinkageTables(t *testing.T) {
	list := forms(t)
	if len(list) < 26 {
		t.Fatalf("%d programs", len(list))
	}
	for name, b := range list {
		static := strings.HasSuffix(name, ".static")
		whole := symtab.Read(parse(t, b), nil).Finish()
		copy(b[40:], make([]byte, 8)) // position of the section headers
		bare := symtab.Read(parse(t, b), nil).Finish()
		f := parse(t, b)
		for caller, callee := range map[string]string{"one": "tiny", "two": "tiny2"} {
			at, ok := target(whole, f.Bytes(), caller)
			if !ok {
				t.Fatalf("%s: %s calls nothing", name, caller)
			}
			offset, _ := whole.Addresses().Offset(at)
			if g, _ := whole.Function(offset); g.Kind != funcinfo.PLT {
				t.Errorf("%s: %s calls %s of kind %s", name, caller, g.Name, g.Kind)
			}
			stub, ok := disasm.StubSlot(whole.Arch, f.Slice(offset, 32), at)
			slot, known := whole.Slot(stub)
			if !ok || !known {
				t.Errorf("%s: the entry of %s has no slot (%v, %v)", name, callee, ok, known)
			}
			if static {
				offset, _ := whole.Addresses().Offset(slot.Resolver)
				if g, _ := whole.Function(offset); g.Name != callee || !g.Indirect {
					t.Errorf("%s: %s is chosen by %q (%v)", name, callee, g.Name, g.Indirect)
				}
				continue // without sections, nothing lists its relocations
			}
			if slot.Symbol != callee {
				t.Errorf("%s: %s calls %q", name, caller, slot.Symbol)
			}
			if g, _ := bare.Function(offset); g.Kind != funcinfo.PLT {
				t.Errorf("%s: without sections, %s calls %s of kind %s", name, caller, g.Name, g.Kind)
			}
			depths(t, name, whole, f.Bytes(), offset, at)
		}
		if static {
			continue
		}
		for _, r := range whole.Regions {
			for off := r.Offset; off < r.Offset+r.Size; off += 4 {
				x, _ := whole.Function(off)
				y, _ := bare.Function(off)
				if (x.Kind == funcinfo.PLT) != (y.Kind == funcinfo.PLT) {
					t.Errorf("%s: %#x in %s is of kind %s, without sections %s", name, off, r.Name, x.Kind, y.Kind)
					break
				}
			}
		}
	}
}

// target returns the target of a function's first call.
func target(t *symtab.Table, file []byte, name string) (uint64, bool) {
	for f := range t.Functions.All() {
		if f.Name != name {
			continue
		}
		for i := range disasm.Walk(t.Arch, file[f.Offset:f.Offset+f.Size], f.Address) {
			if i.Inst.Kind == insn.Call {
				return i.Inst.Target, i.Inst.HasTarget
			}
		}
	}
	return 0, false
}

// depths checks the depth at an entry of a procedure linkage table.
func depths(t *testing.T, name string, table *symtab.Table, file []byte, offset, at uint64) {
	t.Helper()
	r, _ := table.Region(offset)
	want := int32(8)
	if strings.HasPrefix(name, "arm64.") {
		want = 0
	}
	got := int32(-1)
	for _, d := range linkage.Depths(table.Arch, file[r.Offset:r.Offset+r.Size], r.Address) {
		if d.Address <= at {
			got = d.Bytes
		}
	}
	if got != want {
		t.Errorf("%s: the caller's frame begins %d bytes above the stack pointer at %#x, want %d", name, got, at, want)
	}
}
