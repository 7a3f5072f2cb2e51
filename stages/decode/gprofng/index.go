package gprofng

import (
	"math"

	"stackmill/internal/ordered"
	"stackmill/schema"
	"stackmill/stages/decode/bounds"
	"stackmill/stages/decode/mmap"
)

// releaseStep is the number of bytes that are read before their memory is released.
const releaseStep = 1 << 22

// someStep is the sampling interval of eventTimes.some: it has the time of every 64th packet.
const someStep = 64

// eventFile is an event file of one kind, opened and indexed.
type eventFile struct {
	*mmap.File
	kind    schema.Kind
	order   byteOrder
	layouts [maxType]*layout
	stacks  *stackTable

	eventCounts
	eventTimes
	runs     []packetRun        // sorted by min
	oneState bool               // user and system time are recorded as one state
	threads  map[int64]struct{} // ids of the threads with events; there may be more threads
	facts    facts
	checks   [maxType][]fieldCheck
	outliers bounds.Outliers // values out of bounds
}

// eventCounts are sums over the packets of a file.
type eventCounts struct {
	packets int64
	mixed   bool  // packets have several types
	cpu     int64 // number of clock ticks of CPU time
	missing int64 // number of events whose stack is not recorded
	damaged bool  // packets were lost
}

// eventTimes are the times of the packets of a file.
type eventTimes struct {
	first, last int64   // the earliest and the latest time within the experiment
	ended       int64   // the latest time in the log, on the recording's clock
	moved       int64   // number of packets with a time outside of the experiment
	some        []int64 // the recorded time of every someStep-th packet
}

// indexFields are the fields of a packet type that the index needs.
type indexFields struct{ time, stack, leaf, state, ticks field }

// Files are indexed in chunks: while one goroutine evaluates the times of a chunk, another reads
// the next chunks.
const (
	indexChunk  = blockSize
	chunksAhead = 8
)

// packetChunk holds the packets that begin in a chunk of a file.
type packetChunk []packetRef

type packetRef struct {
	offset int
	size   int32
	typ    uint16
	gap    bool // see packetReader.gap
}

// index reads a file once from start to end. It finds runs, damage, and the stacks to which events
// refer.
func (f *eventFile) index(r *packetReader) {
	fields := f.indexFields()
	times, references := newTimeIndex(f, fields), newReferenceIndex(f, fields)
	number, released := 0, 0
	read := func(p *packetChunk) {
		number++
		r.readChunk(p, number*indexChunk)
		references.add(*p)
	}
	take := func(p *packetChunk) bool {
		times.add(*p)
		if end := len(*p); end > 0 && (*p)[end-1].offset-released >= releaseStep {
			f.Release()
			released = (*p)[end-1].offset
		}
		return true
	}
	ordered.Chain((len(r.data)+indexChunk-1)/indexChunk, chunksAhead, []func(*packetChunk){read}, take)
	f.Release()
	f.cpu, f.missing = references.cpu, references.missing
	r.finish(max(f.last, f.ended))
	if r.blocks.flows != 0 {
		f.threads = r.blocks.threads
	}
	f.runs = times.runs.finish()
}

// readChunk reads the packets that begin before an offset.
func (r *packetReader) readChunk(p *packetChunk, end int) {
	*p = (*p)[:0]
	for r.pos < min(end, len(r.data)) {
		offset, size, typ, ok := r.next()
		if !ok {
			break
		}
		*p = append(*p, packetRef{offset, int32(size), typ, r.gap})
	}
}

func (f *eventFile) indexFields() *[maxType]indexFields {
	fields := new([maxType]indexFields)
	for typ, l := range f.layouts {
		if l != nil {
			fields[typ] = indexFields{l.fields["TSTAMP"], l.fields["FRINFO"], l.fields["LEAFPC"], l.fields["MSTATE"], l.fields["NTICK"]}
		}
	}
	return fields
}

// timeIndex finds the times of packets and the runs, and counts values out of bounds. Only
// timeIndex writes to the file's index; the goroutine that reads packets does not.
type timeIndex struct {
	*eventFile
	fields *[maxType]indexFields
	runs   runBuilder
	before int64  // the time of the previous packet
	typ    uint16 // type of the first packet
}

func newTimeIndex(f *eventFile, fields *[maxType]indexFields) *timeIndex {
	f.packets, f.mixed = 0, false
	f.outliers, f.moved, f.first, f.last, f.some = bounds.Outliers{}, 0, math.MaxInt64, math.MinInt64, nil
	return &timeIndex{eventFile: f, fields: fields, before: f.facts.start}
}

func (x *timeIndex) add(packets packetChunk) {
	for _, p := range packets {
		packet := x.Data[p.offset : p.offset+int(p.size)]
		x.before = x.timeOf(&x.fields[p.typ], packet, p.offset, x.before)
		x.countOutliers(x.checks[p.typ], p.offset, packet)
		x.runs.add(p.offset, int(p.size), x.before, p.gap)
		if x.packets == 0 {
			x.typ = p.typ
		}
		x.mixed = x.mixed || p.typ != x.typ
		x.packets++
	}
}

// timeOf returns the time of a packet, or of the previous one if the recorded time is outside of
// the experiment.
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
		f.outliers.Add("TSTAMP", " ns", int64(offset), recorded, f.facts.start, f.facts.end)
	}
	return time
}

// referenceIndex notes the stacks to which events refer, and the events' CPU time.
type referenceIndex struct {
	data         []byte
	order        byteOrder
	fields       *[maxType]indexFields
	stacks       *stackTable
	mostTicks    int64 // maximum ticks of an event
	cpu, missing int64 // as in eventFile
}

func newReferenceIndex(f *eventFile, fields *[maxType]indexFields) *referenceIndex {
	_, most := ticks(&f.facts, 0, 0)
	return &referenceIndex{data: f.Data, order: f.order, fields: fields, stacks: f.stacks, mostTicks: most}
}

func (x *referenceIndex) add(packets packetChunk) {
	for _, p := range packets {
		fields, packet := &x.fields[p.typ], x.data[p.offset:p.offset+int(p.size)]
		uid := uint64(fields.stack.get(packet, x.order))
		leaf := uint64(fields.leaf.get(packet, x.order))
		if !x.stacks.refer(uid, leaf) {
			x.missing++
		}
		if fields.ticks.width == 0 {
			continue
		}
		if s := fields.state.get(packet, x.order); s <= 2 || s == linuxCPU {
			if n := fields.ticks.get(packet, x.order); n <= x.mostTicks {
				x.cpu += n
			}
		}
	}
}
