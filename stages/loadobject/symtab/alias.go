package symtab

import (
	"debug/elf"
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// gprofngAlias returns the symbol that gprofng 2.40 shows for an address (gprofng-experiment 6.3):
// the one that is shortest as printed; if several are, the first in byte order. gprofng ignores
// indirect functions and .gnu_debugdata.
func (n *namer) gprofngAlias(group []symbol) string {
	var best symbol
	var bestName string
	for i, s := range filterOrAll(group, func(s symbol) bool { return !s.indirect && !s.embedded }) {
		name := trimGlobalPrefix(s.full())
		if name[0] == '_' {
			name, _ = n.demangle(name)
		}
		if i == 0 || len(name) < len(bestName) || len(name) == len(bestName) && name < bestName {
			best, bestName = s, name
		}
	}
	return best.name
}

// gprofngName returns a symbol as gprofng prints it (gprofng-experiment 6.4). gprofng demangles
// only names that begin with an underscore. Other names keep the compilers' suffixes.
func (n *namer) gprofngName(linkage string) string {
	s := trimGlobalPrefix(linkage)
	if name, _, ok := n.studioName(s); ok {
		return name
	}
	if s == "" || s[0] != '_' {
		return s
	}
	if name, ok := n.demangle(s); ok {
		return name
	}
	return fortranName(s)
}

// perfName returns a symbol as perf prints it: demangled if it is mangled, else unchanged.
func (n *namer) perfName(linkage string) string {
	if !strings.HasPrefix(linkage, "_Z") && !strings.HasPrefix(linkage, "_R") {
		return linkage
	}
	name, _ := n.name(linkage)
	return name
}

// perfAlias returns the symbol that perf 6.1 shows for an address (perf-data 11.2,
// 11.3). Like perf, it compares the symbols pairwise in the tables' order.
func (n *namer) perfAlias(group []symbol) string {
	group = slices.Clone(filterOrAll(group, func(s symbol) bool { return !s.embedded }))
	slices.SortFunc(group, func(a, b symbol) int { return a.order - b.order })
	if last := &group[len(group)-1]; last.size == 0 {
		last.size = 1 // not empty: perf extends the last one to the next function
	}
	best := group[0]
	for _, s := range group[1:] {
		if n.perfPrefers(s, best) {
			best = s
		}
	}
	return best.name
}

// perfPrefers reports whether perf prefers symbol b to a, which is earlier in the symbol table.
func (n *namer) perfPrefers(b, a symbol) bool {
	for _, better := range []func(symbol) bool{
		func(s symbol) bool { return s.size > 0 },
		func(s symbol) bool { return s.binding != elf.STB_WEAK },
		func(s symbol) bool { return s.binding == elf.STB_GLOBAL },
	} {
		if better(a) != better(b) {
			return better(b)
		}
	}
	nameA, _ := n.demangle(a.full(), demangle.NoParams, demangle.NoClones)
	nameB, _ := n.demangle(b.full(), demangle.NoParams, demangle.NoClones)
	if d := underscores(nameA) - underscores(nameB); d != 0 {
		return d > 0
	}
	if len(nameA) != len(nameB) {
		return len(nameB) > len(nameA)
	}
	return strings.HasPrefix(nameA, "SyS") || strings.HasPrefix(nameA, "compat_SyS")
}

// full returns the name with its version, as in the symbol table.
func (s symbol) full() string { return s.name + s.version }

func underscores(name string) int { return len(name) - len(strings.TrimLeft(name, "_")) }

// filterOrAll returns the symbols of a group that a tool knows, or all of them if it knows none.
func filterOrAll(group []symbol, known func(symbol) bool) []symbol {
	list := slices.DeleteFunc(slices.Clone(group), func(s symbol) bool { return !known(s) })
	if len(list) == 0 {
		return group
	}
	return list
}
