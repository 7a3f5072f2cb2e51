package symtab

import (
	"stackmill/stages/loadobject/funcinfo"
	"testing"
)

func TestName(t *testing.T) {
	for _, c := range []struct {
		linkage, name string
		kind          funcinfo.Kind
	}{
		{"main", "main", funcinfo.Normal},
		{"_start", "_start", funcinfo.Normal},
		{"_Z3foov", "foo()", funcinfo.Normal},
		{"_ZN3foo3barESs", "foo::bar(std::string)", funcinfo.Normal},
		{"_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", "core::fmt::Write::write_fmt", funcinfo.Normal},
		{"poly.constprop.0", "poly [clone .constprop.0]", funcinfo.Clone},
		{"scaled.isra.0", "scaled [clone .isra.0]", funcinfo.Clone},
		{"f.isra.0.part.1", "f [clone .isra.0] [clone .part.1]", funcinfo.Clone},
		{"process.cold", "process [clone .cold]", funcinfo.Outline},
		{"f.part.0.cold", "f [clone .part.0] [clone .cold]", funcinfo.Outline},
		{"_Z3foov.cold", "foo() [clone .cold]", funcinfo.Outline},
		{"_Z1fi.isra.0", "f(int) [clone .isra.0]", funcinfo.Clone},
		{"_Zno.cold", "_Zno [clone .cold]", funcinfo.Outline},
		{"main._omp_fn.0", "main [clone ._omp_fn.0]", funcinfo.Body},
		{"main._omp_fn.0.cold", "main [clone ._omp_fn.0] [clone .cold]", funcinfo.Outline},
		{".omp_outlined..2", ".omp_outlined..2", funcinfo.Body},
		{"main.omp_outlined", "main [clone .omp_outlined]", funcinfo.Body},
		{"dot.avx2", "dot [clone .avx2]", funcinfo.Clone},
		{"dot.arch_haswell.0", "dot [clone .arch_haswell.0]", funcinfo.Clone},
		{"helper.lto_priv.1", "helper", funcinfo.Normal},
		{"helper.lto_priv.0.lto_priv.12", "helper", funcinfo.Normal},
		{"helper.lto_priv.0.constprop.0", "helper [clone .constprop.0]", funcinfo.Clone},
		{"helper.constprop.0.lto_priv.0", "helper [clone .constprop.0]", funcinfo.Clone},
		{"helper.lto_priv.0.cold", "helper [clone .cold]", funcinfo.Outline},
		{"_ZL6helperi.lto_priv.0", "helper(int)", funcinfo.Normal},
		{"_ZL6helperi.llvm.8131530425430142530", "helper(int)", funcinfo.Normal},
		{"_ZL6helperv.21", "helper()", funcinfo.Normal},
		{"_ZL6helperv.21.cold", "helper() [clone .cold]", funcinfo.Outline},
		{"_ZL6helperv.21.llvm.813", "helper()", funcinfo.Normal},
		{"a.lto_priv.b", "a [clone .lto_priv] [clone .b]", funcinfo.Clone},
		{"master.0.body_", "master.0.body_", funcinfo.Normal},
		{"inner.0", "inner.0", funcinfo.Normal},
		{"_Z3barv", "bar()", funcinfo.Normal},
		{"_Z3barPZ3barvE13_Z3barv.Frame.actor", "bar() [clone .actor]", funcinfo.Clone},
		{"_Z3barPZ3barvE13_Z3barv.Frame.destroy", "bar() [clone .destroy]", funcinfo.Clone},
		{"_Z3barPZ3barvE13_Z3barv.Frame.actor.cold", "bar() [clone .actor] [clone .cold]", funcinfo.Outline},
		{"_ZN2ns3fooEPZNS_3fooIiEE4taskT_E27_ZN2ns3fooIiEE4taskT_.Frame.actor", "task ns::foo<int>(int) [clone .actor]", funcinfo.Clone},
		{"_Z3barv.resume", "bar() [clone .resume]", funcinfo.Clone},
		{"_Z3barv.destroy", "bar() [clone .destroy]", funcinfo.Clone},
		{"window.destroy", "window.destroy", funcinfo.Normal},
		{"_ZThn8_N1B1fEv", "non-virtual thunk to B::f()", funcinfo.Normal},
		{"_ZTv0_n24_N1D1fEv", "virtual thunk to D::f()", funcinfo.Normal},
		{"_ZTchn8_h8_N1D1cEv", "covariant return thunk to D::c()", funcinfo.Normal},
		{"_ZGVZ4mainE1q", "guard variable for main::q", funcinfo.Normal},
		{"_ZTW1t", "TLS wrapper function for t", funcinfo.Normal},
		{"_ZN1AC1Ev", "A::A()", funcinfo.Normal},
		{"_ZN1AD0Ev", "A::~A()", funcinfo.Normal},
		{"_ZN3fooB5cxx11Ev", "foo[abi:cxx11]()", funcinfo.Normal},
		{"_ZZ4mainENKUliE_clEi", "main::{lambda(int)#1}::operator()(int) const", funcinfo.Normal},
		{"_ZW3Foo3barv", "bar@Foo()", funcinfo.Normal},
		{"_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar", funcinfo.Normal},
		{"_RINvNtC3std3mem8align_ofjE", "std::mem::align_of::<usize>", funcinfo.Normal},
		{"_D3foo3barFiZv", "foo.bar(int)", funcinfo.Normal},
		{"__mathmod_MOD_nested", "mathmod::nested", funcinfo.Normal},
		{"__mathmod_MOD_nested.part.0", "mathmod::nested [clone .part.0]", funcinfo.Clone},
		{"__m_MOD___copy_m_Type", "m::__copy_m_Type", funcinfo.Normal},
		{"__Kernel_MOD_x", "__Kernel_MOD_x", funcinfo.Normal},
		{"__m_MOD_", "__m_MOD_", funcinfo.Normal},
		{"$XAbCd.counter", "counter", funcinfo.Normal},
		{".XAbCd.worker", "worker", funcinfo.Normal},
		{"_$p1A12.base", "base -- OMP parallel region from line 12 [_$p1A12.base]", funcinfo.Body},
		{"_$d1AB7._Z3foov", "foo() -- Parallel loop from line 7 [_$d1AB7._Z3foov]", funcinfo.Body},
		{"_$o1C30.base", "base -- outline code from line 30 [_$o1C30.base]", funcinfo.Outline},
		{"_$c1A1.base", "base -- cloned version [_$c1A1.base]", funcinfo.Clone},
		{"_$x9.base", "_$x9.base", funcinfo.Normal},
		{"$X", "$X", funcinfo.Normal},
		{".", ".", funcinfo.Normal},
	} {
		n := newNamer(false)
		if name, kind := n.name(c.linkage); name != c.name || kind != c.kind {
			t.Errorf("%s: got %q %s, want %q %s", c.linkage, name, kind, c.name, c.kind)
		}
	}
}

