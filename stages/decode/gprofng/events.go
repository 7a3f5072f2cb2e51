package gprofng

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"stackmill/schema"
)

// chunk is how many packets are converted at a time: few enough to stay in the processor's cache
// from the first column to the last.
const chunk = 1024

// maxText is the number of bytes in strings at which a batch is full even with few rows.
const maxText = 1 << 24

// eventReader returns the events of a file as batches.
type eventReader struct {
	file    *eventFile
	names   threadNames
	schema  *arrow.Schema
	start   int64 // the founder's start, ns on the recording's clock
	merger  *merger
	before  int64 // time of the last returned packet
	packets []int // offsets of the packets being converted; reused
	left    int64 // packets not yet returned
}

// newEventReader returns a reader of the named columns, or of all if none are named.
func newEventReader(f *eventFile, names threadNames, start int64, columns []string) *eventReader {
	return &eventReader{
		file: f, names: names, schema: selectColumns(f.kind, columns), start: start, merger: newMerger(f),
		packets: make([]int, 0, chunk), left: f.packets,
	}
}

// Next returns the next batch, nil at the end. An error means that the file became unreadable.
func (r *eventReader) Next() (arrow.RecordBatch, error) {
	if r.left == 0 {
		return nil, nil
	}
	rows := int(min(schema.BatchRows, r.left*r.rowsPerPacket()))
	b := newBatch(r.file.kind, r.schema, rows)
	err := r.file.Guard(func() { r.fill(b) })
	r.file.Release()
	if err == nil && r.merger.changed {
		err = fmt.Errorf("%s was changed while it was read", r.file.Name)
	}
	if err != nil {
		return nil, err
	}
	return b.finish(), nil
}

// Close ends the reader. There is nothing to release but memory.
func (r *eventReader) Close() { r.left = 0 }

// rowsPerPacket is the maximum number of rows that one packet makes.
func (r *eventReader) rowsPerPacket() int64 {
	if r.file.layouts[typeProf] != nil {
		return int64(len(microStates))
	}
	return 1
}

// fill fills a batch with whole chunks of packets.
func (r *eventReader) fill(b *batch) {
	per := int(r.rowsPerPacket())
	for b.rows+per <= b.size && b.text < maxText {
		n := min(chunk, (b.size-b.rows)/per)
		packets := r.merger.next(r.packets[:0:n])
		if len(packets) == 0 {
			r.left = 0
			return
		}
		r.left -= int64(len(packets))
		r.rows(b, packets)
	}
}

// rows appends the rows of packets of one type.
func (r *eventReader) rows(b *batch, packets []int) {
	f := r.file
	layout := f.layouts[r.merger.typ(packets[0])]
	if layout.typ == typeProf {
		r.expand(b, layout, packets)
		return
	}
	r.common(b, layout, packets)
	for i, c := range payload[f.kind] {
		if c.field == "" {
			continue
		}
		v := b.values(schema.EventPayloadStart+i, len(packets))
		f.column(v, packets, layout.fields[c.field], c.missing)
		if v.wide != nil {
			f.clearOutliers(v.wide, layout, packets, c.field)
		}
		if c.time {
			r.relative(v.wide)
		}
	}
	r.computed(b, layout, packets)
	b.rows += len(packets)
}

// relative makes times relative to the founder's start. 0 means unknown and stays.
func (r *eventReader) relative(times []int64) {
	for i, t := range times {
		if t != 0 {
			times[i] = t - r.start
		}
	}
}

