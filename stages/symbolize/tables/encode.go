package tables

import (
	"encoding/binary"
	"errors"

	"stackmill/stages/symbolize/insn"
	"stackmill/stages/symbolize/symtab"
)

// The body is a list of strings (their number, their lengths, their bytes; the
// first is empty) and then columns of unsigned varints that refer to them.
// Offsets are differences to the one before, signed numbers are zigzag.

// encoder writes columns.
type encoder struct {
	b       []byte
	strings []string
	index   map[string]uint64
}

func (e *encoder) uint(v uint64) { e.b = binary.AppendUvarint(e.b, v) }
func (e *encoder) int(v int64)   { e.b = binary.AppendVarint(e.b, v) }

func (e *encoder) bool(v bool) {
	if v {
		e.uint(1)
	} else {
		e.uint(0)
	}
}

func (e *encoder) text(s string) {
	i, ok := e.index[s]
	if !ok {
		i = uint64(len(e.strings))
		e.index[s] = i
		e.strings = append(e.strings, s)
	}
	e.uint(i)
}

func (e *encoder) texts(list []string) {
	e.uint(uint64(len(list)))
	for _, s := range list {
		e.text(s)
	}
}

// encode returns the content of a table's cache file.
func encode(key string, missing []string, t *symtab.Table) []byte {
	e := &encoder{strings: []string{""}, index: map[string]uint64{"": 0}}
	e.text(key)
	e.texts(missing)
	e.text(t.BuildID)
	e.texts(t.Files)
	e.uint(uint64(t.Checksum))
	e.uint(uint64(t.Arch))
	e.uint(uint64(len(t.Notes)))
	for _, n := range t.Notes {
		e.int(n.Offset)
		e.bool(n.Damage)
		e.text(n.Text)
	}
	e.uint(uint64(len(t.Segments)))
	for _, s := range t.Segments {
		for _, v := range []uint64{s.Offset, s.Address, s.FileSize, s.MemSize, uint64(s.Flags)} {
			e.uint(v)
		}
	}
	e.uint(uint64(len(t.Regions)))
	for _, r := range t.Regions {
		e.text(r.Name)
		for _, v := range []uint64{r.Offset, r.Address, r.Size} {
			e.uint(v)
		}
	}
	e.uint(uint64(len(t.Modules)))
	for _, m := range t.Modules {
		e.text(m.Name)
		e.text(m.Language)
	}
	e.functions(t.Functions)
	e.lines(&t.Lines)
	e.inlines(&t.Inlines)
	e.slots(t.Slots)

	var head encoder
	head.uint(uint64(len(e.strings)))
	for _, s := range e.strings {
		head.uint(uint64(len(s)))
	}
	for _, s := range e.strings {
		head.b = append(head.b, s...)
	}
	return seal(append(head.b, e.b...))
}

func (e *encoder) functions(list []symtab.Function) {
	e.uint(uint64(len(list)))
	var last symtab.Function
	for _, f := range list {
		e.uint(f.Offset - last.Offset)
		e.int(int64((f.Address - f.Offset) - (last.Address - last.Offset)))
		e.uint(f.Size)
		e.text(f.Linkage)
		e.text(f.Aliases)
		e.text(f.Name)
		e.text(f.GprofngName)
		e.text(f.PerfName)
		e.text(string(f.Kind))
		e.uint(uint64(f.Module))
		last = f
	}
}

func (e *encoder) lines(l *symtab.Lines) {
	e.uint(uint64(len(l.Offsets)))
	var last uint64
	for _, v := range l.Offsets {
		e.uint(v - last)
		last = v
	}
	for _, v := range l.File {
		e.uint(uint64(v + 1))
	}
	var line int32
	for _, v := range l.Line {
		e.int(int64(v - line))
		line = v
	}
}

var errCache = errors.New("damaged cache file")

// decoder reads columns. After a number that cannot be right it is bad, and
// everything it returns is empty.
type decoder struct {
	b       []byte
	strings []string
	bad     bool
}

func (d *decoder) fail() uint64 {
	d.b, d.bad = nil, true
	return 0
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		return d.fail()
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		return int64(d.fail())
	}
	d.b = d.b[n:]
	return v
}

