package symbolize

import (
	"cmp"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
)

// tableMap maps the paths of files to symbol tables. Other files are unreadable.
type tableMap map[string]*symtab.Table

func (d tableMap) Load(path string) (*symtab.Table, error) {
	if t := d[path]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("%s: %w", path, fs.ErrInvalid)
}

const textSize = 0x1000

// tableOf is a file with text at offset 0x1000, followed by data.
func tableOf(buildID string, functions ...symtab.Function) *symtab.Table {
	for i := range functions {
		f := &functions[i]
		f.Offset, f.Size = 0x1000+0x100*uint64(i), cmp.Or(f.Size, 0x100)
		f.Address, f.Kind = f.Offset, cmp.Or(f.Kind, funcinfo.Normal)
		if f.Linkage == "" {
			f.Linkage = f.Name
		}
		f.Aliases = cmp.Or(f.Aliases, f.Linkage)
	}
	return finished(functions, symtab.Table{
		BuildID: buildID,
		Segments: []symtab.Segment{
			{Offset: 0x1000, Address: 0x1000, FileSize: textSize, MemSize: textSize, Flags: 5},
			{Offset: 0x2000, Address: 0x2000, FileSize: 0x800, MemSize: 0x800, Flags: 6},
		},
		Regions: []symtab.Region{{Name: ".text", Offset: 0x1000, Address: 0x1000, Size: textSize}},
		Modules: []symtab.Module{{Name: "(unknown)"}, {Name: "/src/a.c"}, {Name: "/src/b.c"}},
	})
}

// finished returns a table with functions.
func finished(functions []symtab.Function, t symtab.Table) *symtab.Table {
	return (&symtab.Draft{Table: t, Functions: functions}).Finish()
}

// text maps the program's text at an address.
func text(path string, address uint64) decode.MapEvent {
	return decode.MapEvent{Path: path, Address: address, Size: textSize, FileOffset: 0x1000, Modes: 5}
}

// recording returns a resolver that uses the files of d. It looks for each path in the archive,
// then under its own name.
func recording(d tableMap) (*Resolver, *decode.Recording) {
	rec := &decode.Recording{PageSize: 0x1000, Locate: func(path string) []decode.Candidate {
		var list []decode.Candidate
		if _, ok := d["archives"+path]; ok {
			list = append(list, decode.Candidate{Path: "archives" + path, Origin: "archive"})
		}
		if _, ok := d[path]; ok {
			list = append(list, decode.Candidate{Path: path, Origin: "path"})
		}
		return list
	}}
	return New(rec, rec, d), rec
}

func process(r *Resolver, events ...decode.MapEvent) *Process {
	return r.Process(&decode.Process{Mappings: events}, "map.xml")
}

// at returns the object, function and reason of a PC at a time.
func at(pr *Process, pc uint64, time int64) string {
	p := pr.r.Program
	l := *p.Location(pr.Resolve(pc, time).Location)
	f := p.Functions[l.Function]
	return strings.TrimSpace(fmt.Sprintf("%s %s %s", p.Objects[l.Object].Name, f.Name, l.Reason))
}

