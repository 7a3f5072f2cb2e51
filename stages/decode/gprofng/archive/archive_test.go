package archive

import (
	"strings"
	"testing"
)

func TestName(t *testing.T) {
	long := strings.Repeat("b", 250)
	for _, c := range []struct{ path, name string }{
		{"/usr/bin/dash", "dash_UHyILZt997d"},
		{"/usr/lib/x86_64-linux-gnu/libc.so.6", "libc.so.6_dnWuQRcLhw9"},
		{"a.out", "a.out_dbrs1000000"},
		{"./a.out", "a.out_dbrs1000000"},
	} {
		if got := Name(c.path); got != c.name {
			t.Errorf("Name(%q) = %q, want %q", c.path, got, c.name)
		}
	}
	got := Name("/usr/bin/" + long)
	if len(got) != 255 || !strings.HasPrefix(got, long[:231]+"_UHyILZt997d_") {
		t.Errorf("Name of a long base name = %q, %d bytes", got, len(got))
	}
}
