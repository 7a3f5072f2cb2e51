package dataspace

import (
	"cmp"
	"math"
	"slices"

	"stackmill/stages/loadobject/insn"
)

// registers is the number of general registers whose values are tracked: those with DWARF numbers
// below it.
const registers = 32

// Bounds of the stack slots in one state, and in the initial states of all blocks of a function
// together.
const (
	maxSlots = 1024
	allSlots = 1 << 18
)

// state holds the values of registers and stack slots before an instruction.
type state struct {
	registers [registers]value
	slots     []slot // sorted by address
}

// slot is a stack slot with its value.
type slot struct{ at, holds value }

func (s *state) clone() *state {
	return &state{registers: s.registers, slots: slices.Clone(s.slots)}
}

// set makes s a copy of other.
func (s *state) set(other *state) {
	s.registers = other.registers
	s.slots = append(s.slots[:0], other.slots...)
}

// register returns the value of a register.
func (s *state) register(r insn.Register) value {
	if r < 0 || r >= registers {
		return value{}
	}
	return s.registers[r]
}

// put sets the value of a register, if it is tracked.
func (s *state) put(r insn.Register, v value) {
	if r >= 0 && r < registers {
		s.registers[r] = v
	}
}

// find returns the index of the slot at a stack address, or where to insert it.
func (s *state) find(at value) (int, bool) {
	return slices.BinarySearchFunc(s.slots, at, func(x slot, at value) int {
		return cmp.Or(cmp.Compare(x.at.origin, at.origin), cmp.Compare(x.at.offset, at.offset))
	})
}

// slot returns the value at a stack address.
func (s *state) slot(at value) value {
	if i, ok := s.find(at); ok {
		return s.slots[i].holds
	}
	return value{}
}

// keep sets the value at a stack address if the address has no slot yet and there are fewer than
// most slots.
func (s *state) keep(at, holds value, most int) {
	if i, ok := s.find(at); !ok && holds.kind != valueUnknown && len(s.slots) < most {
		s.slots = slices.Insert(s.slots, i, slot{at, holds})
	}
}

// overwrite removes the stack slots to which an access writes.
func (s *state) overwrite(at value, a *insn.Access, word int64) {
	end := at.offset + int64(a.Size)
	if a.Repeated {
		end = math.MaxInt64
	}
	at.offset -= word - 1 // also slots that begin before the access
	from, _ := s.find(at)
	to := from
	for to < len(s.slots) && s.slots[to].at.origin == at.origin && s.slots[to].at.offset < end {
		to++
	}
	s.slots = slices.Delete(s.slots, from, to)
}

// merge merges other, the state on another path to instruction n, into s. It reports whether s
// changed.
func (f *function) merge(n int, s, other *state) (changed bool) {
	for i := range s.registers {
		v := s.registers[i]
		if v == other.registers[i] {
			continue
		}
		if m := f.mergeValues(n, s, v, other.registers[i]); m != v {
			s.registers[i], changed = m, true
		}
	}
	merged := s.slots[:0]
	for _, x := range s.slots {
		if v := other.slot(x.at); v != x.holds {
			m := f.mergeValues(n, s, x.holds, v)
			changed = changed || m != x.holds
			x.holds = m
		}
		if x.holds.kind != valueUnknown {
			merged = append(merged, x)
		}
	}
	s.slots = merged
	return changed
}
