package symbolize

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
)

const (
	linked  = 0xffffffff81000000 // where kernels are linked for
	booted  = 0xffffffffa3000000
	modules = 0xffffffffc0200000
)

// kernelImage is a vmlinux with two sections of code.
func kernelImage(buildID string) *symtab.Table {
	function := func(name string, at uint64) symtab.Function {
		return symtab.Function{Name: name, Linkage: name, Aliases: name, Kind: funcinfo.Normal, Offset: 0x200000 + at, Address: linked + at, Size: 0x100}
	}
	return finished([]symtab.Function{function("startup_64", 0), function("do_work", 0x1000), function("schedule", 0x1100)}, symtab.Table{
		BuildID:  buildID,
		Segments: []symtab.Segment{{Offset: 0x200000, Address: linked, FileSize: 0x3000, MemSize: 0x3000, Flags: 5}},
		Regions:  []symtab.Region{{Name: ".head.text", Offset: 0x200000, Address: linked, Size: 0x1000}, {Name: ".text", Offset: 0x201000, Address: linked + 0x1000, Size: 0x2000}},
		Modules:  []symtab.Module{{Name: "(unknown)"}},
		Files:    []string{"kernel/work.c"},
		Lines:    symtab.RowsOf([]symtab.Row{{Offset: 0x201000, Line: 17}}),
	})
}

// module is an ext4.ko.
func module() *symtab.Table {
	function := func(name string, at, size uint64) symtab.Function {
		return symtab.Function{Name: name, Linkage: name, Aliases: name, Kind: funcinfo.Normal, Offset: at, Address: at, Size: size}
	}
	return finished([]symtab.Function{function("ext4_read", 0x40, 0x200), function("init_module", 0x240, 0x100)}, symtab.Table{
		BuildID: "ee",
		Regions: []symtab.Region{{Name: ".text", Offset: 0x40, Address: 0x40, Size: 0x200}, {Name: ".init.text", Offset: 0x240, Address: 0x240, Size: 0x100}},
		Modules: []symtab.Module{{Name: "(unknown)"}},
	})
}