func TestObjectFiles(t *testing.T) {
	good := tableOf("aa", symtab.Function{Name: "main"})
	larger := tableOf("bb", symtab.Function{Name: "other"})
	larger.Segments[0].FileSize = 2 * textSize
	summed := tableOf("cc", symtab.Function{Name: "summed"})
	summed.Checksum = 0x1234
	noted := tableOf("dd", symtab.Function{Name: "noted"})
	noted.Notes = []symtab.Note{{Offset: 0x99, Damage: true, Text: "section headers lie beyond the end of the file"}, {Offset: -1, Text: "a debug file does not fit"}}
	none := []string(nil)
	for _, c := range []struct {
		name     string
		files    tableMap
		checksum uint32
		want     string // of the first instruction
		symbols  string
		problems []string
	}{
		{"archive", tableMap{"archives/bin/p": good, "/bin/p": larger}, 0, "p main", "archive", none},
		{"path", tableMap{"/bin/p": good}, 0, "p main", "path", none},
		{"checksum not computed", tableMap{"/bin/p": good}, 0xffffffff, "p main", "path", none},
		{"checksum not recorded", tableMap{"/bin/p": summed}, 0, "p summed", "path", none},
		{"same checksum", tableMap{"/bin/p": summed}, 0x1234, "p summed", "path", none},
		{"other checksum", tableMap{"/bin/p": summed}, 0x4321, "p <static>@0x1000", "none", []string{
			"warning -1 wrong-load-object the file from the path is another program: its checksum is 0x1234, the recorded one 0x4321: it may have been rebuilt"}},
		{"no checksum", tableMap{"/bin/p": good}, 0x4321, "p <static>@0x1000", "none", []string{
			"warning -1 wrong-load-object the file from the path is another program: its checksum is 0x0, the recorded one 0x4321: it may have been rebuilt"}},
		{"other mapping", tableMap{"/bin/p": larger}, 0, "p <static>@0x1000", "none", []string{
			"warning -1 wrong-load-object the file from the path is another program: no executable segment of it fits the mapping of 0x1000 bytes at file offset 0x1000"}},
		{"second copy", tableMap{"archives/bin/p": nil, "/bin/p": good}, 0, "p main", "path", []string{
			"info -1 unreadable-load-object the file from the archive cannot be used: archives/bin/p: invalid argument"}},
		{"missing", tableMap{}, 0, "p <static>@0x1000", "none", []string{
			"warning -1 missing-load-object no copy of the load object was found: its functions have no names"}},
		{"damaged", tableMap{"/bin/p": noted}, 0, "p noted", "path", []string{
			"warning 153 damaged-load-object section headers lie beyond the end of the file",
			"warning -1 bad-debug-information a debug file does not fit"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, rec := recording(c.files)
			event := text("/bin/p", 0x401000)
			event.Checksum = c.checksum
			pr := process(r, event)
			if got := at(pr, 0x401010, 0); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if o := r.Program.Objects[r.fileObject(pr.Image, pr.Image.Mappings[0])]; o.Symbols != c.symbols {
				t.Errorf("symbols from %s, want %s", o.Symbols, c.symbols)
			}
			r.Finish()
			var got []string
			for _, p := range rec.Problems.Problems {
				if p.File != "/bin/p" {
					t.Errorf("problem of file %s", p.File)
				}
				got = append(got, fmt.Sprintf("%v %d %s %s", p.Severity, p.Offset, p.Reason, p.Message))
			}
			if d := gocmp.Diff(c.problems, got); d != "" {
				t.Error(d)
			}
		})
	}
}

// Problems of a file that no stack touches are only Info. A missing file of debug information is
// still reported.
func TestUntouchedObject(t *testing.T) {
	noted := tableOf("dd")
	noted.Notes = []symtab.Note{{Damage: true, Text: "cut"}, {Reason: elf.MissingDebug, Text: "no a.dwo"}}
	for _, touched := range []bool{false, true} {
		r, rec := recording(tableMap{"/lib/noted": noted})
		pr := process(r, text("/lib/noted", 0x401000), text("/lib/missing", 0x501000))
		severity := diagnostic.Info
		if touched {
			severity = diagnostic.Warning
			pr.Resolve(0x401010, 0)
		}
		r.Finish()
		missing := 0
		for _, p := range rec.Problems.Problems {
			switch {
			case p.Reason == elf.MissingDebug && p.File == "/lib/noted" && p.Severity == severity:
				missing++
			case !touched && (p.Severity != diagnostic.Info || p.File != "/lib/missing"):
				t.Errorf("problem %v", p)
			}
		}
		if missing != 1 {
			t.Errorf("touched %v: %d problems of the missing file in %v", touched, missing, rec.Problems.Problems)
		}
	}
}

// S1, S2: an address belongs to the mapping at its time, and a function is the same at all addresses
// where it is mapped.
func TestReload(t *testing.T) {
	r, _ := recording(tableMap{
		"/lib/a": tableOf("aa", symtab.Function{Name: "a1"}, symtab.Function{Name: "a2"}),
		"/lib/b": tableOf("bb", symtab.Function{Name: "b1"}, symtab.Function{Name: "b2"}),
	})
	load := func(path string, address uint64, time int64) decode.MapEvent {
		e := text(path, address)
		e.Time = time
		return e
	}
	pr := process(r, load("/lib/a", 0x1000000, 10), decode.MapEvent{Unmap: true, Address: 0x1000000, Time: 20},
		load("/lib/b", 0x1000000, 30), load("/lib/a", 0x2000000, 40))
	for _, c := range []struct {
		pc   uint64
		time int64
		want string
	}{
		{0x1000110, 15, "a a2"},
		{0x1000110, 35, "b b2"},
		{0x2000110, 45, "a a2"},
	} {
		if got := at(pr, c.pc, c.time); got != c.want {
			t.Errorf("%#x at %d: got %s, want %s", c.pc, c.time, got, c.want)
		}
	}
	if x, y := pr.Resolve(0x1000110, 15), pr.Resolve(0x2000110, 45); x.Location != y.Location {
		t.Error("one instruction at two addresses has two locations")
	}
}

