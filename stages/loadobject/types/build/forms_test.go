package build_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/loadobject/dwarf/dwarftest"
	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/types"
	"stackmill/stages/loadobject/types/build"
)

// The table is the same for all layouts of debug information by compilers and tools.
func TestDataForms(t *testing.T) {
	sources := map[string][]string{"c": {"shapes.c", "shapes2.c"}, "c++": {"classes.cc", "classes2.cc"}}
	compilers := map[string]string{"c": "gcc", "c++": "g++"}
	for _, x := range []struct {
		language, options string
		then              [][]string // commands that change the object `lib.so`
		gone              []string   // files that are removed then
	}{
		{"c", "-gdwarf-2", nil, nil},
		{"c", "-gdwarf-3", nil, nil},
		{"c", "-gdwarf-4", nil, nil},
		{"c", "-gdwarf-4 -fdebug-types-section", nil, nil},
		{"c", "-gdwarf-5 -fdebug-types-section", nil, nil},
		{"c", "-gdwarf-4 -gsplit-dwarf", nil, nil},
		{"c", "-gdwarf-5 -gsplit-dwarf", nil, nil},
		{"c", "-gdwarf-4 -gsplit-dwarf -fdebug-types-section", nil, nil},
		{"c", "-gdwarf-5 -gsplit-dwarf -fdebug-types-section", nil, nil},
		{"c", "-gdwarf-4 -gsplit-dwarf -fdebug-types-section", [][]string{{"dwp", "-e", "lib.so", "-o", "lib.so.dwp"}}, []string{"*.dwo"}},
		{"c", "-gdwarf-5 -gsplit-dwarf", [][]string{{"llvm-dwp", "-o", "lib.so.dwp", "lib.so-shapes.dwo"}}, []string{"*.dwo"}},
		{"c", "-gdwarf-5 -gsplit-dwarf -fdebug-types-section", [][]string{{"llvm-dwp", "-o", "lib.so.dwp", "lib.so-shapes.dwo"}}, []string{"*.dwo"}},
		{"c", "-gdwarf-5", [][]string{{"dwz", "lib.so"}}, nil},
		{"c", "-gdwarf-5 -gdwarf64", nil, nil},
		{"c", "-gdwarf-5 -gz", nil, nil},
		{"c", "-gdwarf-5", [][]string{{"gcc", "-g", "-shared", "-fPIC", "-nostdlib", "-o", "other.so", "shapes2.c"}, {"dwz", "-m", "common.debug", "lib.so", "other.so"}}, nil},
		{"c++", "-gdwarf-3", nil, nil},
		{"c++", "-gdwarf-4", nil, nil},
		{"c++", "-gdwarf-5 -gsplit-dwarf", nil, nil},
		{"c++", "-gdwarf-5", [][]string{{"dwz", "lib.so"}}, nil},
	} {
		name := x.language + " " + x.options
		for _, command := range x.then {
			name += " " + command[0]
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compiled := sources[x.language]
			if strings.Contains(name, "llvm-dwp") {
				compiled = compiled[:1] // llvm-dwp fails on GCC's other units
			}
			make := func(options string) string {
				dir := t.TempDir()
				args := append(strings.Fields(options), "-O2", "-gno-variable-location-views", "-fPIC", "-shared", "-nostdlib", "-fno-exceptions", "-fdebug-prefix-map="+dir+"=/src", "-o", "lib.so")
				for _, s := range append(slices.Clone(sources[x.language]), "shapes.h") {
					dwarftest.Copy(t, filepath.Join("testdata", s), filepath.Join(dir, s))
				}
				cmd := exec.Command(compilers[x.language], append(args, compiled...)...)
				cmd.Dir = dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Skipf("%v\n%s", err, out)
				}
				return dir
			}
			tell := func(dir string) []string {
				table := readData(t, filepath.Join(dir, "lib.so"))
				var b bytes.Buffer
				describe(&b, table)
				lines := strings.Split(b.String(), "\n")
				for i, line := range lines {
					if strings.HasPrefix(line, "scope ") { // version 2's frame base is a register
						lines[i], _, _ = strings.Cut(line, " [")
					}
					if strings.Contains(x.options, "-gdwarf-4 -gsplit") { // GCC has other ranges here
						lines[i], _, _ = strings.Cut(line, " [0x")
					}
				}
				lines = slices.DeleteFunc(lines, func(s string) bool { // with type units, GCC makes it a definition
					return s == "structure:private size -1"
				})
				slices.Sort(lines) // the order of units differs
				return lines
			}
			dir := make(x.options)
			for _, command := range x.then {
				cmd := exec.CommandContext(t.Context(), command[0], command[1:]...)
				cmd.Dir = dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Skipf("%v: %v\n%s", command, err, out)
				}
			}
			for _, pattern := range x.gone {
				files, _ := filepath.Glob(filepath.Join(dir, pattern))
				for _, f := range files {
					os.Remove(f)
				}
			}
			if d := cmp.Diff(tell(make("-gdwarf-5")), tell(dir)); d != "" {
				t.Error(d)
			}
		})
	}
}

// Compilers agree on types and their names.
func TestDataCompilers(t *testing.T) {
	types := func(table *types.Table) []string {
		var b bytes.Buffer
		describe(&b, table)
		lines := strings.Split(b.String(), "\n")
		var out []string
		for i, line := range lines {
			aggregate, _, _ := strings.Cut(line, " of ")
			if strings.HasPrefix(line, "structure:") || strings.HasPrefix(line, "union:") {
				for _, member := range lines[i+1:] {
					if !strings.HasPrefix(member, "\t") {
						break
					}
					aggregate += member
				}
				out = append(out, aggregate)
			}
		}
		slices.Sort(out)
		return out
	}
	want := types(readData(t, "testdata/shapes_dw5.so"))
	found := false
	for _, clang := range []string{"clang", "clang-14", "clang-19"} {
		lib := filepath.Join(t.TempDir(), "lib.so")
		cmd := exec.Command(clang, "-w", "-g", "-fPIC", "-shared", "-nostdlib", "-o", lib, "testdata/shapes.c", "testdata/shapes2.c")
		if err := cmd.Run(); err != nil {
			continue
		}
		found = true
		if d := cmp.Diff(want, types(readData(t, lib))); d != "" {
			t.Errorf("%s: %s", clang, d)
		}
	}
	if !found {
		t.Skip("there is no clang")
	}
}

// Debug information in a debug file counts like that in the object.
func TestDataSeparate(t *testing.T) {
	dir := t.TempDir()
	dwarftest.Copy(t, "testdata/shapes_dw5.so", filepath.Join(dir, "lib.so"))
	dwarftest.Run(t, dir, "objcopy", "--only-keep-debug", "lib.so", "lib.debug")
	dwarftest.Run(t, dir, "objcopy", "--strip-all", "--add-gnu-debuglink=lib.debug", "lib.so", "stripped.so")
	stripped := dwarftest.Open(t, filepath.Join(dir, "stripped.so"))
	debug, _ := elf.FindDebug(stripped, nil)
	if debug == nil {
		t.Fatal("no debug file")
	}
	defer debug.Close()
	table, missing := build.Table(stripped, debug)
	if want := readData(t, "testdata/shapes_dw5.so"); !bytes.Equal(table.Append(nil), want.Append(nil)) || missing != nil {
		t.Error("it differs", missing)
	}
}
