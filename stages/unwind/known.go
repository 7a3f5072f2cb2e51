package unwind

import (
	"stackmill/stages/loadobject/cfi"
	"stackmill/stages/symbolize"
)

// Known is what is known of frames, whichever process of a recording they are seen in.
type Known struct {
	// Whole says that all words of each stack pass the rules, also settled ones. The tree is
	// the same: tests compare.
	Whole bool

	unwinder *Unwinder                         // the last
	growth   *Growth                           // of the process whose stacks are normalised now, not yet handed out
	words    []wordState                       // of the same process
	meanings []meaning                         // by number of a PC, as far as they were asked for
	located  []located                         // by location, likewise
	classes  []class                           // by function, likewise
	gaps     map[*symbolize.Scope]map[edge]gap // what is missing in chains of frame pointers
	tables   []asked                           // by load object, as far as they were asked for
}

// asked is a load object's call frame information, nil if there is none.
type asked struct {
	table *cfi.Table
	known bool
}

// NewKnown returns what is known before the first process.
func NewKnown() *Known { return &Known{gaps: map[*symbolize.Scope]map[edge]gap{}} }

// gapsIn returns what is missing in chains of frame pointers in a scope, as far as it was asked
// for.
func (k *Known) gapsIn(scope *symbolize.Scope) map[edge]gap {
	gaps := k.gaps[scope]
	if gaps == nil {
		gaps = map[edge]gap{}
		k.gaps[scope] = gaps
	}
	return gaps
}
