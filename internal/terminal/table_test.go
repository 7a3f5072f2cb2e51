package terminal

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// On a terminal, long names are shortened so that numbers and the columns after them fit.
func TestTablesFitTheTerminal(t *testing.T) {
	long := "std::__detail::_Executor<" + strings.Repeat("std::allocator<char>, ", 20) + ">::_M_dfs"
	fields := []Field{{Name: "Excl. s", Numeric: true}, {Name: "%", Numeric: true}, {Name: "Function", Short: true}, {Name: "Load object"}}
	rows := [][]string{{"1.606", "100.00", "<Total>", "<Total>"}, {"1111.406", "88.08", long, "libstdc++.so.6.0.30"}}
	for _, width := range []int{80, 100, 200} {
		var out strings.Builder
		a := &Output{Stdout: &out, FixedWidth: width}
		if err := a.Table(fields, rows, false); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"1111.406   88.08  std::", "…", ">::_M_dfs  libstdc++.so.6.0.30\n"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%d columns lack %q:\n%s", width, want, out.String())
			}
		}
		for _, line := range strings.Split(out.String(), "\n") {
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("%d columns: a line has %d:\n%s", width, n, out.String())
			}
		}
		if lines := strings.Split(out.String(), "\n"); utf8.RuneCountInString(lines[1]) < width-1 {
			t.Errorf("%d columns are not used:\n%s", width, out.String())
		}
	}
}

// Columns are as wide as their widest text, with aligned headings; lines have no trailing blanks.
func TestAligned(t *testing.T) {
	fields := []Field{{Name: "n", Numeric: true}, {Name: "name"}, {Name: "last"}}
	rows := [][]string{{"n", "name", "last"}, {"1000", "été", "x"}, {"7", "中文 wide", ""}}
	got := string(aligned(fields, rows, 0))
	if want := "   n  name       last\n-----------------------\n1000  été        x\n   7  中文 wide\n"; got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	if got, want := string(aligned(fields, rows, 12)), "   n  name ~\n---------- ~\n1000  été  ~\n   7  中文 ~\n"; got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

// Lines that do not fit even so are truncated with a mark, but not if all was requested.
func TestTablesTooWide(t *testing.T) {
	var fields []Field
	var row []string
	for range 12 {
		fields, row = append(fields, Field{Name: "column", Whole: len(fields) == 1}), append(row, "a text of some length")
	}
	var out strings.Builder
	if err := (&Output{Stdout: &out, FixedWidth: 80}).Table(fields, [][]string{row}, false); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "a text of some length") || strings.Count(out.String(), "~\n") != 3 {
		t.Errorf("no marks:\n%s", out.String())
	}
}

func TestShorten(t *testing.T) {
	long := strings.Repeat("a", 60) + strings.Repeat("é", 60)
	for name, want := range map[string]string{
		"short":                 "short",
		strings.Repeat("é", 80): strings.Repeat("é", 80),
		long:                    strings.Repeat("a", 49) + "…" + strings.Repeat("é", 30),
	} {
		if got := Shorten(name, nameWidth); got != want {
			t.Errorf("%s is shown as %s, want %s", name, got, want)
		}
	}
}
