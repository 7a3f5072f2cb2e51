package main

import (
	"bytes"
	"compress/zlib"
	"slices"
	"strings"
)

// elfMutations damage load objects: headers, symbols and notes.
var elfMutations = []mutation{
	{"elf-header", onELF(elfHeader)},
	{"elf-program", onELF(programHeader)},
	{"elf-section", onELF(sectionHeader)},
	{"elf-overlap", onELF(overlapSections)},
	{"elf-compressed", onELF(compressedSection)},
	{"elf-symbol", onELF(symbolField)},
	{"elf-symbols-many", onELF(manySymbols)},
	{"elf-name", onELF(symbolName)},
	{"elf-note", onELF(noteBytes)},
	{"elf-bits", onELF(elfBits)},
	{"elf-zeroed", onELF(elfZeroed)},
}

func onELF(do func(*damage, *elfFile) bool) func(*damage) bool {
	return func(d *damage) bool {
		if len(d.rec.base.objects) == 0 {
			return false
		}
		name, data := d.read(d.rec.base.objects...)
		f := parseELF(data)
		if f == nil || !do(d, f) {
			return false
		}
		d.words[len(d.words)-1] = name + ": " + d.words[len(d.words)-1]
		d.write(name, f.data)
		return true
	}
}

// done records how a load object was damaged. Only stacks that are unwound with the load object may
// differ.
func (d *damage) done(format string, args ...any) bool {
	if d.rec.base.dumps {
		return d.did("call frame information", 0, format, args...)
	}
	return d.did("", 0, format, args...)
}

func elfHeader(d *damage, f *elfFile) bool {
	x, v := pick(d, elfHeaderFields), d.absurd()
	putField(f.data, x, v)
	return d.done("%s in the header is %#x", x.name, v)
}

func programHeader(d *damage, f *elfFile) bool {
	off, n := int(le.Uint64(f.data[32:])), int(le.Uint16(f.data[56:]))
	if n == 0 {
		return false
	}
	k := d.IntN(n)
	x, v := pick(d, programFields), d.absurd()
	putField(f.data[off+56*k:], x, v)
	return d.done("%s of program header %d is %#x", x.name, k, v)
}

func sectionHeader(d *damage, f *elfFile) bool {
	if len(f.sections) == 0 {
		return false
	}
	s := pick(d, f.sections)
	x, v := pick(d, sectionFields), d.absurd()
	if d.IntN(3) == 0 { // a value that contradicts another section or reaches the end of the file
		v = pick(d, []uint64{uint64(len(f.data)), uint64(len(f.data) - 1), uint64(pick(d, f.sections).off), uint64(pick(d, f.sections).size)})
	}
	putField(f.data[s.header:], x, v)
	return d.done("%s of section %q is %#x", x.name, s.name, v)
}

// overlapSections gives a section the position of another one.
func overlapSections(d *damage, f *elfFile) bool {
	if len(f.sections) < 3 {
		return false
	}
	a, b := pick(d, f.sections), pick(d, f.sections)
	copy(f.data[a.header+16:a.header+40], f.data[b.header+16:b.header+40])
	return d.done("section %q lies over %q", a.name, b.name)
}

const compressed = 1 << 11 // SHF_COMPRESSED

// compressedSection marks a section as compressed, with a wrong size.
func compressedSection(d *damage, f *elfFile) bool {
	list := f.of(".debug_info", ".debug_abbrev", ".debug_line", ".debug_str", ".symtab", ".strtab", ".eh_frame", ".debug_rnglists", ".debug_ranges")
	if len(list) == 0 {
		return false
	}
	s := pick(d, list)
	content := f.content(s)
	size, kind := pick(d, []uint64{uint64(len(content)), 0, 1, uint64(len(content)) - 1, uint64(len(content)) + 1, 1 << 30, 1 << 40, ^uint64(0)}), pick(d, []uint32{1, 1, 1, 2, 3, 0})
	if d.IntN(8) == 0 {
		content = make([]byte, 256<<20)
		size = uint64(len(content))
	}
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, err := w.Write(content)
	if d.err = err; err != nil || w.Close() != nil {
		return false
	}
	out := le.AppendUint32(le.AppendUint32(nil, kind), 0)
	out = append(le.AppendUint64(le.AppendUint64(out, size), 1), packed.Bytes()...)
	if d.IntN(4) == 0 {
		out = out[:d.IntN(len(out))]
	}
	f.move(s, out)
	le.PutUint64(f.data[s.header+8:], le.Uint64(f.data[s.header+8:])|compressed)
	return d.done("section %q is compressed, method %d, %d bytes of %d, and says %d", s.name, kind, len(out), len(content), size)
}