func TestSharedObject(t *testing.T) {
	d := tableMap{"/lib/a": tableOf("aa", symtab.Function{Name: "f"})}
	r, _ := recording(d)
	one, two := process(r, text("/lib/a", 0x1000000)), process(r, text("/lib/a", 0x2000000))
	if x, y := one.Resolve(0x1000010, 0), two.Resolve(0x2000010, 0); x.Location != y.Location {
		t.Error("two processes have the file twice")
	}
	if n := len(r.Program.Objects); n != 3 { // with <Total> and <Unknown>
		t.Errorf("%d load objects", n)
	}
}

// The build-id identifies an object, not its path.
func TestIdentity(t *testing.T) {
	ids := func(path, buildID string) (object, function, location int64) {
		r, _ := recording(tableMap{path: tableOf(buildID, symtab.Function{Name: "f"})})
		n := process(r, text(path, 0x1000000)).Resolve(0x1000010, 0).Location
		l := r.Program.Location(n)
		return r.Program.Objects[l.Object].ID, r.Program.Functions[l.Function].ID, r.Program.LocationID(n)
	}
	o, f, l := ids("/lib/a", "aa")
	if o2, f2, l2 := ids("/opt/lib/a", "aa"); o != o2 || f != f2 || l != l2 {
		t.Error("the path is part of the identity")
	}
	if o2, f2, l2 := ids("/lib/a", "bb"); o == o2 || f == f2 || l == l2 {
		t.Error("another build is the same")
	}
	o, _, _ = ids("/lib/a", "")
	if o2, _, _ := ids("/lib/b", ""); o == o2 {
		t.Error("files without build-id are the same")
	}
}

// Without a build-id, the content identifies an object; without a file, its mappings.
func TestIdentityWithoutBuildID(t *testing.T) {
	id := func(path string, content uint64, more uint64) int64 {
		files := tableMap{}
		if content != 0 {
			build := tableOf("", symtab.Function{Name: "f"})
			build.Content = content
			files[path] = build
		}
		r, _ := recording(files)
		m := text(path, 0x1000000)
		m.Size += more
		return r.Program.Objects[r.Program.Location(process(r, m).Resolve(0x1000010, 0).Location).Object].ID
	}
	ids := []int64{id("/lib/a", 7, 0), id("/lib/a", 8, 0), id("/lib/b", 7, 0), id("/lib/a", 0, 0), id("/lib/a", 0, 0x1000), id("/lib/b", 0, 0)}
	for i, x := range ids {
		if n := slices.Index(ids, x); n != i {
			t.Errorf("%d and %d have one id", n, i)
		}
	}
	if id("/lib/a", 7, 0) != id("/opt/lib/a", 7, 0) || id("/lib/a", 0, 0) != ids[3] {
		t.Error("the same has two ids")
	}
}

// Programs of one build with different names are different objects of a recording.
func TestCopies(t *testing.T) {
	build := tableOf("aa", symtab.Function{Name: "f"})
	r, _ := recording(tableMap{"/lib/a": build, "/lib/b": build})
	pr := process(r, text("/lib/a", 0x1000000), text("/lib/b", 0x2000000))
	one, two := pr.Resolve(0x1000010, 0).Location, pr.Resolve(0x2000010, 0).Location
	a, b := r.Program.Location(one), r.Program.Location(two)
	if r.Program.LocationID(one) == r.Program.LocationID(two) || r.Program.Functions[a.Function].ID == r.Program.Functions[b.Function].ID || r.Program.Objects[a.Object].ID == r.Program.Objects[b.Object].ID {
		t.Error("two files have the same ids")
	}
}

func TestNoFunction(t *testing.T) {
	r, _ := recording(tableMap{"/bin/p": tableOf("aa", symtab.Function{Name: "main"})})
	data := decode.MapEvent{Path: "/bin/p", Address: 0x402000, Size: 0x1000, FileOffset: 0x2000, Modes: 3}
	pr := process(r, text("/bin/p", 0x401000), data, text("/bin/gone", 0x501000))
	for _, c := range []struct {
		pc   uint64
		want string
	}{
		{0x402010, "<Unknown> <Unknown> " + ReasonData},
		{0x601010, "<Unknown> <Unknown> " + ReasonNoObject},
		{0x401110, "p <static>@0x1100"},
		{0x501010, "gone <static>@0x1000"},
		{0x501ff0, "gone <static>@0x1000"},
	} {
		if got := at(pr, c.pc, 0); got != c.want {
			t.Errorf("%#x: got %s, want %s", c.pc, got, c.want)
		}
	}
	if got := at(process(r), 0x401010, 0); got != "<Unknown> <Unknown> "+ReasonNoImage {
		t.Errorf("without mappings: %s", got)
	}
}

