package cfi

import (
	"encoding/binary"
	"errors"

	"stackmill/stages/loadobject/isa"
)

// Append appends the table's encoding, which Decode reads: unsigned varints,
// with differences for what is sorted and zigzag for what is signed.
func (t *Table) Append(b []byte) []byte {
	uint := func(vs ...uint64) {
		for _, v := range vs {
			b = binary.AppendUvarint(b, v)
		}
	}
	uint(uint64(t.Arch), truth(t.order == binary.ByteOrder(binary.BigEndian)), uint64(t.Bad), t.entry)
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
		uint(uint64(r.returnColumn), truth(r.signal), truth(r.signed), uint64(r.count))
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

func truth(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

// errEncoding says that bytes are not what Append makes.
var errEncoding = errors.New("damaged table of call frame information")

// decoder reads an encoding.
type decoder struct {
	b   []byte
	bad bool
}

// uint reads a number that must be below a limit.
func (d *decoder) uint(limit uint64) uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || v >= limit {
		d.b, d.bad = nil, true
		return 0
	}
	d.b = d.b[n:]
	return v
}

// count reads the number of things that take a byte each at least.
func (d *decoder) count() int { return int(d.uint(uint64(len(d.b)) + 1)) }

func (d *decoder) rule(programs int) rule {
	r := rule{kind: kind(d.uint(uint64(registerBased) + 1)), reg: uint8(d.uint(NumRegisters))}
	v, n := binary.Varint(d.b)
	if n <= 0 || v != int64(int32(v)) || (r.kind == atExpression || r.kind == isExpression) && (v < 0 || v >= int64(programs)) {
		d.b, d.bad = nil, true
		return r
	}
	d.b, r.value = d.b[n:], int32(v)
	return r
}

// Decode reads what Append made.
func Decode(b []byte) (*Table, error) {
	const any = ^uint64(0)
	d := decoder{b: b}
	t := &Table{Arch: isa.Arch(d.uint(uint64(isa.ARM64) + 1)), order: binary.LittleEndian}
	if d.uint(2) == 1 {
		t.order = binary.BigEndian
	}
	t.Bad, t.entry = int(d.uint(1<<32)), d.uint(any)
	for range d.count() {
		t.segments = append(t.segments, Segment{d.uint(any), d.uint(any), d.uint(any)})
	}
	for range d.count() {
		n := d.count()
		if d.bad || n > len(d.b) {
			return nil, errEncoding
		}
		t.programs = append(t.programs, append([]byte(nil), d.b[:n]...))
		d.b = d.b[n:]
	}
	t.decodeRows(&d)
	n := d.count()
	t.starts, t.rows = make([]uint32, n), make([]uint32, n)
	last := uint64(0)
	for i := range n {
		last += d.uint(1 << 32)
		t.starts[i], t.rows[i] = uint32(last), uint32(d.uint(uint64(len(t.distinct))))
	}
	if d.bad || len(d.b) > 0 || last >= 1<<32 {
		return nil, errEncoding
	}
	return t, nil
}

func (t *Table) decodeRows(d *decoder) {
	for range d.count() {
		if d.bad {
			return
		}
		r := row{cfa: d.rule(len(t.programs)), first: uint32(len(t.rules)), returnColumn: uint8(d.uint(NumRegisters)),
			signal: d.uint(2) == 1, signed: d.uint(2) == 1, count: uint8(d.uint(NumRegisters + 1))}
		if r.cfa.kind != registerBased && r.cfa.kind != isExpression && len(t.distinct) > 0 {
			d.b, d.bad = nil, true
		}
		for range r.count {
			f := ruleFor{uint8(d.uint(NumRegisters)), d.rule(len(t.programs))}
			r.returns = r.returns || f.register == r.returnColumn
			t.rules = append(t.rules, f)
		}
		t.distinct = append(t.distinct, r)
	}
}
