package datatype

import (
	"encoding/binary"
	"errors"

	"stackmill/stages/symbolize/symtab"
)

// Append appends the table's encoding, which Decode reads: its strings (their
// number, their lengths, their bytes; the first is empty) and then columns of
// unsigned varints that refer to them, with differences for what is sorted and
// zigzag for what is signed.
func (t *Table) Append(b []byte) []byte {
	e := &encoder{strings: []string{""}, index: map[string]uint64{"": 0}}
	e.types(t)
	e.count(len(t.Units))
	for _, u := range t.Units {
		e.text(u)
	}
	e.scopes(t)
	e.variables(t)
	e.count(len(t.Returns))
	for _, r := range t.Returns {
		e.text(r.Name)
		e.count(int(r.Type))
	}
	e.count(len(t.Notes))
	for _, n := range t.Notes {
		e.int(n.Offset)
		e.bool(n.Damage)
		e.text(n.Text)
	}
	b = binary.AppendUvarint(b, uint64(len(e.strings)))
	for _, s := range e.strings {
		b = binary.AppendUvarint(b, uint64(len(s)))
	}
	for _, s := range e.strings {
		b = append(b, s...)
	}
	return append(b, e.b...)
}

type encoder struct {
	b       []byte
	strings []string
	index   map[string]uint64
}

func (e *encoder) uint(v uint64) { e.b = binary.AppendUvarint(e.b, v) }
func (e *encoder) int(v int64)   { e.b = binary.AppendVarint(e.b, v) }
func (e *encoder) count(n int)   { e.uint(uint64(n)) }

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

func (e *encoder) types(t *Table) {
	e.count(len(t.Types))
	e.count(len(t.Members))
	for _, x := range t.Types {
		e.count(int(x.Kind))
		e.bool(x.Float)
		e.text(x.Name)
		e.count(int(x.Elem))
		e.int(x.Size)
		e.int(x.Count)
		e.count(int(x.Unit))
		e.count(int(x.Function))
		e.count(int(x.First))
		e.count(int(x.Members))
	}
	for _, m := range t.Members {
		e.text(m.Name)
		e.count(int(m.Type))
		e.int(m.Offset)
		e.count(int(m.Bit))
		e.count(int(m.Bits))
		e.bool(m.Base)
	}
}

func (e *encoder) scopes(t *Table) {
	e.count(len(t.Scopes))
	for _, s := range t.Scopes {
		e.count(int(s.Parent))
		e.count(int(s.Function))
		e.text(s.Name)
		e.bool(s.Linked)
		e.count(int(s.Unit))
		e.count(int(s.Type))
		e.count(int(s.First))
		e.count(int(s.Variables))
		e.places(s.FrameBase)
	}
	e.count(len(t.Ranges))
	var last uint64
	for _, r := range t.Ranges {
		e.uint(r.Low - last)
		e.uint(r.High - r.Low)
		e.count(int(r.Scope))
		last = r.Low
	}
}

func (e *encoder) places(list []Place) {
	e.count(len(list))
	for _, p := range list {
		e.uint(p.Low)
		e.uint(p.High - p.Low)
		e.count(int(p.Kind))
		e.int(int64(p.Register))
		e.int(p.Offset)
		e.int(p.Piece)
		e.int(p.PieceSize)
	}
}

func (e *encoder) variables(t *Table) {
	e.places(t.Places)
	e.count(len(t.Variables))
	for _, v := range t.Variables {
		e.text(v.Name)
		e.count(int(v.Type))
		e.count(int(v.Unit))
		e.count(int(v.Function))
		e.bool(v.External)
		e.uint(v.Address)
		e.int(v.Size)
		e.count(int(v.First))
		e.count(int(v.Places))
	}
	for _, list := range [][]int32{t.Globals, t.Threads} {
		e.count(len(list))
		for _, v := range list {
			e.count(int(v))
		}
	}
}

// ErrEncoding says that bytes are not what Append makes.
var ErrEncoding = errors.New("damaged table of types and variables")

// Decode reads an encoding. What it returns can be used without further checks.
func Decode(b []byte) (*Table, error) {
	d := &decoder{b: b}
	d.readStrings()
	t := &Table{}
	d.types(t)
	t.Units = slice[string](d.count())
	for i := range t.Units {
		t.Units[i] = d.text()
	}
	d.scopes(t)
	d.variables(t)
	t.Returns = slice[Returned](d.count())
	for i := range t.Returns {
		t.Returns[i] = Returned{Name: d.text(), Type: d.below(len(t.Types))}
	}
	t.Notes = slice[symtab.Note](d.count())
	for i := range t.Notes {
		t.Notes[i] = symtab.Note{Offset: d.int(), Damage: d.below(2) == 1, Text: d.text()}
	}
	if d.bad || len(d.b) > 0 || !t.valid() {
		return nil, ErrEncoding
	}
	t.Index()
	return t, nil
}

