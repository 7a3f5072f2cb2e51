package functions_test

import (
	"bytes"
	debugdwarf "debug/dwarf"
	debugelf "debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/loadobject/dwarf/dwarftest"
	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/elf/elftest"
	"stackmill/stages/loadobject/functions"
	"stackmill/stages/loadobject/symtab"
)

const oneC = `int two(int);
static __attribute__((noinline)) int local(int x)
{
	return x * 3;
}
int one(int x)
{
	if (x > 3)
		x = local(x) + two(x);
	return x;
}
int main(int argc, char **argv) { return one(argc); }
`

const twoC = `int two(int x)
{
	int i;
	for (i = 0; i < x; i++)
		x += i * x;
	return x;
}
int unused(int x)
{
	return x * 7 + two(x);
}
`

// build compiles the two sources with the options and returns the folder.
func build(t testing.TB, options ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for name, text := range map[string]string{"one.c": oneC, "two.c": twoC} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dwarftest.Run(t, dir, "gcc", append([]string{"-O1", "-o", "prog", "one.c", "two.c"}, options...)...)
	return dir
}

// listed compares tables by their lists of functions.
var listed = cmp.Options{
	cmp.Transformer("All", func(f symtab.Functions) []symtab.Function { return slices.Collect(f.All()) }),
	cmp.Transformer("From", func(r symtab.Rows) []symtab.Row { return slices.Collect(r.From(0)) }),
}

func table(t testing.TB, f, debug *elf.File) (*symtab.Table, []string) {
	t.Helper()
	draft := symtab.Read(f, debug)
	missing := functions.Add(draft, f, debug)
	table := draft.Finish()
	return table, missing
}

// check compares each function's module and first line with the sources. The opening line of local
// has no instruction of its own: the row before it covers it.
func check(t *testing.T, table *symtab.Table, dir string, modules bool) {
	t.Helper()
	lines := map[string]string{"one": "one.c:7", "local": "one.c:4", "main": "one.c:12", "two": "two.c:2"}
	seen := 0
	for f := range table.Functions.All() {
		want, ok := lines[f.Name]
		if !ok {
			continue
		}
		seen++
		file, line, ok := table.Line(f.Offset)
		if got := fmt.Sprintf("%s:%d", file, line); !ok || got != filepath.Join(dir, want) {
			t.Errorf("%s starts at %s %v, want %s", f.Name, got, ok, want)
		}
		source, _, _ := strings.Cut(want, ":")
		if m := table.Modules[f.Module]; modules && m != (symtab.Module{Name: filepath.Join(dir, source), Language: "C", ShortPath: source}) {
			t.Errorf("%s is in module %+v, want %s", f.Name, m, source)
		}
	}
	if seen != len(lines) {
		t.Errorf("%d of %d functions found", seen, len(lines))
	}
	for f := range table.Functions.All() {
		if f.Name == "_start" && f.Module != 0 {
			t.Errorf("_start has module %+v", table.Modules[f.Module])
		}
	}
}

func TestVersions(t *testing.T) {
	for _, options := range []string{
		"-gdwarf-2 -gstrict-dwarf", "-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5", "-gdwarf-5 -gdwarf64", "-gdwarf-4 -gdwarf64",
		"-gdwarf-5 -gz=zlib", "-gdwarf-5 -gz=zstd", "-gdwarf-4 -gz=zlib-gnu",
		"-gdwarf-4 -ffunction-sections -Wl,--gc-sections", "-gdwarf-5 -no-pie", "-gdwarf-5 -m32",
		"-g1", "-gdwarf-5 -gno-as-loc-support", "-gdwarf-4 -gno-as-loc-support",
	} {
		t.Run(options, func(t *testing.T) {
			dir := build(t, strings.Fields(options)...)
			prog := filepath.Join(dir, "prog")
			table, missing := table(t, dwarftest.Open(t, prog), nil)
			check(t, table, dir, true)
			if table.Notes != nil || missing != nil {
				t.Error(table.Notes, missing)
			}
			against(t, prog, table)
		})
	}
}