func TestMainOf(t *testing.T) {
	const a, b = 1, 2 // modules
	outline := func(linkage string, module int32) symtab.Function {
		return symtab.Function{Name: linkage, Linkage: linkage, Kind: funcinfo.Outline, Module: module}
	}
	normal := func(linkage string, module int32) symtab.Function {
		return symtab.Function{Name: linkage, Linkage: linkage, Kind: funcinfo.Normal, Module: module}
	}
	for _, c := range []struct {
		name      string
		functions []symtab.Function // the outline function first
		want      string
	}{
		{"gcc", []symtab.Function{outline("f.cold", a), normal("f", a)}, "f in /src/a.c"},
		{"clang", []symtab.Function{outline("f.cold.1", a), normal("f", a)}, "f in /src/a.c"},
		{"older gcc", []symtab.Function{outline("f.unlikely", a), normal("f", a)}, "f in /src/a.c"},
		{"Studio", []symtab.Function{outline("_$o1A12.f", a), normal("f", a)}, "f in /src/a.c"},
		{"cold part of a clone", []symtab.Function{outline("f.constprop.0.cold", a), normal("f", a), normal("f.constprop.0", a)}, "f.constprop.0 in /src/a.c"},
		{"cold part of a part", []symtab.Function{outline("f.part.0.cold", a), normal("f.part.0", a), normal("f", a)}, "f.part.0 in /src/a.c"},
		{"static function of the module", []symtab.Function{outline("f.cold", b), normal("f", a), normal("f", b)}, "f in /src/b.c"},
		{"only one is there", []symtab.Function{outline("f.cold", b), normal("f", 0)}, "f in (unknown)"},
		{"no telling which", []symtab.Function{outline("f.cold", 0), normal("f", a), normal("f", b)}, ""},
		{"main function is gone", []symtab.Function{outline("f.cold", a), normal("g", a)}, ""},
		{"not an outline function", []symtab.Function{normal("f.constprop.0", a), normal("f", a)}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, _ := recording(tableMap{"/bin/p": tableOf("aa", c.functions...)})
			pr := process(r, text("/bin/p", 0x401000))
			p := r.Program
			got := ""
			if l, ok := r.MainOf(p.Location(pr.Resolve(0x401000, 0).Location).Function); ok {
				f := p.Functions[p.Location(l).Function]
				got = fmt.Sprintf("%s in %s", f.Name, p.Modules[f.Module].Name)
				if p.Location(l).Offset != f.Offset {
					t.Errorf("location at %#x, not the entry", p.Location(l).Offset)
				}
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// The code to which signal handlers return is also found in the vdso, by its instructions, since no
// symbol covers it (S24). Code at the kernel's addresses is the kernel's (S25).
func TestVDSO(t *testing.T) {
	const vdso, kernel = 0x7fff0000, 0xffffffff81000000
	r, rec := recording(nil)
	rec.Arch, rec.WordBits, rec.OS = "aarch64", 64, "Linux 6.1"
	bytes := make([]byte, 0x80)
	copy(bytes[0x40:], "\x68\x11\x80\xd2\x01\x00\x00\xd4")
	region := func(name string, address uint64) decode.MapEvent {
		return decode.MapEvent{Path: name, Address: address, Size: 0x80, Modes: 5, Code: &decode.Code{Bytes: bytes,
			Functions: []decode.CodeFunction{{Name: "known", Address: address + 0x10, Size: 0x10}}}}
	}
	pr := process(r, region("[vdso]", vdso), region("[kernel.kallsyms]", kernel))
	for pc, want := range map[uint64]string{
		vdso + 0x14: "[vdso] known", vdso + 0x44: "[vdso] __restore_rt", vdso + 0x24: "[vdso] <static>@0x20", vdso + 0x4c: "[vdso] <static>@0x48",
		kernel + 0x14: "[kernel.kallsyms] known", kernel + 0x90: "<Unknown> <Unknown> " + ReasonKernel,
	} {
		if got := at(pr, pc, 0); got != want {
			t.Errorf("%#x is %q, want %q", pc, got, want)
		}
	}
	kinds := map[funcinfo.Kind]int{}
	for _, f := range r.Program.Functions {
		kinds[f.Kind]++
	}
	if kinds[program.Kernel] != 1 || kinds[funcinfo.Normal] != 2 {
		t.Errorf("functions by kind: %v", kinds)
	}
}
