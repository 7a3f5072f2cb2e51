package cfi

// CFA returns the canonical frame address at an offset of the file as a register plus a number;
// false if it is unknown or needs another rule.
func (t *Table) CFA(offset uint64) (register int, add int64, ok bool) {
	n := t.find(offset)
	if n == 0 {
		return 0, 0, false
	}
	r := t.distinct[n].cfa
	return int(r.reg), int64(r.value), r.kind == registerBased
}