// common fills the columns that all kinds have.
func (r *eventReader) common(b *batch, l *layout, packets []int) {
	f, n := r.file, len(packets)
	times := b.values(schema.EventTime, n)
	f.column(times, packets, l.fields["TSTAMP"], 0)
	for i, t := range times.wide {
		r.before = f.facts.time(t, r.before)
		times.wide[i] = r.before - r.start
	}
	thread := l.fields["LWPID"]
	if thread.width == 0 {
		thread = l.fields["THRID"]
	}
	f.column(b.values(schema.EventThread, n), packets, thread, 0)
	f.column(b.values(schema.EventCPU, n), packets, l.fields["CPUID"], -1)
	r.stackNumbers(b.values(schema.EventStack, n).narrow, l, packets)
	groups := b.values(schema.EventCGroup, n).narrow
	for i := range groups {
		groups[i] = -1 // none is recorded
	}
	numbers, threads := b.values(schema.EventName, n).narrow, b.values(schema.EventThread, n).wide
	clear(numbers)
	if len(r.names) == 0 || threads == nil || times.wide == nil {
		return
	}
	for i := range numbers {
		numbers[i] = r.names.number(threads[i], times.wide[i])
	}
}

func (r *eventReader) stackNumbers(numbers []int32, l *layout, packets []int) {
	f := r.file
	stack, leaf := l.fields["FRINFO"], l.fields["LEAFPC"]
	uid, number := uint64(0), int32(-1)
	for i := range numbers {
		packet := f.Data[packets[i]:]
		u := uint64(stack.get(packet, f.order))
		switch {
		case leaf.width != 0:
			number = f.stacks.number(u, uint64(leaf.get(packet, f.order)))
		case u != uid: // successive packets often have the same stack
			number = f.stacks.number(u, 0)
		}
		uid, numbers[i] = u, number
	}
}

// linuxCPU is the state that combines user and system time; Linux records no other state.
const linuxCPU = 10

// mergeStates replaces the user state by the state that combines user and system time: Studio 12.3
// wrote both as user time (studio-experiment 3).
func mergeStates(states []int32) {
	for i, s := range states {
		if s == 0 {
			states[i] = linuxCPU
		}
	}
}

// expand makes a row for each state with ticks in a PROF packet.
func (r *eventReader) expand(b *batch, l *layout, packets []int) {
	f := r.file
	_, most := ticks(&f.facts, 0, 0)
	var rows []int
	var states []int32
	var ticks []int64
	for _, o := range packets {
		for state, name := range microStates {
			if n := l.fields[name].get(f.Data[o:], f.order); n > 0 && n <= most {
				rows, states, ticks = append(rows, o), append(states, int32(state)), append(ticks, n)
			}
		}
	}
	r.common(b, l, rows)
	copy(b.values(schema.EventColumn(f.kind, "state"), len(rows)).narrow, states)
	copy(b.values(schema.EventColumn(f.kind, "ticks"), len(rows)).wide, ticks)
	r.computed(b, l, rows)
	b.rows += len(rows)
}

// computed fills the columns whose values are not plain copies of a field.
func (r *eventReader) computed(b *batch, l *layout, packets []int) {
	f, n := r.file, len(packets)
	switch f.kind {
	case schema.Clock:
		if f.oneState {
			mergeStates(b.values(schema.EventColumn(f.kind, "state"), n).narrow)
		}
		states := b.values(schema.EventColumn(f.kind, "omp_state"), n).narrow
		for i, v := range b.values(schema.EventStack, n).narrow {
			states[i] = f.stacks.ompState(v)
		}
	case schema.HWC:
		values := b.values(schema.EventColumn(f.kind, "value"), n).wide
		for i, v := range values {
			if v < 0 { // bit 63 marks an invalid sample
				values[i] = -1
			}
		}
	case schema.OMP:
		types := b.values(schema.EventColumn(f.kind, "event"), n).narrow
		for i := range types {
			types[i] = int32(l.typ)
		}
	case schema.IO:
		if b.names == nil {
			break
		}
		offset, ok := l.text["IOFNAME"]
		for _, o := range packets {
			if !ok {
				b.addText(nil)
				continue
			}
			size := max(offset, int(f.order.u16(f.Data[o:])))
			b.addText(f.Data[o+offset : min(o+size, len(f.Data))])
		}
	}
}
