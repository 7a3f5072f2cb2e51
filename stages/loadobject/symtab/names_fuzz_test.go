package symtab

import (
	"strings"
	"testing"
)

// Any symbol has a readable name of bounded length, and all suffixes cut off were in the symbol.
func FuzzNames(f *testing.F) {
	for _, s := range []string{"_ZN3geo4workEi", "_ZN3geo4workEi.constprop.0.cold", "main._omp_fn.0", "__mod_MOD_proc", "_Z1fILi1EEvPPPPi", "_RNvC1a1b", "_$p1A12.base", ".X1234.name", "f.isra.0.part.1",
		"_D4prog__T6SquareTiZQk4areaMFiZv", "_D4prog__T7genericVii3VAyaa1_61Zi", "_D4prog5orderFPFiZvDFNaNbiZvZv", "_D4prog__T3newVHiAyaA2i1a1_61i2a1_62S4prog1fZv"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, linkage string) {
		name := NewNames().Readable(linkage)
		if again := NewNames().Readable(linkage); again != name {
			t.Errorf("%q is %q, and then %q", linkage, name, again)
		}
		if len(name) > 1<<20+16*len(linkage) {
			t.Errorf("%q has a name of %d bytes", linkage, len(name))
		}
		if base, _ := CloneMarks(linkage); len(base) > len(linkage) || base != "" && !strings.Contains(linkage, base) {
			t.Errorf("%q is called %q without its marks", linkage, base)
		}
	})
}
