package build_test

import (
	"bytes"
	debugelf "debug/elf"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/loadobject/types"
	"stackmill/stages/loadobject/types/build"
)

var update = flag.Bool("update", false, "rewrite the golden files")

var dataObjects = []string{"shapes_dw5.so", "shapes_dw4.so", "classes_dw5.so", "classes_dw4_types.so", "areas_dw5.so", "areas_dw3.so"}

func readData(t testing.TB, path string) *types.Table {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table, _ := build.Table(f, nil)
	return table
}

// describe prints a table for comparison.
func describe(w io.Writer, t *types.Table) {
	for i := range t.Types {
		x := &t.Types[i]
		if !x.Kind.Aggregate() {
			continue
		}
		fmt.Fprintf(w, "%s size %d", t.Spell(types.TypeNo(i), ""), x.Size)
		if x.Unit != 0 {
			fmt.Fprintf(w, " of %s", t.Units[x.Unit])
		}
		if x.Function != 0 {
			fmt.Fprintf(w, " in %s", t.FunctionName(x.Function))
		}
		fmt.Fprintln(w)
		for m := x.First; m < x.End(); m++ {
			fmt.Fprintf(w, "\t+%d", t.Members[m].Offset)
			if t.Members[m].Bits > 0 {
				fmt.Fprintf(w, " bit %d", t.Members[m].Bit)
			}
			fmt.Fprintf(w, " {%s}\n", t.SpellMember(m))
		}
	}
	variable := func(v types.VariableNo) {
		x := &t.Variables[v]
		fmt.Fprintf(w, "{%s}", t.Spell(x.Type, x.Name))
		if x.External {
			fmt.Fprint(w, " external")
		}
	}
	for i, list := range [][]types.VariableNo{t.Globals, t.Threads} {
		for _, v := range list {
			fmt.Fprintf(w, "%s %#x ", []string{"global", "thread"}[i], t.Variables[v].Address)
			variable(v)
			fmt.Fprintf(w, " of %s\n", filepath.Base(t.Units[t.Variables[v].Unit]))
		}
	}
	code := map[types.ScopeNo][]string{}
	for _, r := range t.Ranges {
		code[r.Scope] = append(code[r.Scope], fmt.Sprintf("%#x-%#x", r.Low, r.High))
	}
	for i := 1; i < len(t.Scopes); i++ {
		s := &t.Scopes[i]
		fmt.Fprintf(w, "scope %d in %d of %d %s", i, s.Parent, s.Function, t.FunctionName(types.ScopeNo(i)))
		if s.Type != 0 {
			fmt.Fprintf(w, " returns {%s}", t.Spell(s.Type, ""))
		}
		fmt.Fprintln(w, "", strings.Join(code[types.ScopeNo(i)], " "), places(s.FrameBase))
		for v := s.First; v < s.End(); v++ {
			fmt.Fprint(w, "\t")
			variable(v)
			x := &t.Variables[v]
			fmt.Fprintln(w, places(t.Places[x.First:x.First+x.Places]))
		}
	}
	for _, r := range t.Returns {
		fmt.Fprintf(w, "%s returns {%s}\n", r.Name, t.Spell(r.Type, ""))
	}
	for _, n := range t.Notes {
		fmt.Fprintln(w, "note", n.Text)
	}
}

func places(list []types.Place) string {
	var b strings.Builder
	for _, p := range list {
		b.WriteString(" [")
		if p.High != types.Always {
			fmt.Fprintf(&b, "%#x-%#x ", p.Low, p.High)
		}
		switch p.Kind {
		case types.InRegister:
			fmt.Fprintf(&b, "r%d", p.Register)
		case types.AtRegister:
			fmt.Fprintf(&b, "at r%d%+d", p.Register, p.Offset)
		case types.AtFrame:
			fmt.Fprintf(&b, "at frame%+d", p.Offset)
		case types.AtCFA:
			fmt.Fprintf(&b, "at CFA%+d", p.Offset)
		case types.IsRegister:
			fmt.Fprintf(&b, "r%d%+d", p.Register, p.Offset)
		case types.PointedRegister:
			fmt.Fprintf(&b, "at *(r%d%+d)", p.Register, p.Offset)
		case types.EntryRegister:
			fmt.Fprintf(&b, "called with r%d", p.Register)
		case types.PointedFrame:
			fmt.Fprintf(&b, "at *(frame%+d)", p.Offset)
		}
		if p.PieceSize > 0 {
			fmt.Fprintf(&b, " bytes %d to %d", p.Piece, p.Piece+p.PieceSize)
		}
		b.WriteString("]")
	}
	return b.String()
}

// The tables of compilers' debug information.
func TestData(t *testing.T) {
	for _, name := range dataObjects {
		t.Run(name, func(t *testing.T) {
			table := readData(t, filepath.Join("testdata", name))
			var b bytes.Buffer
			describe(&b, table)
			golden := filepath.Join("testdata", strings.TrimSuffix(name, ".so")+".golden")
			if *update {
				if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(b.String(), "\n")); d != "" {
				t.Error(d)
			}
			again, err := types.Decode(table.Append(nil))
			if err != nil {
				t.Fatal(err)
			}
			var c bytes.Buffer
			describe(&c, again)
			if c.String() != b.String() || !bytes.Equal(again.Append(nil), table.Append(nil)) {
				t.Error("the encoding does not tell the same")
			}
		})
	}
}

