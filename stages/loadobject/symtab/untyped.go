package symtab

import (
	debugelf "debug/elf"
	"slices"
	"strings"

	"stackmill/stages/loadobject/elf"
)

// Hand-written assembler need not say that a symbol is a function. One without a
// type that stands in executable text names the code from there on, unless
// another function covers it, or the symbol is a marker (S3).

// markers begin the names of symbols without a type that assemblers and
// compilers put into text for themselves: local labels of gas and nasm, and the
// notes that annobin and gcc 2 leave at the start of a unit's text.
var markers = []string{".L", "..@", "$L", ".annobin_", "gcc_compiled.", "gcc2_compiled."}

// isMarker reports whether a symbol without a type names no function.
func isMarker(name string) bool {
	for _, m := range markers {
		if strings.HasPrefix(name, m) {
			return true
		}
	}
	return isMapping(name) || isNumbered(name)
}

// isGoMarker reports whether a function symbol of the Go linker only marks where text begins or ends.
func isGoMarker(name string) bool {
	return name == "runtime.text" || name == "runtime.etext" || strings.HasPrefix(name, "runtime.text.")
}

// isMapping reports whether a symbol separates instructions from data: `$a`, `$t`,
// `$x` and `$d`, alone or with a suffix after a dot, and RISC-V's `$xrv64i2p1`.
func isMapping(name string) bool {
	if len(name) < 2 || name[0] != '$' || strings.IndexByte("atxd", name[1]) < 0 {
		return false
	}
	return len(name) == 2 || name[2] == '.' || strings.HasPrefix(name, "$xrv")
}

// isNumbered reports whether a symbol is what gas makes of `1:` and `1$:` when it
// keeps local labels: L, the number, a control character.
func isNumbered(name string) bool {
	digits, ok := strings.CutPrefix(name, "L")
	rest := strings.TrimLeft(digits, "0123456789")
	return ok && rest != digits && rest != "" && (rest[0] == 1 || rest[0] == 2)
}

// begins reports whether a symbol without a size can be the start of code: one
// that stands at the end of its section, as the linker's `etext` does, belongs to
// what is before it, whatever section comes next.
func begins(f *elf.File, value uint64, section debugelf.SectionIndex) bool {
	s := f.ByIndex(int(section))
	return f.Type == debugelf.ET_REL || s == nil || value-s.Address < s.Size
}

// settle sorts symbols by their places, drops those without a type that are no
// functions, and finds out how far those without a size reach at most.
func (r *reader) settle(list []symbol) []symbol {
	slices.SortFunc(list, inOrder)
	starts := frameStarts(r.object, r.addresses)
	kept := list[:0]
	var before []symbol // the functions of the last place
	var end uint64      // to which they cover the text; their start if they have no size
	for len(list) > 0 {
		group := place(list)
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

// place returns the first symbols of a sorted list that are at one place.
func place(list []symbol) []symbol {
	n := 1
	for n < len(list) && list[n].offset == list[0].offset {
		n++
	}
	return list[:n]
}

// isLabel reports whether a symbol is a label in the function before it: by
// nasm's `f.loop`, or because that function, which has no size, goes on into it.
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

// limit returns the size of the functions of one place, 0 if no symbol has one;
// then it stores where they end at the latest: where call frame information begins
// a function after them, or, where the symbols of functions that are not exported
// are gone, where their own instructions end.
func (r *reader) limit(group []symbol, starts []uint64, behind []symbol) (size uint64) {
	for _, s := range group {
		size = max(size, s.size)
	}
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
		reach = min(reach, extent(r.table.Arch, r.object.Slice(off, reach), g.Address+(off-g.Offset)))
	}
	group[0].reach = reach
	return 0
}
