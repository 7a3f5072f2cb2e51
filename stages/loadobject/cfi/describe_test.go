package cfi

import (
	"fmt"
	"strings"

	"stackmill/stages/loadobject/isa"
)

var (
	amd64Names = [NumRegisters]string{"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "ra"}
	arm64Names = func() (names [NumRegisters]string) {
		for i := range names {
			names[i] = fmt.Sprintf("x%d", i)
		}
		names[30], names[31], names[32] = "ra", "sp", "pc"
		return names
	}()
)

func (t *Table) names() *[NumRegisters]string {
	if t.Arch == isa.ARM64 {
		return &arm64Names
	}
	return &amd64Names
}

// text spells a rule as readelf does.
func (t *Table) text(r rule) string {
	switch r.kind {
	case undefined:
		return "u"
	case atCFA:
		return fmt.Sprintf("c%+d", r.value)
	case isCFA:
		return fmt.Sprintf("v%+d", r.value)
	case inRegister:
		return t.names()[r.reg]
	case atExpression:
		return "exp"
	case isExpression:
		return "vexp"
	case registerBased:
		return fmt.Sprintf("%s%+d", t.names()[r.reg], r.value)
	}
	return ""
}

// describe lists the rules at an offset: the CFA's and the registers'.
func (t *Table) describe(offset uint64) string {
	n := t.find(offset)
	if n == 0 {
		return "none"
	}
	r := t.distinct[n]
	cfa := t.text(r.cfa)
	if r.cfa.kind == isExpression {
		cfa = "exp"
	}
	list := []string{"cfa=" + cfa}
	for _, f := range t.rules[r.first : r.first+uint32(r.count)] {
		list = append(list, t.names()[f.register]+"="+t.text(f.rule))
	}
	if r.signal {
		list = append(list, "signal")
	}
	if r.signed {
		list = append(list, "signed")
	}
	return strings.Join(list, " ")
}
