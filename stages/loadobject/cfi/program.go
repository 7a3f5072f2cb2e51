package cfi

import (
	"math"

	"stackmill/stages/loadobject/isa"
)

// state is the row that a program is making.
type state struct {
	cfa    rule
	rules  [NumRegisters]rule
	signal bool
	signed bool
	column uint8
}

// maxRemembered bounds the stack of remembered states; compilers use one or two.
const maxRemembered = 64

// machine runs the instructions of one entry (perf-data 15.4).
type machine struct {
	b            *builder
	c            *cie
	r            reader
	now          state
	remembered   []state
	address, end uint64 // of the function: where the state holds from; its end
	span         *span  // nil: a CIE's program
}

// run runs the program to its end, and adds its rows to the span. It is false
// when an instruction is not understood: nothing is known from there on.
func (m *machine) run(s *span) bool {
	m.span = s
	m.now.column = m.c.returnColumn
	ok := true
	for ok && m.r.left() > 0 && (s == nil || m.address < m.end) {
		ok = m.step() && !m.r.short
	}
	if s == nil {
		return ok
	}
	if !ok {
		m.b.emit(m.b.offsetIn(m.address, s), 0)
	} else if m.address < m.end {
		m.emit()
	}
	s.last = len(m.b.steps)
	return ok
}

func (m *machine) emit() {
	m.b.emit(m.b.offsetIn(m.address, m.span), m.b.intern(&m.now))
}

// advance ends the row at an address.
func (m *machine) advance(to uint64) bool {
	if m.span == nil || to < m.address {
		return false
	}
	if to > m.address {
		m.emit()
	}
	m.address = to
	return true
}

func (m *machine) step() bool {
	op := m.r.u8()
	low := uint64(op & 0x3f)
	switch op & 0xc0 {
	case 0x40:
		return m.advance(m.address + low*uint64(m.c.codeAlign))
	case 0x80:
		return m.set(low, rule{kind: atCFA}, m.factored(m.r.uleb()))
	case 0xc0:
		return m.restore(low)
	}
	switch op {
	case 0x00: // nop
	case 0x01: // set_loc
		to, ok := m.r.pointer(m.c.encoding)
		return ok && m.advance(to)
	case 0x02:
		return m.advance(m.address + uint64(m.r.u8())*uint64(m.c.codeAlign))
	case 0x03:
		return m.advance(m.address + uint64(m.r.u16())*uint64(m.c.codeAlign))
	case 0x04:
		return m.advance(m.address + uint64(m.r.u32())*uint64(m.c.codeAlign))
	case 0x1d: // MIPS_advance_loc8
		return m.advance(m.address + m.r.u64()*uint64(m.c.codeAlign))
	case 0x0a: // remember_state
		if len(m.remembered) == maxRemembered {
			return false
		}
		m.remembered = append(m.remembered, m.now)
	case 0x0b: // restore_state
		n := len(m.remembered) - 1
		if n < 0 {
			return false
		}
		m.now, m.remembered = m.remembered[n], m.remembered[:n]
	case 0x2c, 0x2d: // AARCH64_negate_ra_state, with or without the PC
		if m.b.table.Arch != isa.ARM64 {
			return false
		}
		m.now.signed = !m.now.signed
	case 0x2e: // GNU_args_size
		m.r.uleb()
	case 0x0c, 0x0d, 0x0e, 0x0f, 0x12, 0x13:
		return m.defineCFA(op)
	default:
		return m.define(op)
	}
	return true
}

// defineCFA runs the instructions that set the rule of the CFA.
func (m *machine) defineCFA(op uint8) bool {
	cfa := rule{kind: registerBased, reg: m.now.cfa.reg, value: m.now.cfa.value}
	offset, changed := int64(0), true
	switch op {
	case 0x0c, 0x12: // def_cfa, def_cfa_sf
		reg := m.r.uleb()
		if reg >= NumRegisters {
			return false
		}
		if cfa.reg = uint8(reg); op == 0x0c {
			offset = int64(m.r.uleb())
		} else {
			offset = m.factored(uint64(m.r.sleb()))
		}
	case 0x0d: // def_cfa_register
		reg := m.r.uleb()
		if reg >= NumRegisters || m.now.cfa.kind != registerBased {
			return false
		}
		cfa.reg, changed = uint8(reg), false
	case 0x0e, 0x13: // def_cfa_offset, def_cfa_offset_sf
		if m.now.cfa.kind != registerBased {
			return false
		}
		if op == 0x0e {
			offset = int64(m.r.uleb())
		} else {
			offset = m.factored(uint64(m.r.sleb()))
		}
	case 0x0f: // def_cfa_expression
		n, ok := m.b.program(m.r.block())
		m.now.cfa = rule{kind: isExpression, value: n}
		return ok
	}
	if changed {
		if offset != int64(int32(offset)) {
			return false
		}
		cfa.value = int32(offset)
	}
	m.now.cfa = cfa
	return true
}

// define runs the instructions that set a register's rule.
func (m *machine) define(op uint8) bool {
	var reg uint64
	switch op {
	case 0x05, 0x06, 0x07, 0x08, 0x09, 0x10, 0x11, 0x14, 0x15, 0x16, 0x2f:
		reg = m.r.uleb()
	default:
		return false
	}
	switch op {
	case 0x05: // offset_extended
		return m.set(reg, rule{kind: atCFA}, m.factored(m.r.uleb()))
	case 0x06: // restore_extended
		return m.restore(reg)
	case 0x07: // undefined
		return m.set(reg, rule{kind: undefined}, 0)
	case 0x08: // same_value
		return m.set(reg, rule{kind: same}, 0)
	case 0x09: // register
		other := m.r.uleb()
		return other < NumRegisters && m.set(reg, rule{kind: inRegister, reg: uint8(other)}, 0)
	case 0x11: // offset_extended_sf
		return m.set(reg, rule{kind: atCFA}, m.factored(uint64(m.r.sleb())))
	case 0x14: // val_offset
		return m.set(reg, rule{kind: isCFA}, m.factored(m.r.uleb()))
	case 0x15: // val_offset_sf
		return m.set(reg, rule{kind: isCFA}, m.factored(uint64(m.r.sleb())))
	case 0x2f: // GNU_negative_offset_extended
		return m.set(reg, rule{kind: atCFA}, -m.factored(m.r.uleb()))
	}
	n, ok := m.b.program(m.r.block()) // expression, val_expression
	k := atExpression
	if op == 0x16 {
		k = isExpression
	}
	return ok && m.set(reg, rule{kind: k}, int64(n))
}

// set sets the rule of a register; those that are not followed have none.
func (m *machine) set(reg uint64, r rule, value int64) bool {
	if reg >= NumRegisters {
		return true
	}
	if value < math.MinInt32 || value > math.MaxInt32 {
		return false
	}
	r.value = int32(value)
	m.now.rules[reg] = r
	return true
}

// restore gives a register the rule that the CIE has for it.
func (m *machine) restore(reg uint64) bool {
	if reg < NumRegisters {
		m.now.rules[reg] = m.c.initial.rules[reg]
	}
	return m.span != nil
}

func (m *machine) factored(v uint64) int64 { return int64(v) * m.c.dataAlign }
