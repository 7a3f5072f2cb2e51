package cfi

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"stackmill/stages/loadobject/columns"
	"stackmill/stages/loadobject/isa"
)

// Append appends the table's encoding, which Decode reads: unsigned varints. Sorted values are
// stored as differences, signed values in zigzag form.
func (t *Table) Append(b []byte) []byte {
	uint := func(vs ...uint64) {
		for _, v := range vs {
			b = binary.AppendUvarint(b, v)
		}
	}
	uint(uint64(t.Arch), bit(t.order == binary.ByteOrder(binary.BigEndian)), uint64(t.Bad), t.entry)
	uint(uint64(len(t.segments)))
	for _, s := range t.segments {
		uint(s.Offset, s.Address, s.Size)
	}
	uint(uint64(len(t.programs)))
	for _, p := range t.programs {
		uint(uint64(len(p)))
		b = append(b, p...)
	}
	uint(uint64(len(t.distinct)))
	putRule := func(r rule) {
		uint(uint64(r.kind), uint64(r.reg))
		b = binary.AppendVarint(b, int64(r.value))
	}
	for _, r := range t.distinct {
		putRule(r.cfa)
		uint(uint64(r.returnColumn), bit(r.signal), bit(r.signed), uint64(r.count))
		for _, rule := range t.rules[r.first : r.first+uint32(r.count)] {
			uint(uint64(rule.register))
			putRule(rule.rule)
		}
	}
	uint(uint64(len(t.starts)))
	last := uint32(0)
	for i, s := range t.starts {
		uint(uint64(s-last), uint64(t.rows[i]))
		last = s
	}
	return b
}

// errEncoding is Decode's error for damaged bytes.
var errEncoding = errors.New("damaged table of call frame information")

type decoder struct{ *columns.Reader }

func (d decoder) rule(programs int) rule {
	r := rule{kind: kind(d.Below(int(registerBased) + 1)), reg: uint8(d.Below(NumRegisters))}
	v := d.Int()
	if v != int64(int32(v)) || (r.kind == atExpression || r.kind == isExpression) && (v < 0 || v >= int64(programs)) {
		d.Fail()
	}
	r.value = int32(v)
	return r
}

// Decode reads and checks an encoding.
func Decode(b []byte) (*Table, error) {
	d := decoder{columns.NewNumbers(b)}
	t := &Table{Arch: isa.Arch(d.Below(int(isa.ARM64) + 1)), order: binary.LittleEndian}
	if d.Bool() {
		t.order = binary.BigEndian
	}
	t.Bad, t.entry = int(d.Uint()), d.Uint()
	for range d.Count() {
		t.segments = append(t.segments, Segment{d.Uint(), d.Uint(), d.Uint()})
	}
	for range d.Count() {
		t.programs = append(t.programs, slices.Clone(d.Bytes()))
	}
	t.decodeRows(d)
	n := d.Count()
	t.starts, t.rows = make([]uint32, n), make([]uint32, n)
	last := uint64(0)
	for i := range n {
		if last += d.Uint(); last > math.MaxUint32 {
			return nil, errEncoding
		}
		t.starts[i], t.rows[i] = uint32(last), uint32(d.Below(len(t.distinct)))
	}
	if !d.Whole() {
		return nil, errEncoding
	}
	return t, nil
}

func (t *Table) decodeRows(d decoder) {
	for range d.Count() {
		r := row{cfa: d.rule(len(t.programs)), first: uint32(len(t.rules)), returnColumn: uint8(d.Below(NumRegisters)),
			signal: d.Bool(), signed: d.Bool(), count: uint8(d.Below(NumRegisters + 1))}
		if r.cfa.kind != registerBased && r.cfa.kind != isExpression && len(t.distinct) > 0 {
			d.Fail()
			return
		}
		for range r.count {
			f := registerRule{uint8(d.Below(NumRegisters)), d.rule(len(t.programs))}
			r.hasReturnRule = r.hasReturnRule || f.register == r.returnColumn
			t.rules = append(t.rules, f)
		}
		t.distinct = append(t.distinct, r)
	}
}
