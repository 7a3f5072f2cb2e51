package perfdata

import (
	"slices"

	"stackmill/schema"
	"stackmill/stages/decode"
)

// assign gives each sample to its process and finds its stack.
func (r *reader) assign(t *timeline) {
	var s sample
	usesKernel := false
	counters := totals{}
	r.measure(t)
	for _, e := range r.events {
		r.accesses |= e.sampleType & anyAccess
	}
	for m := range r.moments.take() {
		misc, body := r.body(m.at)
		if !r.readSample(body, &s) {
			r.badSamples++
			continue
		}
		if s.left >= 8 { // fields are multiples of 8 bytes
			r.longSamples++
		}
		if misc&miscExact != 0 {
			r.events[s.event].exact = true
		}
		p := t.at(s.pid, m.time)
		row, rows := row{time: t.ns(r.when(&s, m.at)), tid: s.tid, cpu: s.cpu, event: s.event}, p.rows.n
		isDump := r.isUnwound(&s)
		if isDump {
			row.stack = decode.StackOfDump(len(p.dumps))
			raw := r.stack(&s, misc)
			usesKernel = usesKernel || raw.Kernel > 0
			r.countReason(raw.Reason)
		} else {
			row.stack = r.recordedStack(p, &s, misc)
			raw := &p.stacks.Stacks[row.stack]
			usesKernel = usesKernel || raw.Kernel > 0
			r.countReason(raw.Reason)
		}
		p.spaces, r.spaces = p.spaces|r.spaces, 0
		if p.Number == 0 { // its samples may count nothing
			t.recorded = append(t.recorded, p)
			p.Number = len(t.recorded)
		}
		weight, weighs := s.weight, r.weightInBounds(&s)
		if !weighs {
			s.weight = 0
		}
		if s.values != nil {
			r.counted(counters, &s, m, row, &p.rows)
		} else {
			if r.inBounds(t, &s, m) {
				row.period = int64(s.period)
			}
			r.keep(&s, &row, &p.rows)
		}
		if isDump && p.rows.n > rows {
			p.dumps = append(p.dumps, m.at)
		}
		if !weighs {
			r.left(m.at).Out("the weight of a sample", " cycles", m.at.offset(), weight, 0, r.mostWeight())
		}
		p.DurationNS = max(p.DurationNS, t.ns(m.time)-p.StartNS)
	}
	for _, p := range t.recorded {
		p.Stacks, p.stacks, p.chains = p.stacks.Stacks, decode.Distinct{}, nil
	}
	r.boundEvents(t)
	t.makeCounters()
	for _, p := range t.recorded {
		t.complete(p, usesKernel)
	}
	t.judgeInherited()
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
}

// recorded is -1 for what is not.
func recorded(v uint64, ok bool) int64 {
	if !ok {
		return -1
	}
	return int64(v)
}

// complete makes a process ready for the stages behind.
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
	p.Kinds, p.Closed = kinds, true
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
	p.Events = func(k schema.Kind) decode.EventReader {
		if k != schema.Perf {
			return none{}
		}
		return &eventReader{rows: &p.rows}
	}
}
