package symtab

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/funcinfo"
)

// A Go program linked without symbols has the same functions, from the runtime's own table, as one
// with symbols; damage is reported.
func TestGoFunctions(t *testing.T) {
	folder := t.TempDir()
	source := filepath.Join(folder, "main.go")
	if err := os.WriteFile(source, []byte("package main\n\nfunc main() { println(1) }\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	read := func(flags string) *elf.File {
		path := filepath.Join(folder, "prog")
		c := exec.Command("go", "build", "-ldflags="+flags, "-o", path, source)
		c.Env = append(os.Environ(), "GOFLAGS=", "GO111MODULE=off", "CGO_ENABLED=0")
		if text, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := elf.New("prog", data)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	stripped := read("-s")
	with, without := Read(read("-w"), nil), Read(stripped, nil)
	names := map[uint64]Function{}
	for _, f := range without.Functions {
		names[f.Offset] = f
	}
	compared := 0
	for _, f := range with.Functions {
		if f.Kind == funcinfo.Static {
			continue
		}
		compared++
		if g := names[f.Offset]; strings.ReplaceAll(g.Name, "·", ".") != trimABI(f.Name) || g.Kind != f.Kind {
			t.Errorf("%#x: %s %s, want %s %s", f.Offset, g.Name, g.Kind, f.Name, f.Kind)
		}
	}
	if compared < 1000 {
		t.Errorf("%d functions compared", compared)
	}
	table := stripped.Section(".gopclntab")
	for at := table.Offset; at < table.Offset+72; at++ {
		for _, value := range []byte{0, 1, 0x7f, 0xff} {
			data := bytes.Clone(stripped.Bytes())
			data[at] = value
			if f, err := elf.New("prog", data); err == nil {
				Read(f, nil)
			}
		}
	}
	data := bytes.Clone(stripped.Bytes())
	data[table.Offset+14] = 1 // the number of functions
	f, err := elf.New("prog", data)
	if err != nil {
		t.Fatal(err)
	}
	if notes := Read(f, nil).Notes; len(notes) != 1 || notes[0].Text != errGoTable.Err.Error() {
		t.Errorf("damaged: %v", notes)
	}
}
