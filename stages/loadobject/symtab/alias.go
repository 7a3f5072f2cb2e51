package symtab

import (
	"debug/elf"
	"slices"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// gprofngAlias returns the symbol that gprofng 2.40 shows for a place
// (gprofng-experiment 6.3): the one whose printed name is the shortest, of those
// the first in byte order. It knows neither indirect functions nor
// .gnu_debugdata.
func (n *namer) gprofngAlias(group []symbol) string {
	var best symbol
	var bestName string
	for i, s := range only(group, func(s symbol) bool { return !s.indirect && !s.embedded }) {
		name := unglobalized(s.full())
		if name[0] == '_' {
			name, _ = n.demangle(name)
		}
		if i == 0 || len(name) < len(bestName) || len(name) == len(bestName) && name < bestName {
			best, bestName = s, name
		}
	}
	return best.name
}

// gprofngName is a symbol as gprofng prints it: demangled only if it begins with an
// underscore, so that other names keep what compilers appended to them
// (gprofng-experiment 6.4).
func (n *namer) gprofngName(linkage string) string {
	s := unglobalized(linkage)
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

// perfName is a symbol as perf prints it: only mangled names are read.
func (n *namer) perfName(linkage string) string {
	if !strings.HasPrefix(linkage, "_Z") && !strings.HasPrefix(linkage, "_R") {
		return linkage
	}
	name, _ := n.name(linkage)
	return name
}

// perfAlias returns the symbol that perf 6.1 shows for a place (perf-data 11.2,
// 11.3): the symbols in the tables' order, the better of two at a time.
func (n *namer) perfAlias(group []symbol) string {
	group = slices.Clone(only(group, func(s symbol) bool { return !s.embedded }))
	slices.SortFunc(group, func(a, b symbol) int { return a.order - b.order })
	if last := &group[len(group)-1]; last.size == 0 {
		last.size = 1 // it ends where the next function begins
	}
	best := group[0]
	for _, s := range group[1:] {
		if n.perfPrefers(s, best) {
			best = s
		}
	}
	return best.name
}

// perfPrefers reports whether perf takes b rather than a, which comes first.
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
	nameA, _ := n.demangle(a.full(), withoutParameters...)
	nameB, _ := n.demangle(b.full(), withoutParameters...)
	if d := underscores(nameA) - underscores(nameB); d != 0 {
		return d > 0
	}
	if len(nameA) != len(nameB) {
		return len(nameB) > len(nameA)
	}
	return strings.HasPrefix(nameA, "SyS") || strings.HasPrefix(nameA, "compat_SyS")
}

// withoutParameters make names as perf prints them.
var withoutParameters = []demangle.Option{demangle.NoParams, demangle.NoClones}

// full is the name in the symbol table.
func (s symbol) full() string { return s.name + s.version }

func underscores(name string) int { return len(name) - len(strings.TrimLeft(name, "_")) }

// only returns the symbols that a tool knows, or all if it knows none.
func only(group []symbol, known func(symbol) bool) []symbol {
	var list []symbol
	for _, s := range group {
		if known(s) {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		return group
	}
	return list
}