// symbolFields are the fields of a symbol.
var symbolFields = []sampleField{{"name", 0, 4}, {"info", 4, 1}, {"visibility", 5, 1}, {"section", 6, 2}, {"value", 8, 8}, {"size", 16, 8}}

func symbolField(d *damage, f *elfFile) bool {
	list := f.of(".symtab", ".dynsym")
	if len(list) == 0 {
		return false
	}
	s := pick(d, list)
	n := 1 + d.IntN(20)
	for range n {
		at := s.off + 24*d.IntN(s.size/24)
		putField(f.data[at:], pick(d, symbolFields), d.absurd())
	}
	return d.done("%d fields of symbols in %q are others", n, s.name)
}

// manySymbols makes the symbol table very large by repeating its entries.
func manySymbols(d *damage, f *elfFile) bool {
	list := f.of(".symtab")
	if len(list) == 0 {
		return false
	}
	s := list[0]
	content := bytes.Clone(f.content(s))
	content = slices.Concat(content, bytes.Repeat(content, max(500_000*24/len(content), 1)))
	f.move(s, content)
	return d.done("%q has %d symbols, equal ones", s.name, len(content)/24)
}

var strangeNames = []string{
	"_Z1f" + strings.Repeat("P", 100_000),
	"_Z1f" + strings.Repeat("P", 2_000_000),
	"_Z" + strings.Repeat("N", 50_000) + "1fE",
	"_ZN" + strings.Repeat("1aI", 20_000) + "1f" + strings.Repeat("E", 20_001) + "v",
	"_R" + strings.Repeat("I", 100_000),
	"_ZSt" + strings.Repeat("S_", 1000),
	"_Z1fILi1E" + strings.Repeat("T_", 5000) + "Ev",
	"_D" + strings.Repeat("9", 1000),
	strings.Repeat("x", 1<<20),
	"\x1b[2J\x1b]0;owned\a",
	"a\x00b\xff\xfe",
	"\u202emain",
	"f.constprop.0" + strings.Repeat(".isra.0", 10_000),
	strings.Repeat("$", 1000) + "_._omp_fn.0",
	"",
}

// symbolName gives symbols names that are hard to demangle or to print.
func symbolName(d *damage, f *elfFile) bool {
	list := f.of(".symtab", ".dynsym")
	if len(list) == 0 {
		return false
	}
	s := pick(d, list)
	if s.link >= len(f.sections) {
		return false
	}
	names, name := f.sections[s.link], pick(d, strangeNames)
	content := bytes.Clone(f.content(names))
	at := len(content)
	f.move(names, append(append(content, name...), 0))
	n := 0
	for off := s.off; off+24 <= s.off+s.size; off += 24 {
		if f.data[off+4]&0xf == 2 && (n == 0 || d.IntN(2) == 0) { // symbols of functions
			le.PutUint32(f.data[off:], uint32(at))
			n++
		}
	}
	return n > 0 && d.done("%d functions of %q are called %.20q, %d bytes", n, s.name, name, len(name))
}

func noteBytes(d *damage, f *elfFile) bool {
	list := f.of(".note.gnu.build-id", ".gnu_debuglink", ".note.gnu.property", ".note.ABI-tag")
	if len(list) == 0 {
		return false
	}
	s := pick(d, list)
	at := d.IntN(s.size/4) * 4
	v := d.absurd()
	le.PutUint32(f.content(s)[at:], uint32(v))
	return d.done("%q has %#x at %d", s.name, uint32(v), at)
}

func elfBits(d *damage, f *elfFile) bool {
	n := 1 + d.IntN(30)
	for range n {
		f.data[d.IntN(len(f.data))] ^= 1 << d.IntN(8)
	}
	return d.done("%d bits are flipped", n)
}

func elfZeroed(d *damage, f *elfFile) bool {
	from := d.IntN(len(f.data))
	to := min(from+1+d.IntN(pick(d, []int{64, 4096, 1 << 20})), len(f.data))
	clear(f.data[from:to])
	return d.done("bytes %d to %d are 0", from, to)
}
