package symtab

import (
	"cmp"
	debugelf "debug/elf"
	"slices"
	"stackmill/stages/loadobject/funcinfo"
	"strings"
)

// size turns symbols into functions that do not overlap (gprofng-experiment
// 6.3). Symbols of one place are one function. A PLT section is one function.
func size(list []symbol, regions []Region, n *namer) []Function {
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
		out = sizeRegion(out, list[first:next], g, n)
	}
	return out
}

// inOrder sorts symbols by place and name.
func inOrder(a, b symbol) int {
	return cmp.Or(cmp.Compare(a.offset, b.offset), cmp.Compare(a.name, b.name), cmp.Compare(a.order, b.order))
}

func sizeRegion(out []Function, list []symbol, g Region, n *namer) []Function {
	for len(list) > 0 {
		off, size := list[0].offset, uint64(0)
		same := 0
		for ; same < len(list) && list[same].offset == off; same++ {
			size = max(size, list[same].size)
		}
		if size == 0 {
			size = list[0].reach
		}
		f := n.function(list[:same])
		list = list[same:]
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

// function names the function of one place from its symbols, which are sorted
// by name.
func (n *namer) function(group []symbol) Function {
	clear(n.known)
	var names []string
	for _, s := range group {
		if len(names) == 0 || names[len(names)-1] != s.name {
			names = append(names, s.name)
		}
	}
	f := Function{Linkage: shown(names), Aliases: strings.Join(names, Separator)}
	f.Indirect = slices.ContainsFunc(group, func(s symbol) bool { return s.indirect })
	if !slices.ContainsFunc(group, func(s symbol) bool { return s.name == f.Linkage && s.binding != debugelf.STB_LOCAL }) {
		f.Scope = funcinfo.ModuleScope
	}
	f.Name, f.Kind = n.name(f.Linkage)
	f.GprofngName = unless(f.Name, n.gprofngName(n.gprofngAlias(group)))
	f.PerfName = unless(f.Name, n.perfName(n.perfAlias(group)))
	return f
}

// unless returns a name, empty if it is the usual one.
func unless(usual, name string) string {
	if name == usual {
		return ""
	}
	return name
}

// Separator stands between the symbols of Function.Aliases; Go's and Rust's symbols have blanks.
const Separator = "\t"

// Split divides the aliases of a function into symbols.
func Split(aliases string) []string {
	if aliases == "" {
		return nil
	}
	return strings.Split(aliases, Separator)
}

// shown returns the last of sorted names (S4). A local alias that the compiler
// made for its own calls is not shown while there is another one.
func shown(names []string) string {
	for i := len(names) - 1; i >= 0; i-- {
		if !strings.Contains(names[i], ".localalias") {
			return names[i]
		}
	}
	return names[len(names)-1]
}