// The kernel's functions come from its image, at any address, or from a list; a module's functions
// from that list or the module's file.
func TestKernelSymbols(t *testing.T) {
	listAt := func(kernel, modules uint64) *symtab.Table {
		return symtab.ReadKernel(fmt.Appendf(nil, "%x T startup_64\n%x T _text\n%x T do_work\n%x T _etext\n%x t ext4_write\t[ext4]\n%x t other\t[xfs]\n",
			kernel, kernel, kernel+0x1000, kernel+0x2abc, modules+0x10, modules+0x8000)).Finish()
	}
	list := listAt(booted, modules)
	text := decode.KernelSymbol{Name: "_text", Address: booted, End: booted + 0x2abc}
	filled := decode.KernelSymbol{Name: "_text", Address: booted, End: booted + 0x1d000000}        // by an older perf
	filledOld := decode.KernelSymbol{Name: "_text", Address: booted, End: booted + 0x1d000000 - 1} // by perf 3.8
	const ko = "/lib/modules/6.1/kernel/fs/ext4.ko.xz"
	image := func(id string) []decode.MapEvent {
		return []decode.MapEvent{
			{Path: decode.KernelPath, Address: linked - 1<<30, Size: 1 << 31, FileOffset: linked - 1<<30, Modes: 5, BuildID: id},
			{Path: ko, Address: modules, Size: 0x4000, Modes: 5},
		}
	}
	for _, c := range []struct {
		name   string
		files  tableMap
		symbol decode.KernelSymbol
		want   []string // at do_work+0x10, in ext4's first function, behind its text
		why    string
	}{
		{"moved image, module's file", tableMap{decode.KernelPath: kernelImage("aa"), ko: module()}, decode.KernelSymbol{Name: "_text", Address: booted},
			[]string{"[kernel.kallsyms] do_work kernel kernel/work.c:17", "ext4.ko.xz ext4_read kernel", "ext4.ko.xz <Unknown> unknown " + ReasonKernel}, ""},
		{"moved by a function", tableMap{decode.KernelPath: kernelImage("aa")}, decode.KernelSymbol{Name: "schedule", Address: booted + 0x1100},
			[]string{"[kernel.kallsyms] do_work kernel kernel/work.c:17", "ext4.ko.xz <Unknown> unknown " + ReasonKernel, "ext4.ko.xz <Unknown> unknown " + ReasonKernel},
			"ext4.ko.xz warning missing-load-object"},
		{"moved by its section", tableMap{decode.KernelPath: kernelImage("aa")}, decode.KernelSymbol{Name: "_stext", Address: booted + 0x1000},
			[]string{"[kernel.kallsyms] do_work kernel kernel/work.c:17", "ext4.ko.xz <Unknown> unknown " + ReasonKernel, "ext4.ko.xz <Unknown> unknown " + ReasonKernel},
			"ext4.ko.xz warning missing-load-object"},
		{"list", tableMap{decode.KernelPath: list, ko: module()}, text,
			[]string{"[kernel.kallsyms] do_work kernel", "ext4.ko.xz ext4_write kernel", "ext4.ko.xz ext4_write kernel"}, ""},
		{"list of nobody knows which boot", tableMap{decode.KernelPath: list, ko: module()}, decode.KernelSymbol{},
			[]string{"[kernel.kallsyms] do_work kernel", "ext4.ko.xz ext4_write kernel", "ext4.ko.xz ext4_write kernel"}, "[kernel.kallsyms] warning kernel-symbols"},
		{"nothing", tableMap{}, text,
			[]string{"[kernel.kallsyms] <Unknown> unknown " + ReasonKernel, "ext4.ko.xz <Unknown> unknown " + ReasonKernel, "ext4.ko.xz <Unknown> unknown " + ReasonKernel},
			"[kernel.kallsyms] warning kernel-symbols; ext4.ko.xz warning missing-load-object"},
		{"nothing, and the PC is not in the kernel's own text", tableMap{}, decode.KernelSymbol{Name: "_text", Address: booted, Start: booted, End: booted + 0x100},
			[]string{"<Unknown> <Unknown> unknown " + ReasonKernel, "ext4.ko.xz <Unknown> unknown " + ReasonKernel, "ext4.ko.xz <Unknown> unknown " + ReasonKernel},
			"[kernel.kallsyms] warning kernel-symbols; ext4.ko.xz warning missing-load-object"},
		{"list of another boot", tableMap{decode.KernelPath: listAt(booted+0x200000, modules), ko: module()}, text,
			[]string{"[kernel.kallsyms] do_work kernel", "ext4.ko.xz ext4_read kernel", "ext4.ko.xz <Unknown> unknown " + ReasonKernel}, "ext4.ko.xz info kernel-symbols"},
		{"list of another boot, end unknown", tableMap{decode.KernelPath: listAt(booted-0x7600000, modules+0x100000)}, filled,
			[]string{"[kernel.kallsyms] do_work kernel", "ext4.ko.xz <Unknown> unknown " + ReasonKernel, "ext4.ko.xz <Unknown> unknown " + ReasonKernel},
			"ext4.ko.xz warning kernel-symbols"},
		{"list of another boot, end unknown, old", tableMap{decode.KernelPath: listAt(booted-0x7600000, modules+0x100000)}, filledOld,
			[]string{"[kernel.kallsyms] do_work kernel", "ext4.ko.xz <Unknown> unknown " + ReasonKernel, "ext4.ko.xz <Unknown> unknown " + ReasonKernel},
			"ext4.ko.xz warning kernel-symbols"},
		{"link-time list", tableMap{decode.KernelPath: listAt(linked, modules)}, text,
			[]string{"[kernel.kallsyms] do_work kernel", "ext4.ko.xz <Unknown> unknown " + ReasonKernel, "ext4.ko.xz <Unknown> unknown " + ReasonKernel},
			"ext4.ko.xz warning kernel-symbols"},
		{"list with the module elsewhere", tableMap{decode.KernelPath: listAt(booted, modules+0x10000), ko: module()}, text,
			[]string{"[kernel.kallsyms] do_work kernel", "ext4.ko.xz ext4_read kernel", "ext4.ko.xz <Unknown> unknown " + ReasonKernel}, "ext4.ko.xz info kernel-symbols"},
		{"list of another kernel", tableMap{decode.KernelPath: list, ko: module()}, decode.KernelSymbol{Name: "_text", Address: booted, End: booted + 0x3abc},
			[]string{"[kernel.kallsyms] <Unknown> unknown " + ReasonKernel, "ext4.ko.xz ext4_read kernel", "ext4.ko.xz <Unknown> unknown " + ReasonKernel},
			"[kernel.kallsyms] warning kernel-symbols; [kernel.kallsyms] warning kernel-symbols"},
		{"list without the recorded symbol", tableMap{decode.KernelPath: list, ko: module()}, decode.KernelSymbol{Name: "_stext", Address: booted},
			[]string{"[kernel.kallsyms] <Unknown> unknown " + ReasonKernel, "ext4.ko.xz ext4_read kernel", "ext4.ko.xz <Unknown> unknown " + ReasonKernel},
			"[kernel.kallsyms] warning kernel-symbols; [kernel.kallsyms] warning kernel-symbols"},
		{"another image", tableMap{decode.KernelPath: kernelImage("bb"), ko: module()}, decode.KernelSymbol{Name: "_text", Address: booted},
			[]string{"[kernel.kallsyms] <Unknown> unknown " + ReasonKernel, "ext4.ko.xz ext4_read kernel", "ext4.ko.xz <Unknown> unknown " + ReasonKernel},
			"[kernel.kallsyms] warning wrong-build-id; [kernel.kallsyms] warning kernel-symbols"},
		{"hidden list", tableMap{decode.KernelPath: symtab.ReadKernel([]byte("0000000000000000 T do_work\n")).Finish(), ko: module()}, decode.KernelSymbol{},
			[]string{"[kernel.kallsyms] <Unknown> unknown " + ReasonKernel, "ext4.ko.xz ext4_read kernel", "ext4.ko.xz <Unknown> unknown " + ReasonKernel},
			"[kernel.kallsyms] warning kernel-symbols; [kernel.kallsyms] warning kernel-symbols"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, rec := recording(c.files)
			rec.Arch, rec.WordBits, rec.OS, rec.Kernel = "x86_64", 64, "Linux 6.1", c.symbol
			pr := process(r, image("aa")...)
			var got []string
			for _, pc := range []uint64{booted + 0x1010, modules + 0x20, modules + 0x300} {
				l := *r.Program.Location(pr.Resolve(pc, 0).Location)
				f := r.Program.Functions[l.Function]
				s := fmt.Sprintf("%s %s %s %s", r.Program.Objects[l.Object].Name, f.Name, f.Kind, l.Reason)
				if l.File != "" {
					s = fmt.Sprintf("%s%s:%d", s, l.File, l.Line)
				}
				got = append(got, strings.TrimSpace(s))
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			r.Finish()
			var why []string
			for _, p := range rec.Problems.Problems {
				why = append(why, fmt.Sprintf("%s %s %s", p.File[strings.LastIndexByte(p.File, '/')+1:], p.Severity, p.Reason))
			}
			if d := cmp.Diff(c.why, strings.Join(why, "; ")); d != "" {
				t.Error(d)
			}
		})
	}
}

