package unwind

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/cache"
	"stackmill/stages/loadobject/elf/elftest"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/stacktree"
	"stackmill/stages/symbolize"
)

const linkBase = 0x7f0000400000

// linkedFiles has real load objects, and synthetic ones by path.
type linkedFiles struct {
	files
	real *cache.Recording
}

func (l linkedFiles) Load(path string) (*symtab.Table, error) {
	if t, err := l.files.Load(path); err == nil {
		return t, nil
	}
	return l.real.Load(path)
}

// First calls through the procedure linkage table, as recorded by an unwinder that can unwind the
// dynamic linker.
func TestLinker(t *testing.T) {
	const (
		lookup, resolve, own = linkBase + 0x110, linkBase + 0x210, linkBase + 0x310

		lazy, sec, got   = progBase + elftest.Lazy, progBase + elftest.Sec, progBase + elftest.Got
		noPLT, tailCall  = progBase + elftest.NoPLT, progBase + elftest.TailCall
		linker, indirect = progBase + elftest.Linker, progBase + elftest.Lazy + 8
		plt, pltSec      = progBase + elftest.PLTLazy + 6, progBase + elftest.PLTSec + 4
	)
	for _, tt := range []struct {
		name  string
		words []uint64
		want  string
	}{
		{"the linker is the leaf", []uint64{lookup, resolve, lazy, sec}, "@plt/S23 lazy sec"},
		{"through .plt.sec", []uint64{lookup, resolve, sec, lazy}, "@plt/S23 sec lazy"},
		{"by a tail call of what was called", []uint64{lookup, resolve, tailCall, lazy}, "@plt/S23 tail_call lazy"},
		{"the table is on the stack", []uint64{lookup, resolve, plt, lazy}, "@plt/S23 lazy"},
		{"twice", []uint64{resolve, lazy, lookup, resolve, sec}, "@plt/S23 lazy @plt/S23 sec"},
		{"the linker calls out: a chooser of implementations, an auditing library", []uint64{got, resolve, lazy}, "got @plt/S23 lazy"},
		{"a function of the linker's own", []uint64{lookup, own, linker, lazy}, "do_lookup linker_function linker lazy"},
		{"a function of the linker's that another library jumps to", []uint64{lookup, own, lazy, sec}, "do_lookup linker_function lazy sec"},
		{".plt.got is filled beforehand", []uint64{resolve, got, lazy}, "_dl_runtime_resolve got lazy"},
		{"so is what -fno-plt takes addresses from", []uint64{resolve, noPLT, lazy}, "_dl_runtime_resolve noplt lazy"},
		{"no call that can be decoded", []uint64{resolve, indirect, lazy}, "_dl_runtime_resolve lazy lazy"},
		{"the caller is lost", []uint64{lookup, resolve}, "do_lookup _dl_runtime_resolve"},
		{"truncated", []uint64{resolve, lazy, decode.MarkTruncated}, "@plt/S23 lazy <Truncated-stack>/S18"},
		{"the leaf is the table (S22)", []uint64{plt, lazy, sec}, "lazy/S22 sec"},
		{"the leaf is .plt.sec", []uint64{pltSec, sec, lazy}, "sec/S22 lazy"},
		{"the table calls", []uint64{lazy, plt, sec}, "lazy @plt sec"},
	} {
		for _, machine := range []elf.Machine{elf.EM_X86_64, elf.EM_AARCH64} {
			for _, sections := range []bool{true, false} {
				t.Run(fmt.Sprint(tt.name, "/", machine, "/", sections), func(t *testing.T) {
					u, set, r := linkedUnwinder(t, machine, sections, "/lib/ld-linux.so.2")
					got := stackOf(u, &decode.RawStack{Words: tt.words}, false, 0)
					if diff := cmp.Diff(tt.want, text(r, set, got, stacktree.Machine)); diff != "" || set.Ends.At(int(got.Path)).Leaf[stacktree.User] != set.Ends.At(int(got.Path)).Leaf[stacktree.Machine] {
						t.Error(diff)
					}
				})
			}
		}
	}
}

