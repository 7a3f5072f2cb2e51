package perfdata

import (
	"cmp"
	"slices"

	"stackmill/problem"
	"stackmill/stages/decode"
)

// Later stages add up each event for each stack: their memory grows with the product
// of both.
const (
	maxSums    = 1 << 22
	usualEvent = 64 // so many events are read whatever the number of stacks
)

// boundEvents leaves out the samples of the rarest events if there are too many events
// for the number of stacks.
func (r *reader) boundEvents(t *timeline) {
	stacks := 1
	for _, p := range t.recorded {
		if stacks += p.Stacks.Len(); len(p.dumps) > 0 {
			stacks += p.rows.n
		}
	}
	var found []int32
	for i, e := range r.events {
		if e.samples > 0 {
			found = append(found, int32(i))
		}
	}
	most := max(usualEvent, maxSums/stacks)
	if len(found) <= most {
		return
	}
	slices.SortStableFunc(found, func(a, b int32) int { return cmp.Compare(r.events[b].samples, r.events[a].samples) })
	rare := map[int32]bool{}
	for _, i := range found[most:] {
		rare[i], r.events[i].samples = true, 0
	}
	n := int64(0)
	for _, p := range t.recorded {
		n += p.rows.without(rare, r.accesses)
		p.keepUsedDumps()
	}
	r.count(problem.Error, n, "too-many-events", "samples of the rarest events are left out: there are too many events for so many stacks")
}

// keepUsedDumps drops the dumps that no row refers to.
func (p *process) keepUsedDumps() {
	used, last := p.dumps[:0], -1
	for _, b := range p.rows.batches {
		for i, stack := range b.stack {
			n, ok := decode.DumpOfStack(stack)
			if !ok {
				continue
			}
			if n != last { // several counters of a group have one sample
				used, last = append(used, p.dumps[n]), n
			}
			b.stack[i] = decode.StackOfDump(len(used) - 1)
		}
	}
	p.dumps = used
}

// manyEvents bounds the events up to which those without samples are listed, too.
const manyEvents = 256

// makeCounters lists the events, which all processes share.
func (t *timeline) makeCounters() {
	for i, e := range t.r.events {
		if !e.isDummy() && (e.samples > 0 || len(t.r.events) <= manyEvents) {
			t.counters = append(t.counters, decode.Counter{Tag: i, Name: e.name, Title: e.name, TimeUnit: e.unit == "ns", Trigger: t.r.trigger(e)})
		}
	}
}
