package functions_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/loadobject/dwarf/dwarftest"
	"stackmill/stages/loadobject/symtab"
)

const nestC = `extern volatile int sink;
static inline __attribute__((always_inline)) int inner(int x)
{
	sink += x;
	return x * 7 + sink;
}
static inline __attribute__((always_inline)) int outer(int x)
{
	for (int i = 0; i < x; i++)
		x += inner(i);
	if (__builtin_expect(x < 0, 0)) {
		sink = inner(x);
		__builtin_abort();
	}
	return x;
}
volatile int sink;
int first(int x) { return outer(x) + 1; }
int second(int x)
{
	x += 3;
	return outer(x)
		+ inner(x);
}
int main(int argc, char **argv) { return first(argc) + second(argc); }
`

const nestCxx = `#include <algorithm>
#include <map>
#include <string>
#include <vector>
template <class T> struct Box {
	std::vector<T> v;
	void add(T x) { v.push_back(x); }
	T sum() const { T s{}; for (auto &x : v) s += x; return s; }
};
int apply(int n)
{
	struct Local {
		int twice(int y) const { return y * 2 + n; }
		__attribute__((noinline)) int kept(int y) const { return twice(y) + twice(y + 1); }
		int n;
	} local{n};
	Box<int> b;
	for (int i = 0; i < n; i++)
		b.add(local.kept(i));
	std::sort(b.v.begin(), b.v.end(), [](int x, int y) { return x > y; });
	return b.sum() + local.twice(n);
}
int main(int argc, char **argv)
{
	std::map<std::string, int> m;
	for (int i = 0; i < argc; i++)
		m[argv[i]] += apply(i);
	return m.size();
}
`

// compile builds one optimized program from a source.
func compile(t testing.TB, compiler, name, text string, options ...string) (prog string) {
	t.Helper()
	dir := t.TempDir()
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	dwarftest.Run(t, dir, compiler, append([]string{"-O2", "-o", "prog", name}, options...)...)
	return filepath.Join(dir, "prog")
}

