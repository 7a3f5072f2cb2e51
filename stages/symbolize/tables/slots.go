package tables

import "stackmill/stages/symbolize/symtab"

func (e *encoder) slots(list []symtab.Slot) {
	e.uint(uint64(len(list)))
	var last uint64
	for _, s := range list {
		e.uint(s.Address - last)
		e.text(s.Symbol)
		e.bool(s.Lazy)
		last = s.Address
	}
}

func (d *decoder) slots() []symtab.Slot {
	list := slice[symtab.Slot](d.count())
	var last uint64
	for i := range list {
		last += d.uint()
		list[i] = symtab.Slot{Address: last, Symbol: d.text(), Lazy: d.below(2) == 1}
	}
	return list
}
