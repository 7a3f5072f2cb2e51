package lines

import (
	"stackmill/internal/bytereader"
	"stackmill/stages/loadobject/dwarf"
)

// registers are the used registers of the state machine (DWARF 5 section 6.2.2).
type registers struct {
	address       uint64
	file          uint64
	line          uint64
	endSequence   bool
	discriminator uint64 // distinguishes the parts of a line; reset after each row
}

// The standard and extended opcodes.
const (
	lnsCopy           = 1
	lnsAdvancePC      = 2
	lnsAdvanceLine    = 3
	lnsSetFile        = 4
	lnsConstAddPC     = 8
	lnsFixedAdvancePC = 9

	lneEndSequence      = 1
	lneSetAddress       = 2
	lneDefineFile       = 3
	lneSetDiscriminator = 4
)

// machine is the state machine of a line number program.
type machine struct {
	h       *header
	r       registers
	opIndex uint64 // within an instruction bundle
}

// run executes the program and passes each row to emit, until emit returns false.
func (h *header) run(emit func(registers) bool) error {
	c := &h.program
	m := machine{h: h, r: initial}
	for len(c.Rest) > 0 {
		code, complete := c.U8(), false
		switch {
		case code >= h.opcodeBase:
			n := uint64(code - h.opcodeBase)
			m.advance(n / h.lineRange)
			m.r.line += uint64(h.lineBase + int64(n%h.lineRange))
			complete = true
		case code == 0:
			complete = m.extended(c)
		case code == lnsCopy:
			complete = true
		default:
			m.standard(code, c)
		}
		if complete && !emit(m.r) {
			return nil
		}
		switch {
		case m.r.endSequence:
			m.r, m.opIndex = initial, 0
		case complete:
			m.r.discriminator = 0
		}
		if c.Short {
			return dwarf.ErrShort
		}
	}
	return nil
}

// initial is the state at the start of each sequence.
var initial = registers{file: 1, line: 1}

// advance advances the address by n operations ("operation advance" in DWARF).
func (m *machine) advance(n uint64) {
	if m.h.maxOps == 1 {
		m.r.address += m.h.minInst * n
		return
	}
	m.r.address += m.h.minInst * ((m.opIndex + n) / m.h.maxOps)
	m.opIndex = (m.opIndex + n) % m.h.maxOps
}

// standard runs a standard opcode that completes no row.
func (m *machine) standard(code uint8, c *bytereader.Reader) {
	switch code {
	case lnsAdvancePC:
		m.advance(c.ULEB())
	case lnsAdvanceLine:
		m.r.line += uint64(c.SLEB())
	case lnsSetFile:
		m.r.file = c.ULEB()
	case lnsConstAddPC:
		m.advance(uint64(255-m.h.opcodeBase) / m.h.lineRange)
	case lnsFixedAdvancePC:
		m.r.address, m.opIndex = m.r.address+uint64(c.U16()), 0
	default: // changes no used register; the header has the number of operands
		for n := m.h.operands[code-1]; n > 0; n-- {
			c.ULEB()
		}
	}
}

// extended runs an extended opcode and reports whether it completes a row.
func (m *machine) extended(c *bytereader.Reader) bool {
	x := c.Sub(c.ULEB())
	switch x.U8() {
	case lneEndSequence:
		m.r.endSequence = true
		return true
	case lneSetAddress:
		if len(x.Rest) <= 8 {
			m.r.address, m.opIndex = x.Uint(len(x.Rest)), 0
		}
	case lneDefineFile:
		if name := x.Text(); len(name) > 0 {
			m.h.files = append(m.h.files, readFile(&x, name))
		}
	case lneSetDiscriminator:
		m.r.discriminator = x.ULEB()
	}
	return false
}