func TestGoNames(t *testing.T) {
	n := newNamer(true)
	for _, name := range []string{"main.cold", "example.com/llvm.part", "main.resolver.func1", "type:.eq.struct { main.x int }"} {
		if got, kind := n.name(name); got != name || kind != funcinfo.Normal {
			t.Errorf("%s: got %q %s", name, got, kind)
		}
	}
	n.findTwins([]symbol{{name: "runtime.goexit.abi0"}, {name: "runtime.args.abi0"}, {name: "runtime.args"}})
	for _, name := range []string{"runtime.args", "runtime.args.abi0"} {
		if got, kind := n.name(name); got != name || kind != funcinfo.Normal {
			t.Errorf("%s: got %q %s", name, got, kind)
		}
	}
	if got, kind := n.name("runtime.goexit.abi0"); got != "runtime.goexit" || kind != funcinfo.Normal {
		t.Errorf("got %q %s", got, kind)
	}
}

// Substitutions that make megabytes of some hundred bytes are stopped.
func TestHugeName(t *testing.T) {
	s := "_Z1fIiEvT_"
	for i := 0; i < 40; i++ {
		s += "S_S_"
	}
	n := newNamer(false)
	if got, _ := n.name(s); len(got) > 1<<maxName {
		t.Errorf("%d bytes", len(got))
	}
}

func TestUnversioned(t *testing.T) {
	for in, want := range map[string]string{
		"memcpy@@GLIBC_2.14": "memcpy", "memcpy@GLIBC_2.2.5": "memcpy", "plain": "plain",
		"@plt": "@plt", "odd@": "odd@", "pkg/v@1.0/x.f": "pkg/v@1.0/x.f",
	} {
		if got := trimVersion(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}
