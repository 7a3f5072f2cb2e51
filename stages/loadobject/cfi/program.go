package cfi

import (
	"math"

	"stackmill/stages/loadobject/isa"
)

// state has the rules that call frame instructions have set so far.
type state struct {
	cfa          rule
	rules        [NumRegisters]rule
	signal       bool
	signed       bool
	returnColumn uint8
}

// maxRemembered bounds the stack of remembered states; compilers use one or two.
const maxRemembered = 64

// machine runs the call frame instructions of a CIE or FDE (perf-data 15.4).
type machine struct {
	b            *builder
	c            *cie
	r            reader
	now          state
	remembered   []state
	address, end uint64     // start of the current row, and end of the function
	code         *codeRange // nil for a CIE
}

// run runs all instructions, and stores the rows of code range s; s is nil for a CIE. It returns
// false at an invalid instruction: the code from there on has no rules.
func (m *machine) run(s *codeRange) bool {
	m.code = s
	m.now.returnColumn = m.c.returnColumn
	ok := true
	for ok && len(m.r.Rest) > 0 && (s == nil || m.address < m.end) {
		ok = m.step() && !m.r.Short
	}
	if s == nil {
		return ok
	}
	if !ok {
		m.b.emit(m.b.offsetIn(m.address, s), 0)
	} else if m.address < m.end {
		m.emit()
	}
	s.last = len(m.b.starts)
	return ok
}

func (m *machine) emit() {
	m.b.emit(m.b.offsetIn(m.address, m.code), m.b.intern(&m.now))
}

// advance ends the current row at an address, where the next one begins.
func (m *machine) advance(to uint64) bool {
	if m.code == nil || to < m.address {
		return false
	}
	if to > m.address {
		m.emit()
	}
	m.address = to
	return true
}

// advanceBy ends the current row after n units of code alignment.
func (m *machine) advanceBy(n uint64) bool { return m.advance(m.address + n*uint64(m.c.codeAlign)) }

// step runs an instruction.
func (m *machine) step() bool {
	op := m.r.U8()
	low := uint64(op &^ cfaPrimary)
	switch op & cfaPrimary {
	case cfaAdvanceLoc:
		return m.advanceBy(low)
	case cfaOffset:
		return m.set(low, rule{kind: atCFA}, m.factored(m.r.ULEB()))
	case cfaRestore:
		return m.restore(low)
	}
	switch op {
	case cfaNop:
		return true
	case cfaSetLoc:
		to, ok := m.r.pointer(m.c.encoding)
		return ok && m.advance(to)
	case cfaAdvanceLoc1:
		return m.advanceBy(uint64(m.r.U8()))
	case cfaAdvanceLoc2:
		return m.advanceBy(uint64(m.r.U16()))
	case cfaAdvanceLoc4:
		return m.advanceBy(uint64(m.r.U32()))
	case cfaMIPSAdvanceLoc8:
		return m.advanceBy(m.r.U64())
	case cfaRememberState:
		return m.rememberState()
	case cfaRestoreState:
		return m.restoreState()
	case cfaAArch64NegateRAState, cfaAArch64NegateRAStateWithPC:
		m.now.signed = !m.now.signed
		return m.b.table.Arch == isa.ARM64
	case cfaGNUArgsSize:
		m.r.ULEB()
		return true
	case cfaDefCFAExpression:
		n, ok := m.b.internExpression(m.r.Block())
		m.now.cfa = rule{kind: isExpression, value: n}
		return ok
	case cfaDefCFA, cfaDefCFASF, cfaDefCFARegister, cfaDefCFAOffset, cfaDefCFAOffsetSF:
		return m.defineCFA(op)
	}
	return m.define(op)
}

func (m *machine) rememberState() bool {
	if len(m.remembered) == maxRemembered {
		return false
	}
	m.remembered = append(m.remembered, m.now)
	return true
}

func (m *machine) restoreState() bool {
	n := len(m.remembered) - 1
	if n < 0 {
		return false
	}
	m.now, m.remembered = m.remembered[n], m.remembered[:n]
	return true
}

// defineCFA runs the instructions that set the CFA's register or offset, or both.
func (m *machine) defineCFA(op uint8) bool {
	cfa := rule{kind: registerBased, reg: m.now.cfa.reg, value: m.now.cfa.value}
	switch op {
	case cfaDefCFA, cfaDefCFASF, cfaDefCFARegister:
		reg := m.r.ULEB()
		if reg >= NumRegisters {
			return false
		}
		cfa.reg = uint8(reg)
	}
	if whole := op == cfaDefCFA || op == cfaDefCFASF; !whole && m.now.cfa.kind != registerBased {
		return false
	}
	if op != cfaDefCFARegister {
		var offset int64
		if op == cfaDefCFASF || op == cfaDefCFAOffsetSF {
			offset = m.factored(uint64(m.r.SLEB()))
		} else {
			offset = int64(m.r.ULEB())
		}
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
	if !definesRegister[op] {
		return false
	}
	reg := m.r.ULEB()
	switch op {
	case cfaOffsetExtended:
		return m.set(reg, rule{kind: atCFA}, m.factored(m.r.ULEB()))
	case cfaRestoreExtended:
		return m.restore(reg)
	case cfaUndefined:
		return m.set(reg, rule{kind: undefined}, 0)
	case cfaSameValue:
		return m.set(reg, rule{kind: sameValue}, 0)
	case cfaRegister:
		other := m.r.ULEB()
		return other < NumRegisters && m.set(reg, rule{kind: inRegister, reg: uint8(other)}, 0)
	case cfaOffsetExtendedSF:
		return m.set(reg, rule{kind: atCFA}, m.factored(uint64(m.r.SLEB())))
	case cfaValOffset:
		return m.set(reg, rule{kind: isCFA}, m.factored(m.r.ULEB()))
	case cfaValOffsetSF:
		return m.set(reg, rule{kind: isCFA}, m.factored(uint64(m.r.SLEB())))
	case cfaGNUNegativeOffsetExtended:
		return m.set(reg, rule{kind: atCFA}, -m.factored(m.r.ULEB()))
	}
	n, ok := m.b.internExpression(m.r.Block())
	k := atExpression
	if op == cfaValExpression {
		k = isExpression
	}
	return ok && m.set(reg, rule{kind: k}, int64(n))
}

// set sets the rule of a register; it ignores registers that are not tracked.
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

// restore sets a register's rule to the CIE's initial one.
func (m *machine) restore(reg uint64) bool {
	if reg < NumRegisters {
		m.now.rules[reg] = m.c.initial.rules[reg]
	}
	return m.code != nil
}

func (m *machine) factored(v uint64) int64 { return int64(v) * m.c.dataAlign }
