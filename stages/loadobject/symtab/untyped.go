package symtab

import (
	debugelf "debug/elf"
	"slices"
	"strings"

	"stackmill/internal/lazyregexp"
	"stackmill/stages/loadobject/elf"
)

// Hand-written assembly often does not mark symbols as functions. So a symbol without a type in
// executable text names the code from there on, unless another function covers it, or the symbol is
// a marker (S3).

// markers matches symbols without a type that assemblers and compilers generate in text: local labels
// of gas and nasm, including `1:` and `1$:` that gas kept (as L, the number, a control character);
// notes of annobin and gcc 2 at the start of a unit's text; and mapping symbols, which separate
// instructions from data: `$a`, `$t`, `$x` and `$d`, also with a dot and a suffix, and `$xrv64i2p1`.
var markers = lazyregexp.New(`^(?:\.L|\.\.@|\$L|\.annobin_|gcc2?_compiled\.|L[0-9]+[\x01\x02]|\$[atxd](?:\.|$)|\$xrv)`)

// isGoMarker reports whether a symbol of a Go object only marks the start or end of the text.
func isGoMarker(name string) bool {
	return name == "runtime.text" || name == "runtime.etext" || strings.HasPrefix(name, "runtime.text.")
}

// isInSection reports whether a symbol's address is inside its section, so that code can start
// there. Symbols such as the linker's `etext` are at the end of their section, where another
// section may begin.
func isInSection(f *elf.File, value uint64, section debugelf.SectionIndex) bool {
	s := f.ByIndex(int(section))
	return f.Type == debugelf.ET_REL || s == nil || value-s.Address < s.Size
}

// dropLabels sorts symbols by offset, and drops symbols without a type that are not functions. It
// sets reach, a bound of the size, for functions without a size.
func (r *reader) dropLabels(list []symbol) []symbol {
	slices.SortFunc(list, inOrder)
	starts := frameStarts(r.object, r.addresses)
	kept := list[:0]
	var before []symbol // the symbols of the last function
	var end uint64      // end of the last function; its start if it has no size
	for len(list) > 0 {
		group := sameOffset(list)
		list = list[len(group):]
		at := group[0].offset
		typed := slices.ContainsFunc(group, func(s symbol) bool { return !s.untyped })
		known := len(kept)
		for _, s := range group {
			if s.untyped && (typed || at < end || r.isLabel(s, before, end, list)) {
				continue
			}
			kept = append(kept, s)
		}
		if group = kept[known:]; len(group) > 0 {
			before, end = group, at+r.limit(group, starts, list)
		}
	}
	return kept
}

// isLabel reports whether a symbol is a label inside the function before it. It is if it has the
// form of nasm's `f.loop`, or if that function has no size and its code continues at the symbol.
// behind are the symbols after it.
func (r *reader) isLabel(s symbol, before []symbol, end uint64, behind []symbol) bool {
	if len(before) == 0 || before[0].offset != end {
		return false
	}
	if r.code -= len(before); r.code < 0 {
		return false
	}
	for _, f := range before {
		if rest, ok := strings.CutPrefix(s.name, f.name); ok && strings.HasPrefix(rest, ".") {
			return true
		}
	}
	if s.binding != debugelf.STB_LOCAL {
		return false
	}
	g, ok := r.table.Region(s.offset)
	if !ok || before[0].offset < g.Offset {
		return false
	}
	until := g.Offset + g.Size
	if len(behind) > 0 {
		until = min(until, behind[0].offset)
	}
	start := before[0].offset
	code := r.object.Slice(start, min(s.offset-start, maxFlow))
	if r.code -= len(code); r.code < 0 {
		return false
	}
	addr := g.Address + (start - g.Offset)
	return continues(r.table.Arch, code, addr, addr+(s.offset-start), addr+(until-start))
}

// limit returns the largest size of the symbols at one offset. If none has a size, it returns 0 and
// sets symbol.reach, up to the next function that call frame information shows. If only exported
// functions have symbols, the reach ends earlier if the instructions show an end.
func (r *reader) limit(group []symbol, starts []uint64, behind []symbol) uint64 {
	size := largest(group)
	off := group[0].offset
	g, ok := r.table.Region(off)
	if size > 0 || !ok {
		return min(size, g.Offset+g.Size-off)
	}
	reach := g.Offset + g.Size - off
	n, found := slices.BinarySearch(starts, off)
	if found {
		n++
	}
	if n < len(starts) {
		reach = min(reach, starts[n]-off)
	}
	if r.exported {
		if len(behind) > 0 {
			reach = min(reach, behind[0].offset-off)
		}
		reach = min(reach, Extent(r.table.Arch, r.object.Slice(off, reach), g.Address+(off-g.Offset)))
	}
	group[0].reach = reach
	return 0
}
