package symtab

import (
	debugelf "debug/elf"
	"fmt"
	"slices"
	"stackmill/stages/loadobject/funcinfo"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A name has its symbol's scope, unless another function of the load object has the same name in
// that scope.
func TestScopes(t *testing.T) {
	symbols := func(list ...symbol) []Function {
		for i := range list {
			list[i].order, list[i].size = i, 4
		}
		return makeFunctions(list, []Region{{".text", 0, 0, 1000}}, newNamer(false))
	}
	global := func(name string, offset uint64) symbol {
		return symbol{name: name, offset: offset, binding: debugelf.STB_GLOBAL}
	}
	local := func(name string, offset uint64) symbol {
		return symbol{name: name, offset: offset, binding: debugelf.STB_LOCAL}
	}
	weak := func(name string, offset uint64) symbol {
		return symbol{name: name, offset: offset, binding: debugelf.STB_WEAK}
	}
	module := func(m int32, list []Function) []Function {
		for i := range list {
			list[i].Module = m
		}
		return list
	}
	for _, test := range []struct {
		name      string
		functions []Function
		want      string
	}{
		{"one of each", symbols(global("f", 0), local("g", 8), weak("h", 16)), "f object g module h object"},
		{"two in one module", symbols(local("f", 0), local("f", 8)), "f build f build"},
		{"three in one module", symbols(local("f", 0), local("f", 8), local("f", 16)), "f build f build f build"},
		{"in two modules", slices.Concat(module(1, symbols(local("f", 0))), module(2, symbols(local("f", 8)))), "f module f module"},
		{"a global and a static one", symbols(global("f", 0), local("f", 8)), "f object f module"},
		{"two versions of a symbol", symbols(global("f", 0), global("f", 8)), "f build f build"},
		{"the name that is shown is static", symbols(global("f", 0), local("g", 0)), "g module"},
		{"the name that is shown is global", symbols(local("f", 0), global("g", 0)), "g object"},
		{"two parts of generated code", []Function{{Address: 8, Offset: 8, Linkage: "f", Scope: funcinfo.ModuleScope}, {Address: 8, Offset: 12, Linkage: "f", Scope: funcinfo.ModuleScope}}, "f module f module"},
		{"versions of generated code", ReadPerfMap([]byte("10 4 f\n20 4 f\n30 4 g\n")).Functions, "f build f build g module"},
		{"the kernel", ReadKernel([]byte("ffffffff81000000 T a\nffffffff81000010 t b\nffffffff81000020 t b\nffffffffc0000000 t b\t[m]\n")).Functions, "a module b build b build b module"},
	} {
		d := Draft{Functions: test.functions}
		d.restrictScopes()
		got := ""
		for _, f := range d.Functions {
			got += fmt.Sprint(" ", f.SymbolOrName(), " ", f.Scope)
		}
		if diff := cmp.Diff(" "+test.want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", test.name, diff)
		}
	}
}