// against compares every line with debug/dwarf's, and with addr2line's if that is installed.
func against(t *testing.T, prog string, table *symtab.Table) {
	t.Helper()
	f, err := debugelf.Open(prog)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if d, err := f.DWARF(); err == nil {
		againstStandard(t, d, table)
	} else {
		t.Logf("debug/dwarf cannot read it: %v", err)
	}
	tool, err := exec.LookPath("addr2line")
	if err != nil {
		return
	}
	var in bytes.Buffer
	var offsets []uint64
	for _, r := range table.Regions {
		for i := uint64(0); i < r.Size; i++ {
			fmt.Fprintf(&in, "%x\n", r.Address+i)
			offsets = append(offsets, r.Offset+i)
		}
	}
	cmd := exec.Command(tool, "-e", prog)
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range strings.Split(strings.TrimSpace(string(out)), "\n") {
		want, _, _ = strings.Cut(want, " (discriminator")
		file, line, ok := table.Line(offsets[i])
		if strings.HasSuffix(want, ":?") { // addr2line cannot read this form
			continue
		}
		if got := fmt.Sprintf("%s:%d", file, line); ok && got != want || !ok && want != "??:0" {
			t.Errorf("%#x: got %s, addr2line has %s", offsets[i], got, want)
			return
		}
	}
}

func againstStandard(t *testing.T, d *debugdwarf.Data, table *symtab.Table) {
	t.Helper()
	for r := d.Reader(); ; r.SkipChildren() {
		e, err := r.Next()
		if err != nil || e == nil {
			return
		}
		lr, err := d.LineReader(e)
		if err != nil || lr == nil {
			continue
		}
		var last debugdwarf.LineEntry
		for started := false; ; started = !last.EndSequence {
			var next debugdwarf.LineEntry
			if err := lr.Next(&next); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if off, ok := table.Addresses().Offset(last.Address); started && ok && next.Address > last.Address {
				file, line, _ := table.Line(off)
				if file != path.Clean(last.File.Name) || int(line) != last.Line {
					t.Errorf("%#x: got %s:%d, debug/dwarf has %s:%d", off, file, line, last.File.Name, last.Line)
				}
			}
			last = next
		}
	}
}

func TestSplit(t *testing.T) {
	for _, options := range []string{"-gdwarf-5 -gsplit-dwarf", "-gdwarf-4 -gsplit-dwarf"} {
		t.Run(options, func(t *testing.T) {
			dir := build(t, strings.Fields(options)...)
			prog := filepath.Join(dir, "prog")
			got, missing := table(t, dwarftest.Open(t, prog), nil)
			check(t, got, dir, true)
			if got.Notes != nil || missing != nil {
				t.Error(got.Notes, missing)
			}
			files, _ := filepath.Glob(filepath.Join(dir, "*.dwo"))
			if len(files) != 2 {
				t.Fatalf("files %v", files)
			}

			if packed(dir) {
				moved := filepath.Join(t.TempDir(), "prog")
				dwarftest.Copy(t, prog, moved)
				dwarftest.Copy(t, prog+".dwp", moved+".dwp")
				away(t, dir, func() { got, missing = table(t, dwarftest.Open(t, moved), nil) })
				check(t, got, dir, true)
				if got.Notes != nil || missing != nil {
					t.Error(got.Notes, missing)
				}
			}

			os.Remove(prog + ".dwp")
			for _, f := range files {
				os.Remove(f)
			}
			got, missing = table(t, dwarftest.Open(t, prog), nil)
			check(t, got, dir, false)
			if len(got.Notes) != 1 || got.Notes[0].Damage || len(missing) != 3 { // both `.dwo` files and the package
				t.Error(got.Notes, missing)
			}
		})
	}
}

// packed makes a package of the `.dwo` files; false if the tool is too old for DWARF 5.
func packed(dir string) bool {
	cmd := exec.Command("dwp", "-e", "prog", "-o", "prog.dwp")
	cmd.Dir = dir
	return cmd.Run() == nil
}

// Offsets are those in the stripped file; everything else comes from the debug file.
func TestSeparate(t *testing.T) {
	dir := build(t, "-gdwarf-5")
	dwarftest.Run(t, dir, "objcopy", "--only-keep-debug", "prog", "prog.debug")
	dwarftest.Run(t, dir, "objcopy", "--strip-all", "--add-gnu-debuglink=prog.debug", "prog", "stripped")
	stripped := dwarftest.Open(t, filepath.Join(dir, "stripped"))
	debug, notes := elf.FindDebug(stripped, nil)
	if debug == nil || notes != nil {
		t.Fatal(debug, notes)
	}
	defer debug.Close()
	got, _ := table(t, stripped, debug)
	check(t, got, dir, true)
	whole, _ := table(t, dwarftest.Open(t, filepath.Join(dir, "prog")), nil)
	if d := cmp.Diff(whole, got, listed); d != "" {
		t.Error(d)
	}
}

