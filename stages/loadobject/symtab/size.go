package symtab

import (
	"cmp"
	debugelf "debug/elf"
	"slices"
	"stackmill/stages/loadobject/funcinfo"
	"strings"
)

// makeFunctions makes functions of symbols, so that they do not overlap (gprofng-experiment 6.3).
// The symbols at one offset become one function, and so does a section of the procedure linkage
// table.
func makeFunctions(list []symbol, regions []Region, n *namer) []Function {
	slices.SortFunc(list, inOrder)
	var out []Function
	next := 0
	for _, g := range regions {
		end := g.Offset + g.Size
		first := next
		for next < len(list) && list[next].offset < end {
			next++
		}
		if isPLT(g.Name) {
			out = append(out, Function{Offset: g.Offset, Address: g.Address, Size: g.Size, Name: "@plt", Kind: funcinfo.PLT})
			continue
		}
		out = appendRegion(out, list[first:next], g, n)
	}
	return out
}

// inOrder compares symbols by offset and name.
func inOrder(a, b symbol) int {
	return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.name, b.name), cmp.Compare(a.order, b.order))
}

func appendRegion(out []Function, list []symbol, g Region, n *namer) []Function {
	for len(list) > 0 {
		group := sameOffset(list)
		list = list[len(group):]
		off, size := group[0].offset, cmp.Or(largest(group), group[0].reach)
		f := n.function(group)
		room := g.Offset + g.Size - off
		if len(list) > 0 {
			room = list[0].offset - off
		}
		if size == 0 || size > room {
			size = room
		}
		f.Offset, f.Address, f.Size = off, g.Address+(off-g.Offset), size
		out = append(out, f)
	}
	return out
}

// sameOffset returns the symbols at the start of a sorted list that have the same offset.
func sameOffset(list []symbol) []symbol {
	n := 1
	for n < len(list) && list[n].offset == list[0].offset {
		n++
	}
	return list[:n]
}

func largest(group []symbol) (size uint64) {
	for _, s := range group {
		size = max(size, s.size)
	}
	return size
}

// function makes a function of the symbols at one offset, which must be sorted by name.
func (n *namer) function(group []symbol) Function {
	clear(n.known)
	var names []string
	for _, s := range group {
		if len(names) == 0 || names[len(names)-1] != s.name {
			names = append(names, s.name)
		}
	}
	f := Function{Linkage: preferred(names), Aliases: strings.Join(names, Separator)}
	f.Indirect = slices.ContainsFunc(group, func(s symbol) bool { return s.indirect })
	if !slices.ContainsFunc(group, func(s symbol) bool { return s.name == f.Linkage && s.binding != debugelf.STB_LOCAL }) {
		f.Scope = funcinfo.ModuleScope
	}
	f.Name, f.Kind = n.name(f.Linkage)
	if name := n.gprofngName(n.gprofngAlias(group)); name != f.Name {
		f.GprofngName = name
	}
	if name := n.perfName(n.perfAlias(group)); name != f.Name {
		f.PerfName = name
	}
	return f
}

// Separator separates the symbols in Function.Aliases. It is a tab, because symbols of Go and Rust
// contain blanks.
const Separator = "\t"

// Split splits a function's aliases into symbols.
func Split(aliases string) []string {
	if aliases == "" {
		return nil
	}
	return strings.Split(aliases, Separator)
}

// preferred returns the symbol to show (S4), given sorted symbols: the last one that is not a local
// alias made by the compiler or, if all are, the last one.
func preferred(names []string) string {
	for i := len(names) - 1; i >= 0; i-- {
		if !strings.Contains(names[i], ".localalias") {
			return names[i]
		}
	}
	return names[len(names)-1]
}