// valid checks the numbers that were read before what they refer to.
func (t *Table) valid() bool {
	if len(t.Types) == 0 || len(t.Units) == 0 || len(t.Scopes) == 0 {
		return false
	}
	for i := range t.Types {
		x := &t.Types[i]
		if int(x.Unit) >= len(t.Units) || int(x.Function) >= len(t.Scopes) {
			return false
		}
	}
	for i := range t.Scopes {
		s := &t.Scopes[i]
		if int(s.Unit) >= len(t.Units) || int(s.Function) >= len(t.Scopes) || int(s.First)+int(s.Variables) > len(t.Variables) {
			return false
		}
	}
	return true
}

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

// number reads a number that is checked later.
func (d *decoder) number() int32 { return d.below(1 << 30) }

func (d *decoder) text() string {
	if i := d.below(len(d.strings)); !d.bad {
		return d.strings[i]
	}
	return ""
}

func slice[T any](n int) []T {
	if n == 0 {
		return nil
	}
	return make([]T, n)
}

func (d *decoder) readStrings() {
	lengths := slice[int](d.count())
	sum := 0
	for i := range lengths {
		if lengths[i] = int(d.below(1 << 30)); lengths[i] > len(d.b) || sum > len(d.b) {
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

func (d *decoder) types(t *Table) {
	types, members := d.count(), d.count()
	t.Types, t.Members = slice[Type](types), slice[Member](members)
	for i := range t.Types {
		x := &t.Types[i]
		x.Kind, x.Float, x.Name = Kind(d.below(int(Unspecified)+1)), d.below(2) == 1, d.text()
		x.Elem = d.below(max(i, 1)) // or else a type could consist of itself
		x.Size, x.Count = d.int(), d.int()
		x.Unit, x.Function = d.number(), d.number()
		x.First = d.below(members + 1)
		x.Members = d.below(members - int(x.First) + 1)
	}
	for i := range t.Members {
		t.Members[i] = Member{Name: d.text(), Type: d.below(types), Offset: d.int(), Bit: d.number(), Bits: d.number(), Base: d.below(2) == 1}
	}
}

func (d *decoder) scopes(t *Table) {
	t.Scopes = slice[Scope](d.count())
	for i := range t.Scopes {
		s := &t.Scopes[i]
		s.Parent, s.Function = d.below(max(i, 1)), d.number()
		s.Name, s.Linked = d.text(), d.below(2) == 1
		s.Unit, s.Type = d.number(), d.below(len(t.Types))
		s.First, s.Variables = d.number(), d.number()
		s.FrameBase = d.places()
	}
	t.Ranges = slice[Range](d.count())
	var last uint64
	for i := range t.Ranges {
		low := last + d.uint()
		t.Ranges[i] = Range{Low: low, High: low + d.uint(), Scope: d.below(len(t.Scopes))}
		last = low
	}
}

func (d *decoder) places() []Place {
	list := slice[Place](d.count())
	for i := range list {
		p := &list[i]
		p.Low = d.uint()
		p.High = p.Low + d.uint()
		p.Kind, p.Register = PlaceKind(d.below(int(PointedFrame)+1)), int16(d.int())
		p.Offset, p.Piece, p.PieceSize = d.int(), d.int(), d.int()
	}
	return list
}

func (d *decoder) variables(t *Table) {
	t.Places = d.places()
	t.Variables = slice[Variable](d.count())
	for i := range t.Variables {
		v := &t.Variables[i]
		v.Name, v.Type, v.Unit = d.text(), d.below(len(t.Types)), d.below(len(t.Units))
		v.Function, v.External = d.below(len(t.Scopes)), d.below(2) == 1
		v.Address, v.Size = d.uint(), d.int()
		v.First = d.below(len(t.Places) + 1)
		v.Places = d.below(len(t.Places) - int(v.First) + 1)
	}
	for _, list := range []*[]int32{&t.Globals, &t.Threads} {
		*list = slice[int32](d.count())
		for i := range *list {
			(*list)[i] = d.below(len(t.Variables))
		}
	}
}