// count reads a number of things that take a byte each at least.
func (d *decoder) count() int {
	n := d.uint()
	if n > uint64(len(d.b)) {
		n = d.fail()
	}
	return int(n)
}

// below reads a number less than n.
func (d *decoder) below(n int) int32 {
	v := d.uint()
	if v >= uint64(n) {
		v = d.fail()
	}
	return int32(v)
}

func (d *decoder) text() string {
	if i := d.below(len(d.strings)); !d.bad {
		return d.strings[i]
	}
	return ""
}

func (d *decoder) texts() []string {
	list := slice[string](d.count())
	for i := range list {
		list[i] = d.text()
	}
	return list
}

// slice returns nil for 0, as in a table made from the files.
func slice[T any](n int) []T {
	if n == 0 {
		return nil
	}
	return make([]T, n)
}

// decode reads a cache file.
func decode(b []byte) (key string, missing []string, t *symtab.Table, err error) {
	body, ok := unseal(b)
	if !ok {
		return "", nil, nil, errCache
	}
	d := &decoder{b: body}
	d.readStrings()
	key, missing = d.text(), d.texts()
	t = &symtab.Table{BuildID: d.text(), Files: d.texts(), Checksum: uint32(d.uint()), Arch: insn.Arch(d.uint())}
	t.Notes = slice[symtab.Note](d.count())
	for i := range t.Notes {
		t.Notes[i] = symtab.Note{Offset: d.int(), Damage: d.below(2) == 1, Text: d.text()}
	}
	t.Segments = slice[symtab.Segment](d.count())
	for i := range t.Segments {
		t.Segments[i] = symtab.Segment{Offset: d.uint(), Address: d.uint(), FileSize: d.uint(), MemSize: d.uint(), Flags: uint32(d.uint())}
	}
	t.Regions = slice[symtab.Region](d.count())
	for i := range t.Regions {
		t.Regions[i] = symtab.Region{Name: d.text(), Offset: d.uint(), Address: d.uint(), Size: d.uint()}
	}
	t.Modules = slice[symtab.Module](d.count())
	for i := range t.Modules {
		t.Modules[i] = symtab.Module{Name: d.text(), Language: d.text()}
	}
	d.functions(t)
	d.lines(t)
	d.inlines(t)
	t.Slots = d.slots()
	if d.bad || len(d.b) > 0 || len(t.Modules) == 0 {
		return "", nil, nil, errCache
	}
	return key, missing, t, nil
}

func (d *decoder) readStrings() {
	lengths := slice[int](d.count())
	sum := 0
	for i := range lengths {
		if lengths[i] = int(d.below(1 << 31)); lengths[i] > len(d.b) || sum > len(d.b) {
			d.fail()
			return
		}
		sum += lengths[i]
	}
	if sum > len(d.b) {
		d.fail()
		return
	}
	all := string(d.b[:sum]) // one allocation for all strings
	d.b = d.b[sum:]
	d.strings = slice[string](len(lengths))
	for i, n := range lengths {
		d.strings[i], all = all[:n], all[n:]
	}
}

func (d *decoder) functions(t *symtab.Table) {
	t.Functions = slice[symtab.Function](d.count())
	var last symtab.Function
	for i := range t.Functions {
		f := &t.Functions[i]
		f.Offset = last.Offset + d.uint()
		f.Address = f.Offset + (last.Address - last.Offset) + uint64(d.int())
		f.Size = d.uint()
		f.Linkage, f.Aliases, f.Name = d.text(), d.text(), d.text()
		f.GprofngName, f.PerfName, f.Kind = d.text(), d.text(), symtab.Kind(d.text())
		f.Module = d.below(len(t.Modules))
		last = *f
	}
}

func (d *decoder) lines(t *symtab.Table) {
	n := d.count()
	l := &t.Lines
	l.Offsets, l.File, l.Line = slice[uint64](n), slice[int32](n), slice[int32](n)
	var last uint64
	for i := range l.Offsets {
		last += d.uint()
		l.Offsets[i] = last
	}
	for i := range l.File {
		l.File[i] = d.below(len(t.Files)+1) - 1
	}
	var line int32
	for i := range l.Line {
		line += int32(d.int())
		l.Line[i] = line
	}
}
