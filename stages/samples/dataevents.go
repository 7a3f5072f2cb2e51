package samples

import (
	"stackmill/stages/dataspace"
	"stackmill/stages/decode"
)

// accessColumns holds the columns of a batch's events that describe memory accesses.
type accessColumns struct {
	stacks, sources  []int32
	triggers         []decode.Trigger // by source
	addresses        []int64
	candidate, exact []int64 // nil if the kind has none
	codes            bool    // small addresses are codes for why there is no address
}

func newAccessColumns(b *Batch, triggers map[string]decode.Trigger) *accessColumns {
	e := b.Events
	in := &accessColumns{stacks: e.Int32s("raw_stack"), addresses: e.Int64s("data_address"), codes: b.Kind.Traits().Codes}
	if e.Has("trigger_pc") {
		in.candidate = e.Int64s("trigger_pc")
	}
	if e.Has("exact_pc") {
		in.exact = e.Int64s("exact_pc")
	}
	var numbers map[string]int32
	in.sources, numbers = b.sources()
	in.triggers = make([]decode.Trigger, len(numbers))
	for name, n := range numbers {
		in.triggers[n] = triggers[name]
	}
	return in
}

// lastCode is the largest data address that is a code. codeMask selects the part of the code
// that the collector made (gprofng-experiment 9.5).
const (
	lastCode = 0xfe
	codeMask = 0xf
)

// event returns the i-th sample's access, given its leaf's PC.
func (in *accessColumns) event(i int, pc uint64) dataspace.Event {
	e := dataspace.Event{PC: pc, Trigger: in.triggers[in.sources[i]]}
	if in.exact != nil && in.exact[i] != 0 && e.Trigger != decode.NoTrigger {
		e.Trigger = decode.TriggerExact
	}
	switch a := uint64(in.addresses[i]); {
	case in.addresses[i] == -1 || a == 0:
	case in.codes && a <= lastCode:
		e.Code = int(a & codeMask)
	default:
		e.Address, e.HasAddress = a, true
	}
	switch {
	case in.candidate == nil || in.candidate[i] == 0:
	case e.Trigger == decode.TriggerSkid:
		e.Candidate = uint64(in.candidate[i])
	default: // the processor's own PC is more precise than the interrupt's
		e.PC = uint64(in.candidate[i])
	}
	return e
}
