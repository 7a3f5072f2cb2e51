package symbolize

import (
	"cmp"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/symtab"
)

// StoredList is the part of a list of symbols (of the kernel or of generated code) that a store
// keeps: the functions on stacks. The list itself is often gone soon after the recording was
// read.
type StoredList struct {
	ID        int64 // of the load object
	Symbols   string
	Functions int // in the complete list
	Table     *symtab.Table
	Problems  []diagnostic.Problem // of the load object
	First     bool                 // it is used even if a list is found
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
