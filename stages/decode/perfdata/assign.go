package perfdata

import (
	"errors"
	"slices"

	"stackmill/internal/ordered"
	"stackmill/internal/spill"
	"stackmill/schema"
	"stackmill/stages/decode"
)

// Samples pass four steps and what adds them (relay.Chain). What one of these writes is not near
// to what another one uses: the processors would take it from each other all the time.

// sampler reads the samples.
type sampler struct {
	stackReader
	moments *momentMerge
}

// assigner finds the processes of samples, and makes their rows.
type assigner struct {
	*reader
	t          *timeline
	early      decode.Early
	counters   totals
	usesKernel bool // early knows of the kernel
	recent     [recentThreads]threadSeen
	cgroups    map[uint64]int64 // numbers
}

// stacker makes the stacks of samples.
type stacker struct {
	stackReader
	usesKernel bool // some stack has kernel frames
}

// adder adds the rows of samples to their processes.
type adder struct {
	accesses uint64 // rowFields that any event has
	space    *spill.Space
	known    []*rows
	kept     int // rows in memory
	err      error
}

// readEach is how many samples are read before they are added: they may have 64 KiB each.
const readEach = 512

// readAhead is how many times that may wait for a goroutine.
const readAhead = 8

// readSamples are successive samples that were read.
type readSamples struct {
	list   []readSample
	rows   rowBatch         // of all
	stacks decode.RawStacks // of all that are not dumped
}

// readSample is one of them.
type readSample struct {
	sample
	moment moment
	misc   uint16 // of its record
	p      *process
	stacks *decode.Stacks
	to     *rows
	rows   int32 // how many it has
	dumped bool  // its stack is to be unwound: the rows refer to a dump
}

// assign gives each sample to its process and finds its stack.
func (r *reader) assign(t *timeline) {
	r.measure(t)
	r.noteFields()
	for _, e := range r.events {
		r.accesses |= e.sampleType & rowFields
	}
	if t.renames() {
		r.accesses |= renamed
	}
	if r.anyExact {
		r.accesses |= exactSamples
	}
	samples := &sampler{stackReader: stackReader{reader: r}, moments: r.moments.take()}
	processes := &assigner{reader: r, t: t, early: decode.EarlyOf(r.ctx), counters: totals{}, cgroups: map[uint64]int64{}}
	stacks := &stacker{stackReader: stackReader{reader: r}}
	to := &adder{accesses: r.accesses, space: r.space}
	parts := (r.moments.n + readEach - 1) / readEach
	ordered.Chain(parts, readAhead, []func(*readSamples){samples.read, processes.assign, stacks.add, (*readSamples).number}, to.add)
	r.spaceFailed(to.err)
	r.spaceFailed(r.moments.err)
	t.makeCounters()
	if stacks.usesKernel {
		t.separate()
	}
	for _, p := range t.recorded {
		t.complete(p, stacks.usesKernel)
	}
	t.judgeInherited()
	t.judgeCopies()
}

// read reads the next samples.
func (r *sampler) read(to *readSamples) {
	to.list = slices.Grow(to.list[:0], readEach)
	for range readEach {
		m, ok := r.moments.next()
		if !ok {
			return
		}
		n := len(to.list)
		own := &to.list[:n+1][n]
		misc, body := r.body(m.at)
		if !r.readSample(misc, body, &own.sample) {
			r.badSamples++
			continue
		}
		if own.left >= 8 { // fields are multiples of 8 bytes
			r.longSamples++
		}
		if own.exact {
			r.events[own.event].exact = true
		}
		if own.latencies {
			r.latencies++
		}
		if len(own.branches) > 0 {
			r.branches += int64(len(own.branches) / branchSize)
		}
		own.moment, own.misc = m, misc
		to.list = to.list[:n+1]
	}
}

// assign assigns samples to their processes.
func (a *assigner) assign(to *readSamples) {
	to.rows.reset(readEach, a.accesses)
	for i := range to.list {
		a.sample(&to.list[i], &to.rows)
	}
}

func (a *assigner) sample(own *readSample, to *rowBatch) {
	s, m := &own.sample, &own.moment
	p := a.t.at(s.pid, m.time)
	row := row{time: a.t.ns(a.when(s, m.at)), tid: s.tid, cpu: s.cpu, event: s.event, name: a.numberName(p, s.tid, m)}
	dumped := a.isUnwound(s)
	if dumped {
		row.stack = decode.StackOfDump(len(p.dumps))
	}
	if !a.usesKernel && a.inKernel(s, own.misc) {
		a.usesKernel = true
		a.early(a.rec, []decode.MapEvent{a.t.kernelItself()})
	}
	if p.Number == 0 { // its samples may count nothing
		p.rows = &rows{}
		a.t.recorded = append(a.t.recorded, p)
		p.Number = len(a.t.recorded)
		a.t.identify(p.Image)
		a.early(a.rec, p.Image)
	}
	if a.accesses&sampleCgroup != 0 {
		row.access[accessCGroup] = a.numberCGroup(s.cgroup)
	}
	before := to.len()
	a.addRows(m, &row, s, to)
	rows := int32(to.len() - before)
	if dumped && rows > 0 {
		p.dumps = append(p.dumps, m.at)
	}
	p.DurationNS = max(p.DurationNS, a.t.ns(m.time)-p.StartNS)
	own.p, own.stacks, own.to, own.rows, own.dumped = p, p.Stacks, p.rows, rows, dumped
}

