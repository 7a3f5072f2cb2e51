package build_test

import (
	"debug/elf"
	"os"
	"path/filepath"
	"testing"

	"stackmill/stages/loadobject/dwarf/dwarftest"
)

// Symbols locate variables of a library that were copied into a program, and arrays that are longer
// than their type says.
func TestDataOfSymbols(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"lib.c": "struct stat { int hits, misses; } shared = { 1, 2 }; struct stat *unused = &shared;\n",
		"prog.c": `struct stat { int hits, misses; };
extern struct stat shared;
extern int nowhere;
struct tail { int n; char rest[]; } tail = { 1, "behind the structure" };
int *missing(void) { return &nowhere; }
int main(void) { return shared.misses++ + tail.rest[3]; }
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dwarftest.Run(t, dir, "gcc", "-g", "-shared", "-fPIC", "-o", "lib.so", "lib.c")
	dwarftest.Run(t, dir, "gcc", "-g", "-O1", "-fno-pie", "-no-pie", "-Wl,--unresolved-symbols=ignore-all", "-o", "prog", "prog.c", "./lib.so")
	table := readData(t, filepath.Join(dir, "prog"))
	f, err := elf.Open(filepath.Join(dir, "prog"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"shared": "structure:stat", "tail": "structure:tail"}
	for _, s := range symbols {
		if want[s.Name] == "" {
			continue
		}
		last := s.Value + s.Size - 1
		v, offset, ok := table.Global(last)
		if !ok || table.Spell(table.Variables[v].Type, table.Variables[v].Name) != want[s.Name] || offset != int64(s.Size)-1 {
			t.Errorf("%s: %v at %d of %+v", s.Name, ok, offset, table.Variables)
		}
		if _, _, ok := table.Global(last + 1); ok {
			t.Errorf("%s goes on", s.Name)
		}
		delete(want, s.Name)
	}
	if len(want) > 0 {
		t.Error("no symbols of", want)
	}
	for _, v := range table.Globals {
		if name := table.Variables[v].Name; name != "shared" && name != "tail" {
			t.Errorf("a variable %s", name)
		}
	}
}

// A declared variable does not get the address of another unit's variable of that name, which has
// no debug information.
func TestDataOfOtherUnit(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"told.c":   "extern int one, two, hidden; int use(void) { return one + two + hidden; }\n",
		"untold.c": "static int one[9], two[9]; int hidden; int other(int i) { return one[i]++ + two[i]++; }\n",
		"two.c":    "int two;\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dwarftest.Run(t, dir, "gcc", "-g", "-O1", "-fPIC", "-c", "told.c")
	dwarftest.Run(t, dir, "gcc", "-O1", "-fPIC", "-c", "untold.c", "two.c")
	if err := os.WriteFile(filepath.Join(dir, "map"), []byte("{ local: hidden; };"), 0o644); err != nil {
		t.Fatal(err)
	}
	dwarftest.Run(t, dir, "gcc", "-shared", "-nostdlib", "-Wl,--version-script=map", "-o", "lib.so", "told.o", "untold.o", "two.o")
	f, err := elf.Open(filepath.Join(dir, "lib.so"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	table := readData(t, filepath.Join(dir, "lib.so"))
	found := map[string]int{}
	for _, s := range symbols {
		if elf.ST_TYPE(s.Info) != elf.STT_OBJECT || s.Size == 0 {
			continue
		}
		if _, _, ok := table.Global(s.Value); ok != (s.Size == 4) {
			t.Errorf("%s of %d bytes: %v", s.Name, s.Size, ok)
		}
		found[s.Name]++
	}
	if found["one"] != 1 || found["two"] != 2 || found["hidden"] != 1 {
		t.Error("other symbols than expected:", found)
	}
}
