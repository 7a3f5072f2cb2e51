package main

import (
	"bytes"
	"math/bits"
)

// dwarfMutations damage DWARF: units, line tables, types and call frame information.
var dwarfMutations = []mutation{
	{"dwarf-unit", onELF(unitHeader)},
	{"dwarf-entry", onELF(entryBytes)},
	{"dwarf-abbrev", onELF(abbreviations)},
	{"dwarf-line-header", onELF(lineHeader)},
	{"dwarf-line-program", onELF(lineProgram)},
	{"dwarf-strings", onELF(debugStrings)},
	{"dwarf-ranges", onELF(ranges)},
	{"dwarf-nested", onELF(nestedEntries)},
	{"dwarf-private", onELF(privateSource)},
	{"cfi-header", onELF(frameHeader)},
	{"cfi-program", onELF(frameProgram)},
}

// chunks splits a DWARF section into its units. Each unit starts with its length.
func chunks(data []byte) (list []span) {
	for o := 0; o+4 <= len(data); {
		n := int(le.Uint32(data[o:])) + 4
		if n <= 4 || o+n > len(data) {
			break
		}
		list = append(list, span{off: o, size: n})
		o += n
	}
	return list
}

// inSection returns a random section with one of the names, and a random unit in it.
func (d *damage) inSection(f *elfFile, names ...string) (s elfSection, unit []byte) {
	list := f.of(names...)
	if len(list) == 0 {
		return s, nil
	}
	s = pick(d, list)
	all := chunks(f.content(s))
	if len(all) == 0 {
		return s, nil
	}
	u := pick(d, all)
	return s, f.content(s)[u.off : u.off+u.size]
}

// scatter overwrites n random bytes of data after the offset from.
func (d *damage) scatter(data []byte, from, n int) bool {
	if from >= len(data) {
		return false
	}
	for range n {
		data[from+d.IntN(len(data)-from)] = byte(d.Uint32())
	}
	return true
}

// unitHeader changes a field of a unit's header: length, version, type, address size or offset of
// abbreviations.
func unitHeader(d *damage, f *elfFile) bool {
	s, u := d.inSection(f, ".debug_info", ".debug_types", ".debug_aranges")
	if len(u) < 12 {
		return false
	}
	x, v := pick(d, []sampleField{{"length", 0, 4}, {"version", 4, 2}, {"type or offset", 6, 1}, {"address size", 7, 1}, {"offset", 8, 4}, {"offset", 6, 4}}), d.absurd()
	putField(u, x, v)
	return d.done("%s of a unit of %q is %#x", x.name, s.name, v)
}

func entryBytes(d *damage, f *elfFile) bool {
	s, u := d.inSection(f, ".debug_info", ".debug_types")
	n := 1 + d.IntN(50)
	return u != nil && d.scatter(u, 11, n) && d.done("%d bytes of entries of %q are others", n, s.name)
}

func abbreviations(d *damage, f *elfFile) bool {
	list := f.of(".debug_abbrev")
	if len(list) == 0 {
		return false
	}
	n := 1 + d.IntN(20)
	d.scatter(f.content(list[0]), 0, n)
	return d.done("%d bytes of the abbreviations are others", n)
}

// lineHeader changes a random field in the header of a line table.
func lineHeader(d *damage, f *elfFile) bool {
	s, u := d.inSection(f, ".debug_line")
	if len(u) < 40 {
		return false
	}
	at, v := d.IntN(40), d.absurd()
	putField(u, sampleField{"", at, min(1<<d.IntN(3), 40-at)}, v)
	return d.done("byte %d of the header of a line table of %q is %#x", at, s.name, v)
}

func lineProgram(d *damage, f *elfFile) bool {
	s, u := d.inSection(f, ".debug_line")
	n := 1 + d.IntN(50)
	return u != nil && d.scatter(u, min(40, len(u)-1), n) && d.done("%d bytes of a line table of %q are others", n, s.name)
}

func debugStrings(d *damage, f *elfFile) bool {
	list := f.of(".debug_str", ".debug_line_str", ".debug_str_offsets")
	if len(list) == 0 {
		return false
	}
	s := pick(d, list)
	content := f.content(s)
	for i := range content {
		if content[i] == 0 && d.IntN(2) == 0 {
			content[i] = pick(d, []byte{'x', '/', 0x1b, 0xff, '\n'})
		}
	}
	return d.done("half of the ends of strings in %q are gone", s.name)
}

func ranges(d *damage, f *elfFile) bool {
	list := f.of(".debug_ranges", ".debug_rnglists", ".debug_aranges", ".debug_loc", ".debug_loclists", ".debug_addr")
	if len(list) == 0 {
		return false
	}
	s := pick(d, list)
	n := 1 + d.IntN(50)
	d.scatter(f.content(s), 0, n)
	return d.done("%d bytes of %q are others", n, s.name)
}

// nestedEntries makes a unit in which each entry is nested in the entry before, very deeply.
func nestedEntries(d *damage, f *elfFile) bool {
	info, abbrev := f.of(".debug_info"), f.of(".debug_abbrev")
	if len(info) == 0 || len(abbrev) == 0 {
		return false
	}
	depth, tag := 200_000, pick(d, []byte{0x0b, 0x39, 0x1d, 0x13, 0x2e}) // block, namespace, inlined, structure, subprogram
	f.move(abbrev[0], []byte{1, 0x11, 1, 0, 0, 2, tag, 1, 0, 0, 0})
	unit := append([]byte{0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8, 1}, bytes.Repeat([]byte{2}, depth)...)
	unit = append(unit, make([]byte, depth+1)...)
	le.PutUint32(unit, uint32(len(unit)-4))
	f.move(info[0], unit)
	return d.done("entries with tag %#x are nested %d deep", tag, depth)
}

// privateSource renames source files to one that only root may read.
func privateSource(d *damage, f *elfFile) bool {
	list := f.of(".debug_str", ".debug_line_str", ".debug_line")
	if len(list) == 0 {
		return false
	}
	n := 0
	for _, s := range list {
		content := f.content(s)
		for at := 0; ; {
			i := bytes.Index(content[at:], []byte(".c"))
			if i < 0 {
				break
			}
			end := at + i + 2
			start := bytes.LastIndexByte(content[:end], 0) + 1
			copy(content[start:end], "/etc/shadow"[:min(11, end-start)])
			at = end
			n++
		}
	}
	return n > 0 && d.done("%d source files have names like /etc/shadow", n)
}

// frameHeader damages the header of an entry in call frame information.
func frameHeader(d *damage, f *elfFile) bool {
	s, u := d.inSection(f, ".eh_frame", ".debug_frame")
	if len(u) < 12 {
		return false
	}
	at, n := d.IntN(min(len(u), 24)), 1<<d.IntN(bits.Len(8))
	v := d.absurd()
	putField(u, sampleField{"", at, min(n, len(u)-at)}, v)
	return d.done("byte %d of an entry of %q is %#x", at, s.name, v)
}

func frameProgram(d *damage, f *elfFile) bool {
	s, u := d.inSection(f, ".eh_frame", ".debug_frame")
	n := 1 + d.IntN(10)
	return len(u) > 16 && d.scatter(u, 12, n) && d.done("%d bytes of an entry of %q are others", n, s.name)
}