// chains compares the inline chain of every byte, and the line in the function that contains it, with
// the frames that addr2line prints (S10). addr2line of binutils 2.40 prints wrong files for some
// DWARF 5.
func chains(t *testing.T, prog string, table *symtab.Table) {
	t.Helper()
	tool, err := exec.LookPath("llvm-addr2line")
	if err != nil {
		t.Log(err)
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
	cmd := exec.Command(tool, "-a", "-i", "-f", "-e", prog)
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	answers := strings.Split("\n"+string(out), "\n0x")[1:]
	if len(answers) != len(offsets) {
		t.Fatalf("%d answers for %d instructions", len(answers), len(offsets))
	}
	deepest := 0
	for i, a := range answers {
		frames := strings.Split(strings.TrimSpace(a), "\n")[1:]
		want := told(frames)
		file, line, _ := table.Line(offsets[i])
		got := []string{place(file, line)}
		for k, f := range table.Inlined(offsets[i]) {
			name := f.Function.Name
			// For a function of one unit, addr2line prints only the unqualified name.
			if k+1 < len(want) {
				bare := want[k+1][:strings.LastIndexByte(want[k+1], ' ')]
				if strings.HasPrefix(name, bare+"(") || strings.Contains(name, "::"+bare+"(") {
					name = bare
				}
			}
			got = append(got, name+" "+place(f.File, f.Line))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%#x: addr2line has %q: (-want +got)\n%s", offsets[i], frames, d)
			return
		}
		deepest = max(deepest, len(want)-1)
	}
	if deepest < 2 {
		t.Errorf("the longest chain has %d levels", deepest)
	}
}

func place(file string, line int32) string {
	if line == 0 {
		return "?"
	}
	return fmt.Sprintf("%s:%d", file, line)
}

// told returns a chain from the pairs of lines that addr2line prints, innermost first.
func told(frames []string) []string {
	readable := symtab.NewNames().Readable
	var chain []string
	for i := len(frames) - 2; i >= 0; i -= 2 {
		at, _, _ := strings.Cut(frames[i+1], " (discriminator")
		if strings.HasSuffix(at, ":0") || strings.HasSuffix(at, ":?") {
			at = "?"
		}
		if i < len(frames)-2 {
			at = readable(frames[i]) + " " + at
		}
		chain = append(chain, at)
	}
	return chain
}

func TestInlined(t *testing.T) {
	for _, options := range []string{
		"-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5", "-gdwarf-4 -gdwarf64", "-gdwarf-5 -gdwarf64",
		"-gdwarf-5 -m32", "-gdwarf-5 -no-pie -ffunction-sections -Wl,--gc-sections", "-gdwarf-5 -gno-as-loc-support",
		"-gdwarf-5 -flto",
	} {
		t.Run(options, func(t *testing.T) {
			prog := compile(t, "gcc", "nest.c", nestC, strings.Fields(options)...)
			got, _ := table(t, dwarftest.Open(t, prog), nil)
			chains(t, prog, got)
			if !strings.Contains(options, "-flto") { // it inlines everything into main
				calls(t, got)
			}
		})
	}
	for _, options := range []string{"-gdwarf-4", "-gdwarf-5 -fdebug-types-section"} {
		t.Run("C++ "+options, func(t *testing.T) {
			prog := compile(t, "g++", "nest.cc", nestCxx, strings.Fields(options)...)
			got, _ := table(t, dwarftest.Open(t, prog), nil)
			chains(t, prog, got)
		})
	}
}

// calls checks that the functions of nest.c have only their own lines and those of the calls that
// were inlined into them.
func calls(t *testing.T, table *symtab.Table) {
	t.Helper()
	own := map[string][2]int32{"first": {18, 18}, "first.cold": {18, 18}, "second": {19, 24}, "second.cold": {19, 24}, "main": {25, 25}}
	want := map[string]int32{"first": 18, "second": 22}
	for f := range table.Functions.All() {
		lines, ok := own[f.Linkage]
		if !ok {
			continue
		}
		for off := f.Offset; off < f.Offset+f.Size; off++ {
			_, line, _ := table.Line(off)
			if line < lines[0] || line > lines[1] {
				t.Errorf("%s has line %d at %#x, want %d to %d", f.Linkage, line, off, lines[0], lines[1])
				break
			}
			if line == want[f.Linkage] {
				delete(want, f.Linkage)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("lines not found: %v", want)
	}
}

// Split debug information gives the same result as other debug information, also in packages.
func TestInlinedSplit(t *testing.T) {
	for _, c := range []struct{ compiler, name, text, version string }{
		{"gcc", "nest.c", nestC, "-gdwarf-4"}, {"gcc", "nest.c", nestC, "-gdwarf-5"}, {"g++", "nest.cc", nestCxx, "-gdwarf-5"},
	} {
		t.Run(c.name+c.version, func(t *testing.T) {
			whole := compile(t, c.compiler, c.name, c.text, c.version)
			prog := compile(t, c.compiler, c.name, c.text, c.version, "-gsplit-dwarf")
			t1, _ := table(t, dwarftest.Open(t, whole), nil)
			t2, _ := table(t, dwarftest.Open(t, prog), nil)
			if d := cmp.Diff(linesIn(t1, filepath.Dir(whole)), linesIn(t2, filepath.Dir(prog))); d != "" {
				t.Error(d)
			}
			for _, tool := range []string{"dwp", "llvm-dwp"} {
				moved := filepath.Join(t.TempDir(), "prog")
				cmd := exec.Command(tool, "-e", "prog", "-o", moved+".dwp")
				cmd.Dir = filepath.Dir(prog)
				if cmd.Run() != nil { // the tool may not know this version
					continue
				}
				dwarftest.Copy(t, prog, moved)
				away(t, filepath.Dir(prog), func() {
					packed, missing := table(t, dwarftest.Open(t, moved), nil)
					if d := cmp.Diff(t2, packed, listed); d != "" || missing != nil {
						t.Errorf("%s: %s, missing %v", tool, d, missing)
					}
				})
			}
		})
	}
}

// away calls f while the `.dwo` files of a folder are renamed.
func away(t *testing.T, dir string, f func()) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(dir, "*.dwo"))
	for _, name := range files {
		os.Rename(name, name+".away")
	}
	f()
	for _, name := range files {
		os.Rename(name+".away", name)
	}
}

// linesIn lists where lines and inline chains begin, with files relative to a folder.
func linesIn(table *symtab.Table, dir string) []string {
	var list []string
	for row := range table.Lines.From(0) {
		file := ""
		if row.File >= 0 {
			file = strings.TrimPrefix(table.Files[row.File], dir)
		}
		list = append(list, fmt.Sprintf("%x %s:%d", row.Offset, file, row.Line))
	}
	for row := range table.Inlines.Rows.From(0) {
		list = append(list, fmt.Sprintf("%x", row.Offset))
		for _, f := range table.Inlined(row.Offset) {
			list = append(list, strings.ReplaceAll(fmt.Sprint(f.Function.Name, f.Function.Linkage, f.Function.Own, f.Function.Start, f.Place), dir, ""))
		}
	}
	return list
}

const twiceCxx = `volatile long sink;
static inline long mix(long a, int b) { for (int i = 0; i < b; i++) sink += a; return sink; }
static inline long once(long a) { sink += a; return sink * a; }
long (*volatile pointer)(long, int) = mix;
int main(int argc, char **argv) { return mix(argc, argc) + pointer(argc, 3) + once(argc); }
`

// Functions of one unit have no linkage name in the debug information. Their inlined copies are named
// as symbols are, whether they have a symbol or not.
func TestInlinedTwice(t *testing.T) {
	for _, options := range []string{"-gdwarf-4", "-gdwarf-5", "-gdwarf-5 -gsplit-dwarf"} {
		prog := compile(t, "g++", "twice.cc", twiceCxx, strings.Fields(options)...)
		got, _ := table(t, dwarftest.Open(t, prog), nil)
		names := map[string]bool{}
		for row := range got.Inlines.Rows.From(0) {
			for _, f := range got.Inlined(row.Offset) {
				names[f.Function.Name] = true
			}
		}
		if d := cmp.Diff(map[string]bool{"mix(long, int)": true, "once(long)": true}, names); d != "" {
			t.Errorf("%s: (-want +got)\n%s", options, d)
		}
	}
}

// Inlined calls of a recorded program are where its sources say.
func TestInlinedRecorded(t *testing.T) {
	got, _ := table(t, dwarftest.Open(t, "../symtab/testdata/clones"), nil)
	chains(t, "../symtab/testdata/clones", got)
	want := map[string]int32{"host": 34, "host2": 38, "use_part1": 29}
	for f := range got.Functions.All() {
		w, ok := want[f.Name]
		for off := f.Offset; ok && off < f.Offset+f.Size; off++ {
			if _, line, _ := got.Line(off); line == w {
				delete(want, f.Name)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("lines not found: %v", want)
	}
}

// The Go compiler's ranges and file numbers are read correctly.
func TestInlinedGo(t *testing.T) {
	dir := t.TempDir()
	source := filepath.Join(dir, "nest.go")
	text := `package main

var sink int

func inner(x int) int { sink += x; return sink }

func outer(x int) int {
	return inner(x) + inner(x+1)
}

//go:noinline
func kept(x int) int {
	return outer(x) +
		inner(x)
}

func main() { kept(3) }
`
	if err := os.WriteFile(source, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	dwarftest.Run(t, dir, "go", "build", "-o", "nest", "nest.go")
	got, _ := table(t, dwarftest.Open(t, filepath.Join(dir, "nest")), nil)
	seen := map[string]bool{}
	for f := range got.Functions.All() {
		for off := f.Offset; f.Name == "main.kept" && off < f.Offset+f.Size; off++ {
			names := ""
			for _, level := range got.Inlined(off) {
				names += fmt.Sprintf(" %s:%d", level.Function.Name, level.Line)
			}
			seen[names] = true
			file, line, _ := got.Line(off)
			seen[fmt.Sprintf("%s:%d", filepath.Base(file), line)] = true
		}
	}
	if !seen["nest.go:13"] || !seen["nest.go:14"] || seen["nest.go:5"] || seen["nest.go:8"] ||
		!seen[" main.outer:8 main.inner:5"] || !seen[" main.inner:5"] {
		t.Errorf("lines and chains of main.kept: %v", seen)
	}
}

// Clang inlines the body of a parallel region, but the source has no call of it.
func TestInlinedBody(t *testing.T) {
	got, _ := table(t, dwarftest.Open(t, "../symtab/testdata/omp_clang"), nil)
	want := map[string]int32{".omp_outlined.": 8, ".omp_outlined..2": 13, ".omp_outlined..4": 21, ".omp_outlined..6": 32}
	for f := range got.Functions.All() {
		for off := f.Offset; off < f.Offset+f.Size; off++ {
			if _, line, _ := got.Line(off); line == want[f.Linkage] {
				delete(want, f.Linkage)
			}
		}
	}
	if len(want) > 0 {
		t.Errorf("lines not found: %v", want)
	}
}

// Strict DWARF 2 does not say where inlined calls are: then the enclosing function has no line there,
// instead of the inlined function's.
func TestUnknownCallLine(t *testing.T) {
	prog := compile(t, "gcc", "parts.c", partsC, "-O2", "-gdwarf-2", "-gstrict-dwarf")
	table, _ := table(t, dwarftest.Open(t, prog), nil)
	inlined := 0
	for f := range table.Functions.All() {
		for at := f.Offset; at < f.Offset+f.Size; at++ {
			if len(table.Inlined(at)) == 0 {
				continue
			}
			inlined++
			if place, _ := table.Place(at); place.Line != 0 {
				t.Fatalf("%s+%d has line %d around inlined code", f.Name, at-f.Offset, place.Line)
			}
		}
	}
	if inlined == 0 {
		t.Error("nothing is inlined")
	}
}

// Discriminators of lines, and the lines of functions' declarations, agree with LLVM's symbolizer.
func TestDiscriminators(t *testing.T) {
	symbolizer, err := exec.LookPath("llvm-symbolizer")
	if err != nil {
		t.Skip(err)
	}
	for compiler, option := range map[string]string{"gcc": "-O2", "clang": "-fdebug-info-for-profiling"} {
		prog := compile(t, compiler, "parts.c", partsC, "-gdwarf-5", option)
		table, _ := table(t, dwarftest.Open(t, prog), nil)
		var input []string
		var offsets []uint64
		for f := range table.Functions.All() {
			if f.Name != "both" && f.Name != "main" {
				continue
			}
			for at := range f.Size {
				input, offsets = append(input, fmt.Sprintf("%#x", f.Address+at)), append(offsets, f.Offset+at)
			}
		}
		out, err := exec.Command(symbolizer, append([]string{"--output-style=JSON", "-e", prog}, input...)...).Output()
		if err != nil {
			t.Fatal(err)
		}
		var answers []struct {
			Symbol []struct {
				FunctionName    string
				Line, StartLine int32
				Discriminator   int32
			}
		}
		if err := json.Unmarshal(out, &answers); err != nil || len(answers) != len(offsets) {
			t.Fatal(err, len(answers))
		}
		apart := map[int32]bool{}
		for i, a := range answers {
			f, _ := table.Function(offsets[i])
			outer, _ := table.Place(offsets[i])
			got := []string{fmt.Sprint(f.Name, f.Line, outer.Line, outer.Discriminator)}
			for _, l := range table.Inlined(offsets[i]) {
				got = append(got, fmt.Sprint(l.Function.Name, l.Function.Start, l.Line, l.Discriminator))
			}
			var want []string
			for _, s := range slices.Backward(a.Symbol) {
				if s.Line == 0 {
					s.Discriminator = 0
				}
				want = append(want, fmt.Sprint(s.FunctionName, s.StartLine, s.Line, s.Discriminator))
				apart[s.Discriminator] = true
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s: %#x: -want +got\n%s", compiler, offsets[i], d)
				break
			}
		}
		if len(apart) < 2 {
			t.Errorf("%s: no discriminators", compiler)
		}
	}
}

// partsC has lines with several parts, and braces on lines of their own.
const partsC = `extern volatile int v;
static inline
int twice(int n)
{
	return n > 3 ? v * 2 : v + n;
}

int both(int n)
{
	for (int i = 0; i < n; i++) v += i; for (int i = 0; i < n; i += 3) v -= i;
	return twice(n) + twice(v);
}

volatile int v;
int main(int argc, char **argv)
{
	return both(argc);
}
`