// inKernel reports whether a sample was taken in the kernel, as far as the first word of its
// chain says.
func (r *reader) inKernel(s *sample, misc uint16) bool {
	if len(s.chain) == 0 {
		return misc&miscMode == miscKernel
	}
	c := cursorOf(s.chain, r.big)
	return c.U64() == contextKernel
}

// add adds the stacks of samples that are not dumped.
func (r *stacker) add(to *readSamples) {
	to.stacks.Reset(len(to.list))
	for i := range to.list {
		s := &to.list[i]
		raw := r.stack(&s.sample, s.misc)
		if r.spaces != 0 {
			s.p.spaces, r.spaces = s.p.spaces|r.spaces, 0
		}
		r.usesKernel = r.usesKernel || raw.Kernel > 0
		r.countReason(raw.Reason)
		if !s.dumped {
			to.stacks.Add(raw)
		}
	}
}

// addRows adds the rows of the sample that was read: one, or one for each counter that
// moved.
func (a *assigner) addRows(m *moment, row *row, s *sample, to *rowBatch) {
	weight, ok := s.weight, a.weightInBounds(s)
	if !ok {
		s.weight = 0
	}
	if s.values != nil {
		a.counted(a.counters, s, m, *row, to)
	} else {
		if a.inBounds(a.t, s, m) {
			row.period = int64(s.period)
		}
		a.keep(s, row, to)
	}
	if !ok {
		a.left(m.at).Out("the weight of a sample", " cycles", m.at.offset(), weight, 0, a.mostWeight())
	}
}

// number gives the rows the numbers of their stacks.
func (some *readSamples) number() {
	row, stack := int32(0), 0
	for i := range some.list {
		s := &some.list[i]
		own := some.rows.stack[row : row+s.rows]
		row += s.rows
		if s.dumped {
			continue
		}
		number := s.stacks.Number(some.stacks.At(stack))
		for i := range own {
			own[i] = number
		}
		stack++
	}
}

// add adds samples to their processes, those of one that follow each other at once; false
// after an error.
func (a *adder) add(some *readSamples) bool {
	row := 0
	for i := 0; i < len(some.list); {
		from, to := row, some.list[i].to
		for ; i < len(some.list) && some.list[i].to == to; i++ {
			row += int(some.list[i].rows)
		}
		if from == row {
			continue
		}
		if to.n == 0 {
			a.known = append(a.known, to)
		}
		to.add(some.rows.part(from, row), a.accesses)
		a.kept += row - from
		if a.bound(); a.err != nil {
			return false
		}
	}
	return true
}

// bound puts the rows of all processes aside if they take too much memory.
func (a *adder) bound() {
	if int64(a.kept)*rowSize(a.accesses) <= a.space.Memory {
		return
	}
	a.kept = 0
	for _, p := range a.known {
		a.err = errors.Join(a.err, p.putAside(a.space))
	}
}

// keep adds a row of a sample.
func (r *reader) keep(s *sample, row *row, to *rowBatch) {
	if r.accesses&anyAccess != 0 {
		fields, access := r.events[row.event].sampleType, &row.access
		access[accessAddress] = recorded(s.addr, fields&sampleAddr != 0)
		access[accessWeight] = int64(s.weight)
		access[accessSource] = recorded(s.dataSource, fields&sampleDataSrc != 0 && s.dataSource != unavailable)
		access[accessPhysical] = recorded(s.physical, fields&samplePhysAddr != 0)
		access[accessExact] = 0
		if s.exact {
			access[accessExact] = 1
		}
	}
	to.add(row)
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
	t.identify(p.Image)
	t.identify(p.Data)
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
	p.Kinds, p.Closed, p.Shared = kinds, !t.r.unclosed, true
	p.Counters = t.counters
	p.ThreadNames = t.names(p)
	p.Records = func(k schema.Kind) int64 {
		if k == schema.Perf {
			return int64(p.rows.n)
		}
		return 0
	}
	if len(p.dumps) > 0 {
		p.Dumps = dumps{t, p}
	}
	p.Release = func() { *p.rows, p.dumps = rows{}, nil }
	p.Events = func(k schema.Kind, _ ...string) decode.EventReader {
		if k != schema.Perf {
			return none{}
		}
		return &eventReader{r: t.r, rows: p.rows}
	}
}
