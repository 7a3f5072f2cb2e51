package symtab

import (
	"cmp"
	"debug/elf"
	"testing"
)

// Each case lists the symbols at one address in the order of the symbol table.
func TestAliasChoice(t *testing.T) {
	global := func(name string) symbol { return symbol{name: name, size: 4, binding: elf.STB_GLOBAL} }
	weak := func(name string) symbol { return symbol{name: name, size: 4, binding: elf.STB_WEAK} }
	local := func(name string) symbol { return symbol{name: name, size: 4, binding: elf.STB_LOCAL} }
	sized := func(s symbol, size uint64) symbol { s.size = size; return s }
	for _, c := range []struct {
		what                  string
		symbols               []symbol
		manual, gprofng, perf string
	}{
		{"weak and strong", []symbol{global("_compute"), weak("compute")}, "compute", "compute", "_compute"},
		{"equally long", []symbol{global("beta_z"), global("beta_m"), global("beta_a")}, "beta_z", "beta_a", "beta_z"},
		{"a library's internal name", []symbol{local("__GI_puts"), weak("puts"), global("_IO_puts")}, "puts", "puts", "_IO_puts"},
		{"underscores before length", []symbol{global("__libc_malloc"), global("malloc")}, "malloc", "malloc", "malloc"},
		{"length", []symbol{global("a_longer"), global("z")}, "z", "z", "a_longer"},
		{"global before local", []symbol{local("zz_local"), global("__x")}, "zz_local", "__x", "__x"},
		{"sizeless and not last", []symbol{sized(global("aa"), 0), sized(local("__bbb"), 4)}, "aa", "aa", "__bbb"},
		{"sizeless and last", []symbol{sized(local("__bbb"), 4), sized(global("aa"), 0)}, "aa", "aa", "aa"},
		{"demangled names are compared", []symbol{global("_ZN1AC2Ev"), global("a_longer_name")}, "a_longer_name", "A::A()", "a_longer_name"},
		{"constructors", []symbol{global("_ZN1AC1Ev"), global("_ZN1AC2Ev")}, "A::A()", "A::A()", "A::A()"},
		{"a version counts", []symbol{{name: "aaa", version: "@@V_1", size: 4, binding: elf.STB_GLOBAL}, global("bbbb")}, "bbbb", "bbbb", "aaa"},
		{"indirect", []symbol{{name: "i", size: 4, binding: elf.STB_GLOBAL, indirect: true}, local("slow")}, "slow", "slow", "i"},
		{"indirect only", []symbol{{name: "ii", size: 4, indirect: true}, {name: "i", size: 4, indirect: true}}, "ii", "i", "ii"},
		{"embedded", []symbol{{name: "e", size: 4, binding: elf.STB_GLOBAL, embedded: true}, local("dynamic")}, "e", "dynamic", "dynamic"},
		{"system calls", []symbol{global("SyS_x"), global("sys_x")}, "sys_x", "SyS_x", "sys_x"},
		{"Studio's static names", []symbol{global("$XAbCdEf.f"), global("$XAbCdEf.ff")}, "ff", "f", "$XAbCdEf.ff"},
		{"a C function's clone", []symbol{local("f.isra.0")}, "f [clone .isra.0]", "f.isra.0", "f.isra.0"},
		{"a C++ function's clone", []symbol{local("_ZN1A1fEi.isra.0")}, "A::f(int) [clone .isra.0]", "A::f(int) [clone .isra.0]", "A::f(int) [clone .isra.0]"},
		{"a body", []symbol{local("f._omp_fn.0")}, "f [clone ._omp_fn.0]", "f._omp_fn.0", "f._omp_fn.0"},
		{"Studio's body", []symbol{local("_$p1A12.f")}, "f -- OMP parallel region from line 12 [_$p1A12.f]", "f -- OMP parallel region from line 12 [_$p1A12.f]", "_$p1A12.f"},
		{"a function made global", []symbol{global("f.lto_priv.0")}, "f", "f.lto_priv.0", "f.lto_priv.0"},
		{"Fortran", []symbol{global("__m_MOD_f")}, "m::f", "m::f", "__m_MOD_f"},
	} {
		for i := range c.symbols {
			c.symbols[i].offset, c.symbols[i].order = 100, i
		}
		f := makeFunctions(c.symbols, []Region{{".text", 100, 1100, 10}}, newNamer(false))[0]
		for _, x := range []struct{ what, got, want string }{
			{"manual", f.Name, c.manual}, {"gprofng", cmp.Or(f.GprofngName, f.Name), c.gprofng}, {"perf", cmp.Or(f.PerfName, f.Name), c.perf},
		} {
			if x.got != x.want {
				t.Errorf("%s: %s shows %q, want %q", c.what, x.what, x.got, x.want)
			}
		}
	}
}
