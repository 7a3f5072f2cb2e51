package main

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// On a terminal, long names make room for numbers and for the columns after them.
func TestTablesFitTheTerminal(t *testing.T) {
	long := "std::__detail::_Executor<" + strings.Repeat("std::allocator<char>, ", 20) + ">::_M_dfs"
	fields := []field{{name: "Excl. s", numeric: true}, {name: "%", numeric: true}, {name: "Function", short: true}, {name: "Load object"}}
	rows := [][]string{{"1.606", "100.00", "<Total>", "<Total>"}, {"1111.406", "88.08", long, "libstdc++.so.6.0.30"}}
	for _, width := range []int{80, 100, 200} {
		var out strings.Builder
		a := &app{stdout: &out, columns: width}
		if err := a.printTable(fields, rows, false); err != nil {
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

// Columns are as wide as their widest text, headings over them, and lines end with their texts.
func TestAligned(t *testing.T) {
	fields := []field{{name: "n", numeric: true}, {name: "name"}, {name: "last"}}
	rows := [][]string{{"n", "name", "last"}, {"1000", "été", "x"}, {"7", "中文 wide", ""}}
	got := string(aligned(fields, rows, 0))
	if want := "   n  name       last\n-----------------------\n1000  été        x\n   7  中文 wide\n"; got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	if got, want := string(aligned(fields, rows, 12)), "   n  name ~\n---------- ~\n1000  été  ~\n   7  中文 ~\n"; got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

// What does not fit at all is cut with a mark, and nothing if all was asked for.
func TestTablesTooWide(t *testing.T) {
	var fields []field
	var row []string
	for range 12 {
		fields, row = append(fields, field{name: "column", whole: len(fields) == 1}), append(row, "a text of some length")
	}
	var out strings.Builder
	if err := (&app{stdout: &out, columns: 80}).printTable(fields, [][]string{row}, false); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "a text of some length") || strings.Count(out.String(), "~\n") != 3 {
		t.Errorf("no marks:\n%s", out.String())
	}
}
