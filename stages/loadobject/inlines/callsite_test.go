package inlines

import (
	debugdwarf "debug/dwarf"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/lines"
	"stackmill/stages/loadobject/symtab"
)

// lineAt returns the row that covers an offset.
func lineAt(rows []symtab.Row, off uint64) symtab.Row {
	found := symtab.Row{File: -1}
	for _, r := range rows {
		if r.Offset <= off {
			found.File, found.Line, found.Discriminator = r.File, r.Line, r.Discriminator
		}
	}
	return found
}

// Each byte has the line of the first call site that covers it, else its own line.
func TestOverlay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const end = 40
		var rows []symtab.Row
		for off := range uint64(end) {
			if line := rapid.Int32Range(-3, 3).Draw(t, "line"); line >= 0 {
				rows = lines.AppendRow(rows, symtab.Row{Offset: off, File: line - 1, Line: max(line-1, 0)})
			}
		}
		var sites []callSite
		for i := range rapid.Int32Range(0, 5).Draw(t, "sites") {
			low := rapid.Uint64Range(0, end).Draw(t, "low")
			sites = append(sites, callSite{low, rapid.Uint64Range(low, end).Draw(t, "high"), symtab.Row{File: 1, Line: 10 + i, Discriminator: i}})
		}
		got := overlay(slices.Clone(rows), slices.Clone(sites))
		slices.SortStableFunc(sites, func(a, b callSite) int { return int(a.low) - int(b.low) })
		for off := range uint64(end + 1) {
			want := lineAt(rows, off)
			for _, s := range slices.Backward(sites) {
				if s.low <= off && off < s.high {
					want = s.at
				}
			}
			if got := lineAt(got, off); got != want {
				t.Fatalf("%d: got %+v, want %+v", off, got, want)
			}
		}
		for i := 1; i < len(got); i++ {
			if got[i-1].Offset >= got[i].Offset || got[i-1].File == got[i].File && got[i-1].Line == got[i].Line && got[i-1].Discriminator == got[i].Discriminator {
				t.Fatalf("rows %+v", got)
			}
		}
	})
}

// The walk finds which function was inlined into which.
func TestInlines(t *testing.T) {
	dir := t.TempDir()
	text := `extern int v;
static inline __attribute__((always_inline)) int a(void) { return ++v; }
static inline __attribute__((always_inline)) int b(void)
{
	return a() * 3
		+ a();
}
int f(void)
{
	return b();
}
int g(void)
{
	return b()
		+ a();
}
`
	if err := os.WriteFile(filepath.Join(dir, "f.c"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("gcc", "-O1", "-g", "-shared", "-fPIC", "-o", "f.so", "f.c")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("gcc: %v\n%s", err, out)
	}
	f, err := elf.Open(filepath.Join(dir, "f.so"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d := dwarf.New(f, nil)
	d.Open()
	s := d.Sections
	// Lines of one function's calls: their order is up to the compiler.
	var got [][]uint64
	s.Units(func(u *dwarf.Unit) {
		var lines []uint64 // by number
		var parents []int
		err := walkInlined(s, u, func(in inlinedSubroutine) {
			lines, parents = append(lines, in.Get(debugdwarf.AttrCallLine).Uint), append(parents, in.parent)
			var chain []uint64
			for n := len(lines) - 1; n >= 0; n = parents[n] {
				chain = append(chain, lines[n])
			}
			if len(chain) != in.depth+1 || len(s.Ranges(nil, u, in.Attrs)) == 0 {
				t.Errorf("%+v: chain %v", in, chain)
			}
			got = append(got, chain)
		}, func(subprogram) bool { return false }, func(uint64) {})
		if err != nil {
			t.Error(err)
		}
	}, func(off uint64, err error) { t.Error(off, err) })
	slices.SortFunc(got, slices.Compare)
	want := [][]uint64{{5, 10}, {5, 14}, {6, 10}, {6, 14}, {10}, {14}, {15}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
