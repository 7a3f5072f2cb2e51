package attribute

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"stackmill/schema"
	"stackmill/stages/dataspace"
	"stackmill/stages/decode"
)

// accesses are the columns of a batch's events that tell of memory.
type accesses struct {
	stacks, sources      []int32
	triggers             []decode.Trigger // by source
	addresses, candidate []int64          // candidate is nil where there is none
	codes                bool             // small addresses say why there is none
}

func newAccesses(b *Batch, events arrow.RecordBatch, triggers map[string]decode.Trigger) *accesses {
	payload := func(name string) []int64 {
		for i, f := range schema.EventPayload[b.Kind] {
			if f.Name == name {
				return events.Column(schema.EventPayloadStart + i).(*array.Int64).Int64Values()
			}
		}
		return nil
	}
	in := &accesses{
		stacks:    events.Column(schema.EventStack).(*array.Int32).Int32Values(),
		addresses: payload("data_address"), candidate: payload("trigger_pc"), codes: b.Kind == schema.HWC,
	}
	var numbers map[string]int32
	in.sources, numbers = sourcesOf(b)
	in.triggers = make([]decode.Trigger, len(numbers))
	for name, n := range numbers {
		in.triggers[n] = triggers[name]
	}
	return in
}

// lastCode is the largest data address that is a code, and codeMask the part of
// it that the collector made (gprofng-experiment 9.5).
const (
	lastCode = 0xfe
	codeMask = 0xf
)

// event returns the access of a sample whose leaf is at pc.
func (in *accesses) event(i int, pc uint64) dataspace.Event {
	e := dataspace.Event{PC: pc, Trigger: in.triggers[in.sources[i]]}
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
	default: // what the processor tells is better than the PC of the interrupt
		e.PC = uint64(in.candidate[i])
	}
	return e
}
