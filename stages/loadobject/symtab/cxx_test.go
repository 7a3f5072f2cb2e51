package symtab_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/symtab"
)

// filtered returns c++filt's output for symbols: the names that gprofng prints.
func filtered(t *testing.T, symbols []string) []string {
	t.Helper()
	filt, err := exec.LookPath("c++filt")
	if err != nil {
		t.Skip("no c++filt")
	}
	cmd := exec.Command(filt, "-i")
	cmd.Stdin = bytes.NewBufferString(strings.Join(symbols, "\n") + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// agree compares the names of all C++ functions of a table with c++filt's, except for the parts of
// coroutines, where c++filt prints the type of gcc's frame.
func agree(t *testing.T, table *symtab.Table) (compared int) {
	t.Helper()
	var symbols []string
	functions := map[string]symtab.Function{}
	for f := range table.Functions.All() {
		if _, part := symtab.Ramp(f.Linkage); strings.HasPrefix(f.Linkage, "_Z") && !part {
			symbols = append(symbols, f.Linkage)
			functions[f.Linkage] = f
		}
	}
	for i, want := range filtered(t, symbols) {
		if got := functions[symbols[i]].Name; got != want {
			t.Errorf("%s: got %s, want %s", symbols[i], got, want)
		}
	}
	return len(symbols)
}

func TestAgainstCxxfilt(t *testing.T) { agree(t, read(t, "testdata/cxx")) }

// The C++ library has names of every kind: exported ones, and some that only the static archive
// has.
func TestLibraryAgainstCxxfilt(t *testing.T) {
	library, err := exec.Command("g++", "-print-file-name=libstdc++.so.6").Output()
	if path := strings.TrimSpace(string(library)); err == nil && filepath.IsAbs(path) {
		if n := agree(t, read(t, path)); n < 1000 {
			t.Errorf("%s has only %d C++ functions", path, n)
		}
	}
	archive, err := exec.Command("g++", "-print-file-name=libstdc++.a").Output()
	if err != nil {
		t.Skip(err)
	}
	out, err := exec.Command("nm", "--defined-only", strings.TrimSpace(string(archive))).Output()
	if err != nil {
		t.Skip(err)
	}
	var symbols []string
	for _, line := range strings.Split(string(out), "\n") {
		if w := strings.Fields(line); len(w) == 3 && strings.HasPrefix(w[2], "_Z") {
			symbols = append(symbols, w[2])
		}
	}
	readable := symtab.NewNames().Readable
	for i, want := range filtered(t, symbols) {
		if got := readable(symbols[i]); got != want {
			t.Errorf("%s: got %s, want %s", symbols[i], got, want)
		}
	}
	if len(symbols) < 1000 {
		t.Errorf("only %d symbols", len(symbols))
	}
}

const coroutines = `
#include <coroutine>
#include <string>
struct task {
	struct promise_type {
		task get_return_object() { return {}; }
		std::suspend_never initial_suspend() { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		void return_void() {}
		void unhandled_exception() {}
	};
};
namespace ns {
template <class T> task tmpl(T) { co_await std::suspend_always{}; }
struct S { task method(int); virtual ~S() {} virtual S *copy() { return this; } };
struct V { virtual ~V() {} virtual V *copy() { return this; } long v = 1; };
struct D : S, virtual V { ~D() {} D *copy() override { return this; } };
[[gnu::abi_tag("tagged")]] int tag(int x) { return x + 1; }
}
task ns::S::method(int) { co_await std::suspend_always{}; }
task plain() { auto l = [](int) -> task { co_return; }; l(3); co_await std::suspend_always{}; }
thread_local std::string text = "text";
ns::V *volatile kept;
int main(int argc, char **)
{
	ns::tmpl(3);
	ns::S().method(2);
	plain();
	static struct Q { Q() {} ~Q() {} int i = 0; } q;
	auto twice = [&](auto x) { return x + argc + q.i; };
	kept = new ns::D;
	delete kept->copy();
	return twice(1) + int(twice(2.0)) + ns::tag(1) + int(text.size());
}
`

// g++'s symbols for C++20 get readable names: coroutines, thunks, lambdas, names with tags.
func TestCoroutines(t *testing.T) {
	compiler, err := exec.LookPath("g++")
	if err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	source, program := filepath.Join(dir, "co.cc"), filepath.Join(dir, "co")
	if err := os.WriteFile(source, []byte(coroutines), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(compiler, "-std=c++20", "-O0", "-o", program, source).CombinedOutput(); err != nil {
		t.Skipf("%v: %s", err, out)
	}
	table := read(t, program)
	agree(t, table)
	kinds := map[string]funcinfo.Kind{}
	for f := range table.Functions.All() {
		kinds[f.Name] = f.Kind
	}
	want := map[string]funcinfo.Kind{
		"virtual thunk to ns::D::~D()": funcinfo.Normal, "covariant return thunk to ns::D::copy()": funcinfo.Normal,
		"ns::tag[abi:tagged](int)": funcinfo.Normal, "TLS wrapper function for text[abi:cxx11]": funcinfo.Normal,
	}
	for _, ramp := range []string{"plain()", "ns::S::method(int)", "task ns::tmpl<int>(int)", "plain()::{lambda(int)#1}::operator()(int) const"} {
		want[ramp] = funcinfo.Normal
		for _, part := range []string{"actor", "destroy"} {
			want[fmt.Sprintf("%s [clone .%s]", ramp, part)] = funcinfo.Clone
		}
	}
	for name, kind := range want {
		if kinds[name] != kind {
			t.Errorf("%s: kind %q, want %q", name, kinds[name], kind)
		}
	}
	linkages := map[string]bool{}
	for f := range table.Functions.All() {
		linkages[f.Linkage] = true
	}
	for f := range table.Functions.All() {
		if ramp, ok := symtab.Ramp(f.Linkage); ok && !linkages[ramp] {
			t.Errorf("%s: no ramp %s", f.Linkage, ramp)
		}
	}
}
