package compare

import "testing"

func TestNames(t *testing.T) {
	for _, c := range []struct{ name, plain, loose, stem string }{
		{"f", "f", "f", "f"},
		{"f [clone .constprop.0]", "f", "f", "f"},
		{"f [clone .part.1] [clone .cold]", "f", "f", "f"},
		{"f.isra.0.cold", "f", "f", "f"},
		{"f.llvm.1234567", "f", "f", "f"},
		{"a.b.c", "a.b.c", "a.b.c", "a.b.c"},
		{"core::fmt::write::h0123456789abcdef", "core::fmt::write", "core::fmt::write", "core::fmt::write"},
		{"main::{lambda(int)#2}::operator()(int) const", "main::{lambda(int)#2}::operator()(int) const", "main::{lambda(int)#}::operator()(int) const", "main::{lambda#}::operator\x01"},
		{"main.run.func2", "main.run.func2", "main.run.func", "main.run.func"},
		{"crit -- OMP parallel region from line 17 [crit._omp_fn.0]", "crit -- OMP parallel region from line 17 [crit._omp_fn.0]", "crit -- OMP parallel region from line  [crit._omp_fn.]", "crit -- OMP parallel region from line  [crit._omp_fn.]"},
		{"(anonymous namespace)::g<std::vector<int>, 3>(long) [clone .isra.0]", "(anonymous namespace)::g<std::vector<int>, 3>(long)", "(anonymous namespace)::g<std::vector<int>, 3>(long)", "g"},
		{"operator<<(int)", "operator<<(int)", "operator<<(int)", "operator\x02"},
		{"<Unknown>", "<Unknown>", "<Unknown>", "<Unknown>"},
	} {
		if got := plainName(c.name); got != c.plain {
			t.Errorf("plainName(%q) is %q, want %q", c.name, got, c.plain)
		}
		if got := looseName(c.name); got != c.loose {
			t.Errorf("looseName(%q) is %q, want %q", c.name, got, c.loose)
		}
		if got := stem(c.name); got != c.stem {
			t.Errorf("stem(%q) is %q, want %q", c.name, got, c.stem)
		}
	}
	for name, want := range map[string]string{"libc.so.6": "libc.so", "libstdc++.so.6.0.30": "libstdc++.so", "libfoo-1.2.so": "libfoo.so", "app-1.2": "app-1.2"} {
		if got := plainObject(name); got != want {
			t.Errorf("plainObject(%q) is %q, want %q", name, got, want)
		}
	}
}