// buildIDLocator finds the same files for any build-id, and files by path as the recording does.
type buildIDLocator struct {
	*decode.Recording
	files []string
}

func (s buildIDLocator) ByBuildID(string, string) (list []decode.Candidate) {
	for _, file := range s.files {
		list = append(list, decode.Candidate{Path: file, Origin: "cache"})
	}
	return list
}

// A cached file with the recorded build-id is used if the file at the path is another or is gone. A
// file with another build-id is never used.
func TestStoredObjects(t *testing.T) {
	good, rebuilt, unmarked := tableOf("aa", symtab.Function{Name: "good"}), tableOf("bb", symtab.Function{Name: "rebuilt"}), tableOf("", symtab.Function{Name: "unmarked"})
	files := tableMap{"good": good, "rebuilt": rebuilt, "unmarked": unmarked, "/bin/rebuilt": rebuilt, "/bin/unmarked": unmarked}
	for _, c := range []struct {
		path   string
		stored []string
		want   string
		why    string
	}{
		{"/bin/rebuilt", []string{"good"}, "rebuilt good", "info wrong-build-id"},
		{"/bin/rebuilt", []string{"rebuilt", "good"}, "rebuilt good", "info wrong-build-id; info wrong-build-id"},
		{"/bin/rebuilt", nil, "rebuilt <static>@0x1000", "warning wrong-build-id"},
		{"/bin/gone", []string{"good"}, "gone good", ""},
		{"/bin/gone", []string{"unmarked"}, "gone <static>@0x1000", "warning wrong-build-id"},
		{"/bin/unmarked", []string{"good"}, "unmarked good", "info wrong-build-id"}, // the program that ran had a build-id
	} {
		r, rec := recording(files)
		r.locator = buildIDLocator{rec, c.stored}
		m := text(c.path, 0x400000)
		m.BuildID = "aa"
		got := at(process(r, m), 0x400000, 0)
		r.Finish()
		var why []string
		for _, p := range rec.Problems.Problems {
			why = append(why, fmt.Sprintf("%s %s", p.Severity, p.Reason))
		}
		if got != c.want || strings.Join(why, "; ") != c.why {
			t.Errorf("%s with %q: %s, %q; want %s, %q", c.path, c.stored, got, why, c.want, c.why)
		}
	}
}

