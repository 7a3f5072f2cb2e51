package gprofng

import (
	"math"

	"stackmill/schema"
	"stackmill/stages/decode/bounds"
	"stackmill/stages/decode/mapped"
)

// releaseStep is how many bytes the index reads before they are released.
const releaseStep = 1 << 22

// someStep is the distance between the packets whose times are kept.
const someStep = 64

// eventFile is an event file of one kind, opened and indexed.
type eventFile struct {
	*mapped.File
	kind    schema.Kind
	order   byteOrder
	layouts [maxType]*layout
	stacks  *stackTable

	runs    []run // by min
	packets int64
	mixed   bool               // packets have several types
	last    int64              // the latest time
	cpu     int64              // clock ticks that are CPU time
	missing int64              // events whose stack is not recorded
	damaged bool               // packets were lost
	threads map[int64]struct{} // at least these recorded events

	facts  facts
	ended  int64 // the latest time that the log has
	checks [maxType][]checked
	left   bounds.Left // values out of bounds
	moved  int64       // packets whose time is outside of the experiment
	first  int64       // the earliest time
	some   []int64     // times of some packets, as recorded
}

// indexFields are the fields of a packet type that the index needs.
type indexFields struct{ time, stack, leaf, state, ticks field }

// index reads a file once from start to end. It finds its runs and its damage,
// and the stacks that its events refer to.
func (f *eventFile) index(r *packetReader) {
	f.packets, f.mixed, f.cpu, f.missing = 0, false, 0, 0
	f.left, f.moved, f.first, f.last, f.some = bounds.Left{}, 0, math.MaxInt64, math.MinInt64, nil
	fields := f.indexFields()
	var b runBuilder
	released, first := 0, uint16(0)
	before := f.facts.start
	for {
		offset, size, typ, ok := r.next()
		if !ok {
			break
		}
		packet, p := f.Data[offset:offset+size], &fields[typ]
		before = f.timeOf(p, packet, offset, before)
		f.hold(f.checks[typ], offset, packet)
		b.add(offset, size, before, r.gap)
		f.refer(p, packet)
		if f.packets == 0 {
			first = typ
		}
		f.mixed = f.mixed || typ != first
		f.packets++
		if offset-released >= releaseStep {
			f.Release()
			released = offset
		}
	}
	f.Release()
	r.finish(max(f.last, f.ended))
	if r.blocks.flows != 0 {
		f.threads = r.blocks.threads
	}
	f.runs = b.finish()
}

func (f *eventFile) indexFields() (fields [maxType]indexFields) {
	for typ, l := range f.layouts {
		if l != nil {
			fields[typ] = indexFields{l.fields["TSTAMP"], l.fields["FRINFO"], l.fields["LEAFPC"], l.fields["MSTATE"], l.fields["NTICK"]}
		}
	}
	return fields
}

// timeOf returns the time of a packet: that of the packet before if the recorded one is
// outside of the experiment.
func (f *eventFile) timeOf(p *indexFields, packet []byte, offset int, before int64) int64 {
	recorded := p.time.get(packet, f.order)
	if f.packets%someStep == 0 {
		f.some = append(f.some, recorded)
	}
	time := f.facts.time(recorded, before)
	if f.facts.holds(recorded) {
		f.first, f.last = min(f.first, time), max(f.last, time)
	} else {
		f.moved++
		f.left.Out("TSTAMP", " ns", int64(offset), recorded, f.facts.start, f.facts.end)
	}
	return time
}

// refer notes the stack that an event refers to, and the CPU time it stands for.
func (f *eventFile) refer(p *indexFields, packet []byte) {
	uid := uint64(p.stack.get(packet, f.order))
	leaf := uint64(p.leaf.get(packet, f.order))
	if !f.stacks.refer(uid, leaf) {
		f.missing++
	}
	if p.ticks.width == 0 {
		return
	}
	if s := p.state.get(packet, f.order); s <= 2 || s == 10 {
		_, most := ticks(&f.facts, 0, 0)
		if n := p.ticks.get(packet, f.order); n <= most {
			f.cpu += n
		}
	}
}
