package gprofng

import (
	"cmp"
	"math"
	"slices"

	"stackmill/schema"
	"stackmill/stages/decode/bounds"
	"stackmill/stages/decode/mapped"
)

// A run is a piece of an event file whose packets are read in the order of
// their time. Threads fill blocks of the file side by side, so a file is many
// runs that overlap in time.
type run struct {
	min   int64    // time of the first packet to read
	start int      // offset of the first packet in the file
	end   int      // where the last one ends
	order []uint32 // packets relative to start in reading order; nil: one after the other
}

// The size of runs: what is shorter than minRun packets is joined with what
// follows, though out of order or behind a gap, until maxRun packets are.
const (
	minRun     = 256
	maxRun     = 1024
	maxRunSpan = 1 << 30 // bytes, so that order can hold it
)

// releaseStep is how many bytes the index reads before they are released.
const releaseStep = 1 << 22

// someStep is how many packets stand for each whose time is kept.
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
	moved  int64       // packets whose time is none of the experiment's
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
	var fields [maxType]indexFields
	for typ, l := range f.layouts {
		if l != nil {
			fields[typ] = indexFields{l.fields["TSTAMP"], l.fields["FRINFO"], l.fields["LEAFPC"], l.fields["MSTATE"], l.fields["NTICK"]}
		}
	}
	var b runBuilder
	released, first := 0, uint16(0)
	before := f.facts.start
	for {
		offset, size, typ, ok := r.next()
		if !ok {
			break
		}
		packet, p := f.Data[offset:offset+size], &fields[typ]
		recorded := p.time.get(packet, f.order)
		if f.packets%someStep == 0 {
			f.some = append(f.some, recorded)
		}
		time := f.facts.time(recorded, before)
		if before = time; f.facts.holds(recorded) {
			f.first, f.last = min(f.first, time), max(f.last, time)
		} else {
			f.moved++
			f.left.Out("TSTAMP", " ns", int64(offset), recorded, f.facts.start, f.facts.end)
		}
		f.hold(f.checks[typ], offset, packet)
		b.add(offset, size, time, r.gap)
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

// runBuilder makes runs of the packets of a file.
type runBuilder struct {
	runs []run

	run   run // being made
	count int
	last  int64
	loose bool // the run needs an order
	// The packets of the run, as long as it may need an order.
	offsets []int
	times   []int64
}

// add adds a packet; gap says that it does not directly follow the one before.
func (b *runBuilder) add(offset, size int, time int64, gap bool) {
	switch {
	case b.count == 0:
	case b.loose:
		if b.count >= maxRun || offset-b.run.start >= maxRunSpan {
			b.flush()
		}
	case gap || time < b.last:
		if b.count < minRun && offset-b.run.start < maxRunSpan {
			b.loose = true
		} else {
			b.flush()
		}
	}
	if b.count == 0 {
		b.run = run{min: time, start: offset}
	}
	if b.loose || b.count < minRun {
		b.offsets = append(b.offsets, offset)
		b.times = append(b.times, time)
	}
	b.count++
	b.last = time
	b.run.min = min(b.run.min, time)
	b.run.end = offset + size
}

// flush ends a run.
func (b *runBuilder) flush() {
	if b.loose {
		order := make([]int, b.count)
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(i, j int) int {
			return cmp.Or(cmp.Compare(b.times[i], b.times[j]), i-j)
		})
		b.run.order = make([]uint32, b.count)
		for i, n := range order {
			b.run.order[i] = uint32(b.offsets[n] - b.run.start)
		}
	}
	b.runs = append(b.runs, b.run)
	b.count, b.loose, b.offsets, b.times = 0, false, b.offsets[:0], b.times[:0]
}

// finish returns the runs by their first time, then by their place in the file.
func (b *runBuilder) finish() []run {
	if b.count > 0 {
		b.flush()
	}
	slices.SortStableFunc(b.runs, func(x, y run) int { return cmp.Compare(x.min, y.min) })
	return b.runs
}
