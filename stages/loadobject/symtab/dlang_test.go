package symtab

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

func TestD(t *testing.T) {
	for in, want := range map[string]string{
		"_Dmain":                            "D main",
		"_D4prog10overloadedFAyaZv":         "prog.overloaded(immutable(char)[])",
		"_D4prog6Circle4drawMFiZv":          "prog.Circle.draw(int)",
		"_DThn16_4prog6Circle4drawMFiZv":    "non-virtual thunk to prog.Circle.draw(int)",
		"_D4prog6Circle4drawMxFiZv":         "prog.Circle.draw(int) const",
		"_D1m1fFJiLdKaMxAyaIkZv":            "m.f(out int, lazy double, ref char, scope const(immutable(char)[]), in uint)",
		"_D4prog5outerFiZ6nestedMFiZv":      "prog.outer(int).nested(int)",
		"_D4prog7threadsFZ9__lambda1FZv":    "prog.threads().__lambda1()",
		"_D4prog__T6SquareTiZQk4areaMFiZv":  "prog.Square!(int).Square.area(int)",
		"_D4prog__T7genericVii3VAyaa1_61Zi": "prog.generic!(3, \"a\")",
		"_D4prog5orderFPFiZvDFNaNbiZvZv":    "prog.order(void(int) function, void(int) pure nothrow delegate)",
	} {
		if got, ok := demangleD(in); got != want || !ok {
			t.Errorf("%s: got %q %t, want %q", in, got, ok, want)
		}
	}
	for _, in := range []string{"_D", "_Dx", "_D4pro", "_D4progFQaZv", "_D4prog__T", "_D1a" + strings.Repeat("FP", 10000), "_D4prog" + strings.Repeat("__T1a", 10000)} {
		if got, ok := demangleD(in); ok {
			t.Errorf("%.40s: got %q", in, got)
		}
	}
}

// Back references cannot make a name grow beyond the bounds.
func TestLongNamesInD(t *testing.T) {
	s := "_D1aFC9000" + strings.Repeat("x", 9000)
	for range 100 {
		n := len(s) - strings.Index(s, "C9000")
		digits := string(rune('a' + n%26))
		for n /= 26; n > 0; n /= 26 {
			digits = string(rune('A'+n%26)) + digits
		}
		s += "Q" + digits
	}
	if got, ok := demangleD(s + "Zv"); ok || len(got) > 2*maxDBytes {
		t.Errorf("%d bytes", len(got))
	}
}

// The functions of D's own libraries have the names that c++filt prints.
func TestLibraryAgainstDFilt(t *testing.T) {
	const library = "/usr/lib/x86_64-linux-gnu/libdruntime-ldc.a"
	if _, err := os.Stat(library); err != nil {
		t.Skip(err)
	}
	out, err := exec.Command("nm", "--defined-only", library).Output()
	if err != nil {
		t.Skip(err)
	}
	seen := map[string]bool{}
	var symbols bytes.Buffer
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		if w := strings.Fields(s.Text()); len(w) == 3 && strings.Contains("TtWw", w[1]) && strings.HasPrefix(w[2], "_D") && !seen[w[2]] {
			seen[w[2]] = true
			symbols.WriteString(w[2] + "\n")
		}
	}
	c := exec.Command("c++filt", "-s", "dlang")
	c.Stdin = bytes.NewReader(symbols.Bytes())
	names, err := c.Output()
	if err != nil {
		t.Skip(err)
	}
	want := strings.Split(string(names), "\n")
	compared := 0
	for i, s := range strings.Split(strings.TrimSpace(symbols.String()), "\n") {
		if want[i] == s {
			continue // not a name, or one that c++filt is too old for
		}
		compared++
		if got, _ := demangleD(s); got != want[i] {
			t.Errorf("%s: got %s, want %s", s, got, want[i])
		}
	}
	if compared < 1000 {
		t.Errorf("%d names compared", compared)
	}
}