// Variables have the addresses and sizes of the linker's symbols.
func TestDataSymbols(t *testing.T) {
	for _, name := range dataObjects {
		table := readData(t, filepath.Join("testdata", name))
		f, err := debugelf.Open(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		symbols, err := f.Symbols()
		if err != nil {
			t.Fatal(err)
		}
		compared := 0
		for _, s := range symbols {
			lookup := table.Global
			switch debugelf.ST_TYPE(s.Info) {
			case debugelf.STT_OBJECT:
			case debugelf.STT_TLS:
				lookup = table.Thread
			default:
				continue
			}
			if s.Size == 0 || s.Name == "shared_" { // the linker's, or shared by several variables
				continue
			}
			known, _, _ := strings.Cut(symtab.NewNames().Readable(s.Name), ".") // functions' static variables have a numeric suffix
			if module, rest, ok := strings.Cut(known, "_MOD_"); ok {
				known = strings.TrimPrefix(module, "__") + "::" + rest
			}
			if strings.HasPrefix(s.Name, "_ZTV") || strings.HasPrefix(s.Name, "_ZTT") || strings.HasPrefix(s.Name, "_ZTI") || strings.HasPrefix(s.Name, "_ZTS") {
				continue // tables of classes
			}
			v, offset, ok := lookup(s.Value + s.Size - 1)
			if !ok {
				t.Errorf("%s: %s is not known", name, s.Name)
				continue
			}
			x := &table.Variables[v]
			if x.Name != known && !strings.HasSuffix(known, "::"+x.Name) || x.Address != s.Value || uint64(offset) != s.Size-1 {
				t.Errorf("%s: %s: got %+v with byte %d of %d", name, s.Name, x, offset, table.Types[x.Type].Size)
			}
			compared++
		}
		if compared < 5 {
			t.Errorf("%s: %d symbols compared", name, compared)
		}
	}
}

// gdbLayout makes gdb print the members of aggregates.
const gdbLayout = `
gdb.execute("set language LANGUAGE")

def find(name):
    try:
        return gdb.lookup_type(name).strip_typedefs()
    except gdb.error:
        return held.get(name)

def hold(t):
    t = t.strip_typedefs()
    if t.code == gdb.TYPE_CODE_STRUCT and t.name not in held:
        held[t.name] = t
        for f in t.fields():
            hold(f.type)

held = {} # types of Fortran modules are found only by what is of them
try:
    hold(gdb.parse_and_eval("areas::origin").type)
except gdb.error:
    pass
for name in open("NAMES").read().splitlines():
    t = find(name)
    if t is None:
        print("MISSING", name)
        continue
    for f in t.fields():
        if getattr(f, "bitpos", None) is not None:
            print("LAYOUT", name, f.bitpos, f.bitsize, "" if f.is_base_class else f.name or "")
`

// gdb finds the same members at the same offsets.
func TestDataLayouts(t *testing.T) {
	if _, err := exec.LookPath("gdb"); err != nil {
		t.Skip(err)
	}
	for _, name := range dataObjects {
		path := filepath.Join("testdata", name)
		table := readData(t, path)
		language := map[string]string{"shapes": "c", "classes": "c++", "areas": "fortran"}[name[:strings.Index(name, "_")]]
		var names, want []string
		for i := range table.Types {
			x := &table.Types[i]
			if !x.Kind.Aggregate() || x.Size < 0 || x.Name == "" || x.Unit != 0 || x.Function != 0 || strings.Contains(x.Name, "(") {
				continue
			}
			called := x.Name
			if language == "c" && x.Name != "point_t" {
				called = map[types.Kind]string{types.Structure: "struct ", types.Union: "union "}[x.Kind] + x.Name
			}
			names = append(names, called)
			for m := x.First; m < x.End(); m++ {
				f := &table.Members[m]
				want = append(want, fmt.Sprintf("LAYOUT %s %d %d %s", called, f.Offset*8+int64(f.Bit), f.Bits, f.Name))
			}
		}
		script := filepath.Join(t.TempDir(), "layout.py")
		list := filepath.Join(t.TempDir(), "names")
		if err := os.WriteFile(list, []byte(strings.Join(names, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(script, []byte(strings.NewReplacer("NAMES", list, "LANGUAGE", language).Replace(gdbLayout)), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("gdb", "-nx", "-batch", "-x", script, path).CombinedOutput()
		if err != nil {
			t.Fatalf("gdb: %v\n%s", err, out)
		}
		var got []string
		for line := range strings.Lines(string(out)) {
			line = strings.TrimSuffix(line, "\n")
			if missing, ok := strings.CutPrefix(line, "MISSING "); ok { // nested in type units
				want = slices.DeleteFunc(want, func(s string) bool { return strings.HasPrefix(s, "LAYOUT "+missing+" ") })
			} else if strings.HasPrefix(line, "LAYOUT ") {
				got = append(got, line)
			}
		}
		slices.Sort(want) // gdb lists base classes as declared
		slices.Sort(got)
		if d := cmp.Diff(want, got); d != "" || len(got) < 5 {
			t.Errorf("%s: %s", name, d)
		}
	}
}