// Code that was recorded with only a reason keeps this reason, in an object of its own, at its own
// address.
func TestForeignCode(t *testing.T) {
	r, _ := recording(nil)
	pr := process(r, decode.MapEvent{Path: "[guest]", Address: 1 << 62, Size: 1 << 56, Modes: 5, Code: &decode.Code{Reason: "elsewhere"}})
	l := *r.Program.Location(pr.Resolve(1<<62+0x4010, 0).Location)
	if o, f := r.Program.Objects[l.Object], r.Program.Functions[l.Function]; o.Name != "[guest]" || f.Name != UnknownName || f.Kind != program.Unknown || l.Offset != 0x4010 || l.Reason != "elsewhere" {
		t.Errorf("%s %s %s %+v", o.Name, f.Name, f.Kind, l)
	}
}

// For machines without a convention, the recording says where the kernel's part of memory begins.
func TestKernelFrom(t *testing.T) {
	var resolvers []*Resolver
	for _, from := range []uint64{0, 0xbf000000, 0xc000000000000000} {
		rec := &decode.Recording{OS: "Linux 6.1", Arch: "x86_64", WordBits: 64, Kernel: decode.KernelSymbol{From: from}}
		if from != 0 {
			rec.Arch, rec.OS = "", ""
		}
		resolvers = append(resolvers, &Resolver{rec: rec})
	}
	for pc, want := range map[uint64][]bool{
		0xbeffffff: {false, false, false}, 0xbf000000: {false, true, false}, 0xc0008010: {false, true, false}, 0xffff0fc0: {false, false, false},
		0xc000000000008010: {false, false, true}, linked: {true, false, true}, vsyscallPage: {false, false, false},
	} {
		var got []bool
		for _, r := range resolvers {
			got = append(got, r.IsKernel(pc))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%#x: %s", pc, d)
		}
	}
}
