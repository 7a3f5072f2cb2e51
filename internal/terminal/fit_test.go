package terminal

import (
	"bytes"
	"strings"
	"testing"
)

func TestShortenName(t *testing.T) {
	for _, c := range []struct {
		width      int
		name, want string
	}{
		{20, "short", "short"},
		{20, "/home/me/project/src/parse.c", "…project/src/parse.c"},
		{12, "/home/me/src/parse.c", "…src/parse.c"},
		{7, "/home/me/src/parse.c", "parse.c"},
		{6, "/home/me/src/parse.c", "pa….c"},
		{20, "main;run;parse;next_token", "…un;parse;next_token"},
		{24, "std::vector<int>::push_back(int const&)", "…ctor<int>::push_back(…)"},
		{36, "std::vector<int>::push_back(int const&)", "std::vector<int>::push_back(…)"},
		{12, "ns::(anonymous namespace)::helper(long, long)", "…::helper(…)"},
		{23, "a::b::operator()(int, long) const", "…b::operator()(…) const"},
		{20, "ns::Table<std::pair<int, a::b> >::find", "…<int, a::b> >::find"},
		{16, "run(int)::{lambda(int)#1}::operator()", "…#1}::operator()"},
		{10, "parse [clone .cold]", "parse…ld]"},
	} {
		got := ShortenName(c.name, c.width)
		if got != c.want {
			t.Errorf("%q in %d: %q, want %q", c.name, c.width, got, c.want)
		}
		if n := len([]rune(got)); n > c.width {
			t.Errorf("%q in %d: %q has %d characters", c.name, c.width, got, n)
		}
	}
}

// TestFitColumns leaves out columns before it cuts names.
func TestFitColumns(t *testing.T) {
	fields := []Field{{Name: "Value", Numeric: true}, {Name: "Noise", Numeric: true, Drop: 3}, {Name: "q", Numeric: true, Drop: 2}, {Name: "Function", Path: true}, {Name: "Load object", Drop: 1}}
	rows := [][]string{{"0.201", "1.8%", "<0.0001", "spaces::of::a::function_with_a_long_name", "libwork.so.1"}}
	for width, want := range map[int][]string{
		100: {"Value  Noise        q  Function", "\n0.201   1.8%  <0.0001  spaces::of::a::function_with_a_long_name  libwork.so.1\n"},
		66:  {"Value        q  Function", "<0.0001  …s::of::a::function_with_a_long_name  libwo…o.1\n", "\nleft out to fit the width: Noise\n"},
		50:  {"Value  Function\n", "0.201  spaces::of::a::function_with_a_long_name\n", "left out to fit the width: Noise, q, Load object"},
		34:  {"0.201  function_with_a_long_name\n"},
		37:  {"0.201  …::function_with_a_long_name\n"},
	} {
		var b bytes.Buffer
		o := Output{Stdout: &b, FixedWidth: width}
		if err := o.Table(fields, rows, false); err != nil {
			t.Fatal(err)
		}
		for _, w := range want {
			if !strings.Contains(b.String(), w) {
				t.Errorf("at %d, %q is missing:\n%s", width, w, &b)
			}
		}
	}
}