// The lines of a real recording's program agree with its source.
func TestRecorded(t *testing.T) {
	got, _ := table(t, dwarftest.Open(t, "../symtab/testdata/recur_dw5"), nil)
	want := map[string]int32{"fact": 4, "is_even": 6, "is_odd": 7, "flat": 8, "main": 9}
	for f := range got.Functions.All() {
		file, line, ok := got.Line(f.Offset + f.Size/2)
		if w, named := want[f.Name]; named && (!ok || line != w || path.Base(file) != "recur.c") || !named && ok {
			t.Errorf("%s: %s:%d %v", f.Name, file, line, ok)
		}
	}
}

// A damaged unit loses only the modules and lines of its own functions.
func TestBadUnit(t *testing.T) {
	for _, c := range []struct {
		name, section string
		offset        int // of the damaged byte
		value         byte
	}{
		{"version", ".debug_info", 4, 99},
		{"abbreviations", ".debug_info", 11, 0xff},
		{"line table", ".debug_line", 4, 99},
		{"line range", ".debug_line", 17, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := build(t, "-gdwarf-5")
			b, err := os.ReadFile(filepath.Join(dir, "prog"))
			if err != nil {
				t.Fatal(err)
			}
			whole, err := elf.New("prog", b)
			if err != nil {
				t.Fatal(err)
			}
			section := int64(whole.Section(c.section).Offset)
			b[int(section)+c.offset] = c.value
			f, err := elf.New("prog", b)
			if err != nil {
				t.Fatal(err)
			}
			got, _ := table(t, f, nil)
			if len(got.Notes) != 1 || !got.Notes[0].Damage || got.Notes[0].Offset != section {
				t.Errorf("notes %+v, want damage of the first unit at %d", got.Notes, section)
			}
			for fn := range got.Functions.All() {
				_, _, ok := got.Line(fn.Offset)
				if fn.Name == "two" && (!ok || fn.Module == 0) {
					t.Error("the second unit is lost")
				}
				if fn.Name == "one" && ok {
					t.Error("the first unit has lines")
				}
			}
		})
	}
}

func FuzzAdd(f *testing.F) {
	add := func(o *elf.File) {
		var b [9][]byte
		for i, name := range parts {
			b[i], _ = o.Debug(name)
		}
		f.Add(b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8])
	}
	add(dwarftest.Open(f, "../symtab/testdata/recur_dw5"))
	add(dwarftest.Open(f, "../symtab/testdata/clones"))
	add(dwarftest.Open(f, "../symtab/testdata/entry"))
	dir := build(f, "-gdwarf-5", "-gsplit-dwarf")
	add(dwarftest.Open(f, filepath.Join(dir, "prog")))
	f.Fuzz(func(t *testing.T, b0, b1, b2, b3, b4, b5, b6, b7, b8 []byte) {
		e := elftest.File{}
		e.Sections = append([]elftest.Section{elftest.Text(".text", 0x1000, 0x400, 0x400)},
			e.Symtab(".symtab", ".strtab", debugelf.SHT_SYMTAB, []elftest.Symbol{{Name: "f", Type: debugelf.STT_FUNC, Section: 1, Value: 0x1100, Size: 0x100}})...)
		for i, b := range [][]byte{b0, b1, b2, b3, b4, b5, b6, b7, b8} {
			e.Sections = append(e.Sections, elftest.Section{Name: ".debug_" + parts[i], Data: b})
		}
		o, err := elf.New("fuzz", e.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		got, _ := table(t, o, nil)
		for what, rows := range map[string]*symtab.Rows{"line": &got.Lines, "inlined": &got.Inlines.Rows} {
			for i := range rows.Len() {
				row := rows.At(i)
				if row.Offset < 0x400 || row.Offset > 0x800 || i > 0 && rows.At(i-1).Offset >= row.Offset || row.File >= int32(len(got.Files)) || len(got.Inlined(row.Offset)) > 256 {
					t.Fatalf("%s %d: %+v", what, i, row)
				}
			}
		}
	})
}

// parts are the debug information sections that are read.
var parts = []string{"info", "abbrev", "str", "line_str", "str_offsets", "addr", "line", "ranges", "rnglists"}
