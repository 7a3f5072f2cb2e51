package symbolize

import (
	"cmp"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/symtab"
)

// StoredList is what a store has of a list of symbols, that of the kernel or of generated
// code: the functions that stacks lead to. The list itself is often gone soon after the
// recording was read.
type StoredList struct {
	ID        int64 // of the load object
	Symbols   string
	Functions int // that the list had
	Table     *symtab.Table
	Problems  []diagnostic.Problem // that were found with the load object
	First     bool                 // no list that is found takes its place
}

// object returns the load object of the list.
func (k *StoredList) object(r *Resolver, o objectDraft, key objectKey) objectDraft {
	o.ID, o.Symbols, o.FunctionCount, o.table, o.BuildID = k.ID, k.Symbols, k.Functions, k.Table, cmp.Or(o.BuildID, key.buildID)
	if !decode.IsPerfMap(key.path) {
		o.placer = absolutePC
	}
	o.report = func(bool) {
		for _, p := range k.Problems {
			r.rec.Problems.Add(p)
		}
	}
	return o
}
