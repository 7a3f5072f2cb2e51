package compare

import (
	"fmt"
	"strings"
	"testing"
)

func TestAlign(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"a b c", "a b c", "[0 1 2]"},
		{"a b c", "x y a b c", "[2 3 4]"},
		{"a b c d", "a c d", "[0 -1 1 2]"},
		{"a b c", "a B c", "[0 1 2]"},
		{"a { } b { } c", "a { } x { } b { } c", "[0 1 2 6 7 8 9]"},
		{"} } x }", "} x } }", "[0 -1 1 3]"},
		{"a b", "", "[-1 -1]"},
		{"", "a", "[]"},
		{"a b c d e", "e a b c d", "[1 2 3 4 -1]"},
		{"a x x b", "a y b", "[0 -1 -1 2]"},
	} {
		if got := fmt.Sprint(align(strings.Fields(c.a), strings.Fields(c.b))); got != c.want {
			t.Errorf("%q and %q: %s, want %s", c.a, c.b, got, c.want)
		}
	}
}