// A stripped linker's functions have no names: the caller's call decides.
func TestStrippedLinker(t *testing.T) {
	for _, tt := range []struct {
		name, linker string
		caller       uint64
		want         string
	}{
		{"what was called returns", "/lib/ld-stripped.so.2", elftest.Lazy, "@plt/S23 lazy"},
		{"what was called may have jumped to the linker", "/lib/ld-stripped.so.2", elftest.Sec, "<static>@0x0 sec"},
		{"it is the linker's own", "/lib/ld-stripped.so.2", elftest.Linker, "<static>@0x0 linker"},
		{"nothing is known of the linker", "/lib/ld-lost.so.2", elftest.Lazy, "<static>@0x0 lazy"},
	} {
		for _, machine := range []elf.Machine{elf.EM_X86_64, elf.EM_AARCH64} {
			u, set, r := linkedUnwinder(t, machine, true, tt.linker)
			got := stackOf(u, &decode.RawStack{Words: []uint64{linkBase + 0x110, progBase + tt.caller}}, false, 0)
			if diff := cmp.Diff(tt.want, text(r, set, got, stacktree.Machine)); diff != "" {
				t.Errorf("%s, %v: %s", tt.name, machine, diff)
			}
		}
	}
}

// library defines two of the functions that the importing object calls: one
// that returns, and one that jumps to where a register points.
func library(machine elf.Machine) []byte {
	code := map[elf.Machine][2]string{
		elf.EM_X86_64:  {"\xc3", "\xff\xe0"},
		elf.EM_AARCH64: {"\xc0\x03\x5f\xd6", "\x00\x02\x1f\xd6"},
	}[machine]
	f := elftest.File{Machine: machine}
	text := elftest.Text(".text", 0x400, 0x400, 0x20)
	copy(text.Data, code[0])
	copy(text.Data[0x10:], code[1])
	f.Sections = append([]elftest.Section{text}, f.Symtab(".dynsym", ".dynstr", elf.SHT_DYNSYM, []elftest.Symbol{
		{Name: "ext_lazy", Type: elf.STT_FUNC, Section: 1, Value: 0x400, Size: 4},
		{Name: "ext_sec", Type: elf.STT_FUNC, Section: 1, Value: 0x410, Size: 4},
	})...)
	f.Loads = []elftest.Load{{Flags: elf.PF_R | elf.PF_X, FileSize: 0x1000, MemSize: 0x1000}}
	return f.Bytes()
}

// linkedUnwinder returns the unwinder of a process with a dynamic linker and an object that
// imports functions.
func linkedUnwinder(t *testing.T, machine elf.Machine, sections bool, linker string) (*testUnwinder, *stacktree.Tree, *symbolize.Resolver) {
	t.Helper()
	path, lib := filepath.Join(t.TempDir(), "importing"), filepath.Join(t.TempDir(), "library")
	for path, content := range map[string][]byte{path: elftest.Importing(machine, sections), lib: library(machine)} {
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p := &decode.Process{Number: 1, Stacks: &decode.Stacks{}, Mappings: []decode.MapEvent{
		{Address: progBase, Size: 0x4000, Modes: 5, Path: path},
		{Address: jvmBase, Size: size, Modes: 5, Path: lib},
		{Address: linkBase, Size: size, Modes: 5, Path: linker},
	}}
	rec := &decode.Recording{Processes: []*decode.Process{p}, Locate: func(path string) []decode.Candidate {
		return []decode.Candidate{{Path: path, Origin: "path"}}
	}}
	own := symtab.Function{Offset: 0x300, Name: "linker_function"}
	r := symbolize.New(rec, rec, linkedFiles{files{
		"/lib/ld-linux.so.2":    table(symtab.Function{Offset: 0x100, Name: "do_lookup"}, symtab.Function{Offset: 0x200, Name: "_dl_runtime_resolve"}, own),
		"/lib/ld-stripped.so.2": table(own),
	}, cache.New(cache.Options{}).Local()})
	set := stacktree.NewTree()
	return newTestUnwinder(set, rec, r, p), set, r
}
