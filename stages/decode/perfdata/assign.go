package perfdata

import (
	"slices"

	"stackmill/schema"
	"stackmill/stages/decode"
)

// assigner gives samples to processes.
type assigner struct {
	*reader
	t          *timeline
	s          sample
	counters   totals
	usesKernel bool // some stack has kernel frames
}

// assign gives each sample to its process and finds its stack.
func (r *reader) assign(t *timeline) {
	r.measure(t)
	for _, e := range r.events {
		r.accesses |= e.sampleType & anyAccess
	}
	a := assigner{reader: r, t: t, counters: totals{}}
	for m := range r.moments.take() {
		a.sample(&m)
		if a.bound(); r.rec.Fault != nil {
			break
		}
	}
	r.spaceFailed(r.moments.err)
	t.makeCounters()
	for _, p := range t.recorded {
		t.complete(p, a.usesKernel)
	}
	t.judgeInherited()
}

func (a *assigner) sample(m *moment) {
	s := &a.s
	misc, body := a.body(m.at)
	if !a.readSample(body, s) {
		a.badSamples++
		return
	}
	if s.left >= 8 { // fields are multiples of 8 bytes
		a.longSamples++
	}
	if misc&miscExact != 0 {
		a.events[s.event].exact = true
	}
	p := a.t.at(s.pid, m.time)
	row := row{time: a.t.ns(a.when(s, m.at)), tid: s.tid, cpu: s.cpu, event: s.event}
	row.stack = a.stackOf(p, misc)
	p.spaces, a.spaces = p.spaces|a.spaces, 0
	if p.Number == 0 { // its samples may count nothing
		a.t.recorded = append(a.t.recorded, p)
		p.Number = len(a.t.recorded)
	}
	before := p.rows.n
	a.addRows(p, m, &row)
	if _, isDump := decode.DumpOfStack(row.stack); isDump && p.rows.n > before {
		p.dumps = append(p.dumps, m.at)
	}
	p.DurationNS = max(p.DurationNS, a.t.ns(m.time)-p.StartNS)
}

// bound puts the rows of all processes aside if they take too much memory.
func (a *assigner) bound() {
	if int64(a.kept)*rowSize(a.accesses) <= a.space.Memory {
		return
	}
	a.kept = 0
	for _, p := range a.t.recorded {
		a.spaceFailed(p.rows.putAside(a.space))
	}
}

// stackOf returns the value of the column raw_stack for the sample.
func (a *assigner) stackOf(p *process, misc uint16) int32 {
	raw := a.stack(&a.s, misc)
	a.usesKernel = a.usesKernel || raw.Kernel > 0
	a.countReason(raw.Reason)
	if a.isUnwound(&a.s) {
		return decode.StackOfDump(len(p.dumps))
	}
	return p.Stacks.Number(&raw)
}

// addRows adds the rows of the sample: one, or one for each counter that moved.
func (a *assigner) addRows(p *process, m *moment, row *row) {
	s := &a.s
	weight, ok := s.weight, a.weightInBounds(s)
	if !ok {
		s.weight = 0
	}
	if s.values != nil {
		a.counted(a.counters, s, m, *row, &p.rows)
	} else {
		if a.inBounds(a.t, s, m) {
			row.period = int64(s.period)
		}
		a.keep(s, row, &p.rows)
	}
	if !ok {
		a.left(m.at).Out("the weight of a sample", " cycles", m.at.offset(), weight, 0, a.mostWeight())
	}
}

// keep adds a row of a sample.
func (r *reader) keep(s *sample, row *row, to *rows) {
	if r.accesses != 0 {
		fields := r.events[row.event].sampleType
		row.access = [accessColumns]int64{
			accessAddress:  recorded(s.addr, fields&sampleAddr != 0),
			accessWeight:   int64(s.weight),
			accessSource:   recorded(s.dataSource, fields&sampleDataSrc != 0 && s.dataSource != unavailable),
			accessPhysical: recorded(s.physical, fields&samplePhysAddr != 0),
		}
	}
	to.add(row, r.accesses)
	r.kept++
}

// recorded is -1 for what was not recorded.
func recorded(v uint64, ok bool) int64 {
	if !ok {
		return -1
	}
	return int64(v)
}

// complete makes a process ready for the stages that follow.
func (t *timeline) complete(p *process, usesKernel bool) {
	t.inherit(p)
	t.known(p.Image)
	t.known(p.Data)
	if usesKernel {
		p.Image = append(p.Image, t.kernelImage(p)...)
	}
	p.Image = append(p.Image, slices.Concat(guest.image(p), hypervisor.image(p))...)
	if p.Number > 1 {
		p.Lineage = lineage(p)
	}
	if p.Target == "" {
		p.Target = "(unknown)"
	}
	p.Kinds, p.Closed, p.Shared = kinds, true, true
	p.Counters = t.counters
	p.Records = func(k schema.Kind) int64 {
		if k == schema.Perf {
			return int64(p.rows.n)
		}
		return 0
	}
	if len(p.dumps) > 0 {
		p.Dumps = func() decode.DumpReader { return &dumpReader{r: t.r, t: t, p: p} }
	}
	p.Release = func() { p.rows, p.dumps = rows{}, nil }
	p.Events = func(k schema.Kind) decode.EventReader {
		if k != schema.Perf {
			return none{}
		}
		return &eventReader{r: t.r, rows: &p.rows}
	}
}
