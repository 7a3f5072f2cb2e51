package golden

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"stackmill/internal/corpus"
	"stackmill/internal/testfiles"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if err := corpus.Remove(); err != nil && code == 0 {
		code = 1
	}
	os.Exit(code)
}

func write(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "golden.txt")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadTables(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       []Table
	}{
		{"one metric", `Functions sorted by metric: Exclusive Total CPU Time

Excl. Total   Incl. Total    Name
CPU           CPU
 sec.      %   sec.      %
1.605 100.00  1.605 100.00   <Total>
0.      0.    0.002   0.10   <static>@0x271c1 (<libc.so.6>)
0.      0.    0.001   0.05   PyImport_AddName

`, []Table{{
			[]Column{{"Excl.", "totalcpu", true}, {"Incl.", "totalcpu", true}},
			[]Row{
				{Values: []string{"1.605", "1.605"}, Name: "<Total>"},
				{Values: []string{"0.", "0.002"}, Name: "<static>@0x271c1 (<libc.so.6>)"},
				{Values: []string{"0.", "0.001"}, Name: "PyImport_AddName"},
			},
		}}},
		{"right-aligned counts, names with blanks and stars", `
Attr. Bytes    Attr.        Attr. Sync    Name
Allocated      Allocations  Wait
            %            %   sec.      %
613600 100.00  1690 100.00  0.      0.     main
 81600  13.30    50   2.96  0.      0.    *operator*(int, long)

Attr. Bytes    Attr.        Attr. Sync    Name
Allocated      Allocations  Wait
            %            %   sec.      %
     0   0.       0   0.    0.001 100.00  *main
`, []Table{{
			[]Column{{"Attr.", "heapallocbytes", true}, {"Attr.", "heapalloccnt", true}, {"Attr.", "sync", true}},
			[]Row{
				{Values: []string{"613600", "1690", "0."}, Name: "main"},
				{Values: []string{"81600", "50", "0."}, Name: "operator*(int, long)", Star: true},
			},
		}, {
			[]Column{{"Attr.", "heapallocbytes", true}, {"Attr.", "heapalloccnt", true}, {"Attr.", "sync", true}},
			[]Row{{Values: []string{"0", "0", "0.001"}, Name: "main", Star: true}},
		}}},
		{"columns without percentages, title over three lines", `
Excl.   Excl.  Excl. Total   Excl.      Excl. I/O   Name
Bytes   Leaks  CPU           Other I/O  Error
Leaked          sec.      %  Time sec.  Time sec.
4096    1      2.872 100.00  0.         0.          Process 1, Thread 1
`, []Table{{
			[]Column{{"Excl.", "heapleakbytes", false}, {"Excl.", "heapleakcnt", false}, {"Excl.", "totalcpu", true}, {"Excl.", "ioothertime", false}, {"Excl.", "ioerrortime", false}},
			[]Row{{Values: []string{"4096", "1", "2.872", "0.", "0."}, Name: "Process 1, Thread 1"}},
		}}},
		{"call tree", `
Attr. Total    Name
CPU
 sec.      %
1.605 100.00   +-<Total>
1.600 100.00     +-main
0.643  40.06     |  +-operator+-=(int)
0.      0.       +-end
`, []Table{{
			[]Column{{"Attr.", "totalcpu", true}},
			[]Row{
				{Values: []string{"1.605"}, Name: "<Total>"},
				{Values: []string{"1.600"}, Name: "main", Depth: 1},
				{Values: []string{"0.643"}, Name: "operator+-=(int)", Depth: 2},
				{Values: []string{"0."}, Name: "end", Depth: 1},
			},
		}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := ReadTables(write(t, test.text))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(test.want, got, cmp.AllowUnexported(Column{}), cmpopts.EquateEmpty()); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestReadTablesUnknownColumn(t *testing.T) {
	if ts, err := ReadTables(write(t, "Excl. Parsecs   Name\n1   f\n")); err == nil {
		t.Errorf("no error, got %v", ts)
	}
}

func TestNames(t *testing.T) {
	for _, test := range []struct {
		name, function string
		offset         int64
		line           int
		file           string
		ok             bool
	}{
		{`fact + 0x00000037, line 4 in "recur.c"`, "fact", 0x37, 4, "recur.c", true},
		{`<static>@0x271c1 (<libc.so.6>) + 0x00000087`, "<static>@0x271c1 (<libc.so.6>)", 0x87, 0, "", true},
		{`f(int) + 0x0000000A, line 12 in alternate source context "f.h"`, "f(int)", 10, 12, "f.h", true},
		{`use + 0x00000009, line 29 in "clones.c" <-- partial clones.c:29`, "use", 9, 29, "clones.c", true},
		{"<Total>", "<Total>", 0, 0, "", false},
	} {
		if f, o, l, file, ok := PC(test.name); f != test.function || o != test.offset || l != test.line || file != test.file || ok != test.ok {
			t.Errorf("PC(%q) = %q, %d, %d, %q, %v", test.name, f, o, l, file, ok)
		}
	}
	for _, test := range []struct {
		name, function string
		line           int
		file           string
	}{
		{`g(int, char*), line 30 in "a b.c"`, "g(int, char*)", 30, "a b.c"},
		{`<Function: <static>@0x271c1 (<libc.so.6>), instructions without line numbers>`, "<static>@0x271c1 (<libc.so.6>)", 0, ""},
		{"<Total>", "<Total>", 0, ""},
	} {
		if f, l, file := Line(test.name); f != test.function || l != test.line || file != test.file {
			t.Errorf("Line(%q) = %q, %d, %q", test.name, f, l, file)
		}
	}
}

func TestPrint(t *testing.T) {
	for _, test := range []struct {
		unit  string
		value int64
		want  string
	}{
		{"ns", 0, "0."}, {"ns", 400_000, "0.000"}, {"ns", 1_605_170_000, "1.605"}, {"bytes", 0, "0"}, {"count", 1690, "1690"},
	} {
		if got := Print(test.unit, test.value); got != test.want {
			t.Errorf("Print(%s, %d) = %q, want %q", test.unit, test.value, got, test.want)
		}
	}
}

// Every golden must be readable, and its lists must agree.
func TestRead(t *testing.T) {
	dir, err := corpus.Dir()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range testfiles.Glob(t, filepath.Join(dir, "golden", "*", "functions.user.txt")) {
		d := filepath.Dir(name)
		t.Run(filepath.Base(d), func(t *testing.T) {
			x, err := Read(d)
			if err != nil {
				t.Fatal(err)
			}
			total := x.List.Rows[0].Values
			for what, table := range map[string]Table{"lines": x.Lines, "PCs": x.PCs} {
				if d := cmp.Diff(total, table.Rows[0].Values); d != "" {
					t.Errorf("<Total> of functions and %s: %s", what, d)
				}
			}
			if x.Functions[0].LoadObject != "<Total>" || len(x.Tree.Rows) == 0 || len(x.Threads.Rows) < 2 || len(x.CPUs.Rows) < 2 {
				t.Errorf("something is missing: %+v", x.Functions[0])
			}
			if c := x.List.Column("Excl.", "heapleakcnt"); c >= 0 && Print("count", x.Leaks.Instances) != total[c] {
				t.Errorf("%d leaks in the list, %s in <Total>", x.Leaks.Instances, total[c])
			}
		})
	}
}
