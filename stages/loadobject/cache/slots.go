package cache

import (
	"stackmill/stages/loadobject/columns"
	"stackmill/stages/loadobject/symtab"
)

func (e encoder) slots(list []symtab.Slot) {
	e.Uint(uint64(len(list)))
	var last uint64
	for _, s := range list {
		e.Uint(s.Address - last)
		e.Text(s.Symbol)
		e.Uint(s.Resolver)
		e.Bool(s.Lazy)
		last = s.Address
	}
}

func (d decoder) slots() []symtab.Slot {
	list := columns.Slice[symtab.Slot](d.Count())
	var last uint64
	for i := range list {
		last += d.Uint()
		list[i] = symtab.Slot{Address: last, Symbol: d.Text(), Resolver: d.Uint(), Lazy: d.Bool()}
	}
	return list
}
