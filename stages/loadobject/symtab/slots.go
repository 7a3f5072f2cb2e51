package symtab

import (
	"cmp"
	"slices"

	"stackmill/stages/loadobject/elf"
)

// Slot is an entry of the global offset table that contains the address of a function.
type Slot = elf.Slot

// slots returns an object's slots, sorted by address and without duplicates.
func slots(f *elf.File) []Slot {
	list := f.Slots()
	slices.SortStableFunc(list, func(a, b Slot) int { return cmp.Compare(a.Address, b.Address) })
	return slices.Clip(slices.CompactFunc(list, func(a, b Slot) bool { return a.Address == b.Address }))
}

// Slot returns the slot at a link-time address, false without one.
func (t *Table) Slot(addr uint64) (Slot, bool) {
	i, ok := slices.BinarySearchFunc(t.Slots, addr, func(s Slot, a uint64) int { return cmp.Compare(s.Address, a) })
	if !ok {
		return Slot{}, false
	}
	return t.Slots[i], true
}
