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
	if got, want := SymbolTable("/usr/bin/dash"), "dash.UHyILZt997d"; got != want || !IsSymbolTable(got) || IsSymbolTable("dash_UHyILZt997d") || IsSymbolTable(".UHyILZt997d") {
		t.Errorf("the symbol table is %s, not %s", got, want)
	}
	got := Name("/usr/bin/" + long)
	if len(got) != 255 || !strings.HasPrefix(got, long[:231]+"_UHyILZt997d_") {
		t.Errorf("Name of a long base name = %q, %d bytes", got, len(got))
	}
}

func TestIsCommon(t *testing.T) {
	for _, c := range []struct {
		entry, file string
		want        bool
	}{
		{"libc.so.6_dnWuQRcLhw9", "3505954656_libc.so.6", true},
		{"my_prog_g3pIAGyN1c3", "1_my_prog", true},
		{"libc.so.6_dnWuQRcLhw9", "libc.so.6", false},
		{"libc.so.6_dnWuQRcLhw9", "3505954656_libm.so.6", false},
		{"libc.so.6_dnWuQRcLhw9", "x505954656_libc.so.6", false},
		{"libc.so.6_dnWuQRcLhw9", "1_", false},
		{"libc.so.6", "1_libc.so.6", false},
		{"shadow_dnWuQRcLhw9", "shadow", false},
	} {
		if got := IsCommon(c.entry, c.file); got != c.want {
			t.Errorf("IsCommon(%q, %q) = %v", c.entry, c.file, got)
		}
	}
}
