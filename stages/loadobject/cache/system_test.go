package cache

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
)

// systemObjects lists this machine's load objects, as far as they exist: stripped ones and others,
// of C, C++ and Go.
func systemObjects(t testing.TB) (paths []string) {
	t.Helper()
	patterns := []string{
		"/lib/*-linux-gnu/libc.so.6", "/lib64/libc.so.6", "/usr/lib/*-linux-gnu/libstdc++.so.6", "/usr/lib64/libstdc++.so.6",
		"/lib*/ld-linux-*.so.*", "/lib/*-linux-gnu/ld-linux-*.so.*", "/lib/*-linux-gnu/libm.so.6", "/usr/lib/gcc/*/*/cc1",
	}
	if root, err := exec.Command("go", "env", "GOROOT").Output(); err == nil {
		goroot := strings.TrimSpace(string(root))
		patterns = append(patterns, filepath.Join(goroot, "bin", "go"), filepath.Join(goroot, "pkg", "tool", "*", "*"))
	}
	for _, p := range patterns {
		found, err := filepath.Glob(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range found {
			if real, err := filepath.EvalSymlinks(path); err == nil && !slices.Contains(paths, real) {
				paths = append(paths, real)
			}
		}
	}
	if len(paths) == 0 {
		t.Skip("none of the load objects is here")
	}
	return paths
}

// Every byte of the system's load objects' code belongs to a function.
func TestSystemObjects(t *testing.T) {
	for _, path := range systemObjects(t) {
		t.Run(filepath.Base(path), func(t *testing.T) {
			dir := t.TempDir()
			table, err := New(Options{CacheDir: dir}).Local().Load(path)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range table.Notes {
				t.Errorf("note: %s", n.Text)
			}
			checkFunctions(t, table)
			checkText(t, table)
			checkLines(t, table)
			again, err := New(Options{CacheDir: dir}).Local().Load(path)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(slices.Collect(table.Functions.All()), slices.Collect(again.Functions.All())) || !slices.Equal(slices.Collect(table.Lines.From(0)), slices.Collect(again.Lines.From(0))) {
				t.Error("the table from the disk cache is another")
			}
		})
	}
}

// checkFunctions checks that functions do not overlap and have names, and that no alias is listed
// twice.
func checkFunctions(t *testing.T, table *symtab.Table) {
	var end uint64
	for f := range table.Functions.All() {
		if f.Offset < end || f.Size == 0 {
			t.Errorf("%s at %#x of %d bytes overlaps the one before", f.Name, f.Offset, f.Size)
		}
		end = f.Offset + f.Size
		if f.Name == "" || int(f.Module) >= len(table.Modules) {
			t.Errorf("the function at %#x is called %q, module %d", f.Offset, f.Name, f.Module)
		}
		if f.Kind == funcinfo.PLT {
			continue
		}
		aliases := symtab.Split(f.Aliases)
		distinct := slices.Compact(slices.Sorted(slices.Values(aliases)))
		if len(distinct) != len(aliases) || !slices.Contains(aliases, f.Linkage) {
			t.Errorf("%s at %#x: aliases %q", f.Name, f.Offset, f.Aliases)
		}
	}
}

// checkText looks up every function that covers a part of an executable section.
func checkText(t *testing.T, table *symtab.Table) {
	static := map[string]bool{}
	for _, r := range table.Regions {
		for off := r.Offset; off < r.Offset+r.Size; {
			f, ok := table.Function(off)
			if !ok || f.Offset != off || f.Size == 0 || f.Address != r.Address+(off-r.Offset) {
				t.Fatalf("%s: no function starts at %#x: %+v", r.Name, off, f)
			}
			for _, inside := range []uint64{off + f.Size/2, off + f.Size - 1} {
				if g, _ := table.Function(inside); g.Offset != off || g.Name != f.Name {
					t.Fatalf("%#x of %s belongs to %s", inside, f.Name, g.Name)
				}
			}
			if f.Kind == funcinfo.Static && (static[f.Name] || strings.Contains(r.Name, "plt")) {
				t.Errorf("%s lies in %s, or has the name of another region", f.Name, r.Name)
			}
			static[f.Name] = static[f.Name] || f.Kind == funcinfo.Static
			off += f.Size
		}
	}
	if len(table.Regions) == 0 {
		t.Error("no text")
	}
}

// checkLines checks that the rows of lines and of inlined code are in order.
func checkLines(t *testing.T, table *symtab.Table) {
	for what, rows := range map[string]*symtab.Rows{"lines": &table.Lines, "inlined code": &table.Inlines.Rows} {
		for i := range rows.Len() {
			row := rows.At(i)
			if i > 0 && row.Offset <= rows.At(i-1).Offset {
				t.Fatalf("%s: row %d at %#x is not behind %#x", what, i, row.Offset, rows.At(i-1).Offset)
			}
			if row.Line < 0 || int(row.File) >= len(table.Files) || row.File < 0 && row.Line > 0 || rows.Before(row.Offset) != i {
				t.Fatalf("%s: row %d: %+v", what, i, row)
			}
		}
	}
	if strings.HasPrefix(table.Modules[len(table.Modules)-1].Language, "Go") && table.Lines.Len() == 0 {
		t.Error("a Go program without lines")
	}
}
