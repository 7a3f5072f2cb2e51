package perfdata

import (
	"errors"
	"slices"

	"stackmill/internal/ordered"
	"stackmill/internal/spill"
	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
)

// Samples flow through four concurrent steps and a sink (ordered.Chain). Each step's state is
// allocated separately: processors that share a cache line would slow each other down.

// parseStep parses the samples.
type parseStep struct {
	records  *stackReader
	samples  refQueue
	switches refQueue
	sums     refQueue
	end      uint64 // time that sums of waits get
}

// refQueue is a sorted list of records; first is its head.
type refQueue struct {
	refs  *refMerge
	first sampleRef
	more  bool
}

func newRefQueue(l *sampleRefs) refQueue {
	q := refQueue{refs: l.take()}
	q.first, q.more = q.refs.next()
	return q
}

func (q *refQueue) pop() sampleRef {
	first := q.first
	q.first, q.more = q.refs.next()
	return first
}

// next returns the next sample or switch record; false at the end.
func (step *parseStep) next() (m sampleRef, isSwitch, ok bool) {
	switch {
	case step.switches.more && (!step.samples.more || step.switches.first.before(step.samples.first)):
		return step.switches.pop(), true, true
	case step.samples.more:
		return step.samples.pop(), false, true
	case step.sums.more:
		return step.sums.pop(), false, true
	}
	return sampleRef{}, false, false
}

// attributeStep finds the process of each sample and makes its rows.
type attributeStep struct {
	*reader
	t          *timeline
	observe    decode.MappingObserver
	counters   counterValues
	usesKernel bool             // observe was called for the kernel
	cgroups    map[uint64]int32 // the kernel's id of a control group -> index in rec.CGroups
}

// unwindStep makes the raw stack of each sample.
type unwindStep struct {
	stackReader
	usesKernel bool // some stack has kernel frames
}

// sinkStep appends the rows of samples to their processes.
type sinkStep struct {
	accesses uint64 // the rowFields that at least one event has
	space    *spill.Space
	known    []*processRows
	foreign  *processRows // states of threads whose process is unknown
	inMemory int          // number of rows in memory
	err      error
}

// batchSamples is the number of samples in a batch. Each sample may have 64 KiB.
const batchSamples = 512

// queuedBatches is how many batches may wait between two steps.
const queuedBatches = 8

// sampleBatch is a batch of successive samples and switch records on its way through the steps.
type sampleBatch struct {
	list   []parsedSample
	rows   rowBatch         // the rows of all samples
	stacks decode.RawStacks // the stacks of the samples, except those unwound from dumps later
	states []stateRow
}

// parsedSample is a sample or a switch record of a batch.
type parsedSample struct {
	sample
	ref    sampleRef
	misc   uint16 // misc field of the record's header
	p      *process
	stacks *decode.Stacks
	to     *processRows
	rows   int32 // number of the sample's rows
	dumped bool  // its stack is unwound later: the rows refer to a dump

	isSum    bool // a sum of waits
	waits    bool // the sample is the wait, and has no other rows
	wait     row
	isSwitch bool // a switch record, not a sample
	switched switchRecord
	name     int32 // number of the name of the thread in switched
	traced   schedFields
	// switchedOut is the process of the thread in traced that was switched out; other is the
	// process of the thread that was switched in or woken up. nil: unknown.
	switchedOut, other *process
}

// attribute assigns each sample, with its stack, to its process.
func (r *reader) attribute(t *timeline) {
	r.measure(t)
	r.noteFields()
	for _, e := range r.events {
		r.found.accesses |= e.sampleType & rowFields
	}
	if t.renames() {
		r.found.accesses |= renamed
	}
	if r.found.anyExact {
		r.found.accesses |= exactSamples
	}
	r.findTraced()
	r.joinThreads()
	r.describeFields()
	r.describeGaps(t)
	schedule := r.follow(t)
	r.findOffCPU(t)
	samples := &parseStep{records: &stackReader{reader: r}, samples: newRefQueue(&r.found.sampleRefs), sums: newRefQueue(&r.found.sumRefs), end: r.latestTime(t)}
	n := r.found.sampleRefs.n + r.found.sumRefs.n
	if schedule != nil {
		samples.switches = newRefQueue(&r.found.switchRefs)
		n += r.found.switchRefs.n
	}
	processes := &attributeStep{reader: r, t: t, observe: decode.MappingObserverOf(r.in.ctx), counters: counterValues{}, cgroups: map[uint64]int32{}}
	stacks := &unwindStep{stackReader: stackReader{reader: r}}
	sink := &sinkStep{accesses: r.found.accesses, space: r.in.space}
	parts := (n + batchSamples - 1) / batchSamples
	intern := (*sampleBatch).internStacks
	if schedule != nil {
		sink.foreign = schedule.foreign
		intern = func(some *sampleBatch) { // in one step, since waits also add stacks
			some.internStacks()
			schedule.schedule(some)
		}
	}
	ordered.Chain(parts, queuedBatches, []func(*sampleBatch){samples.parse, processes.attribute, stacks.unwind, intern}, sink.append)
	if schedule != nil {
		schedule.close(sink)
	}
	unnamed := int64(0)
	for id := range processes.cgroups {
		if _, named := r.found.cgroupNames[id]; !named {
			unnamed++
		}
	}
	r.count(diagnostic.Info, unnamed, "unnamed-cgroup", "control groups have no path in the recording: they are shown by their ids")
	r.spaceFailed(sink.err)
	r.spaceFailed(errors.Join(r.found.sampleRefs.err, r.found.sumRefs.err))
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

// parse parses the next samples.
func (step *parseStep) parse(to *sampleBatch) {
	r := step.records
	to.list = slices.Grow(to.list[:0], batchSamples)
	for range batchSamples {
		m, isSwitch, ok := step.next()
		if !ok {
			return
		}
		n := len(to.list)
		own := &to.list[:n+1][n]
		own.ref, own.isSwitch, own.traced, own.waits = m, isSwitch, schedFields{}, false
		misc, body := r.body(m.at)
		if isSwitch {
			if r.readSwitch(r.typeOf(m.at), misc, body, &own.switched) {
				to.list = to.list[:n+1]
			}
			continue
		}
		if !r.readSample(misc, body, &own.sample) {
			r.stats.badSamples++
			continue
		}
		if own.left >= 8 { // the size of each field is a multiple of 8 bytes
			r.stats.longSamples++
		}
		if own.exact {
			r.events[own.event].exact = true
		}
		if own.latencies {
			r.unused.latencies++
		}
		r.unused.branches += int64(len(own.branches) / branchSize)
		own.misc = misc
		if r.events[own.event].isOffCPU() {
			own.misc = misc&^miscMode | miscUser
			if own.isSum = m.time >= offCPUSums; own.isSum {
				own.time, own.ref.time = step.end, step.end
			}
		}
		own.traced = r.traced[own.event].read(own.raw, r.big)
		to.list = to.list[:n+1]
	}
}

// attribute finds the processes of samples.
func (a *attributeStep) attribute(to *sampleBatch) {
	to.rows.reset(batchSamples, a.found.accesses)
	for i := range to.list {
		if own := &to.list[i]; own.isSwitch {
			a.switched(own)
		} else {
			a.sample(own, &to.rows)
		}
	}
}

func (a *attributeStep) sample(own *parsedSample, to *rowBatch) {
	s, m := &own.sample, &own.ref
	p := a.t.at(s.pid, m.time)
	row := row{
		wide:   [wideColumns]int64{rowTime: a.t.ns(a.when(s, m.at))},
		narrow: [narrowColumns]int32{rowThread: s.tid, rowCPU: s.cpu, rowEvent: s.event, rowName: p.numberName(s.tid, m)},
	}
	dumped := a.isUnwound(s)
	if dumped {
		row.narrow[rowStack] = decode.StackOfDump(len(p.dumps))
	}
	if !a.usesKernel && a.inKernel(s, own.misc) {
		a.usesKernel = true
		a.observe(a.rec, []decode.MapEvent{a.t.kernelItself()})
	}
	if p.Number == 0 { // not numbered yet: number it even if none of its samples get rows
		p.rows = &processRows{}
		a.t.recorded = append(a.t.recorded, p)
		p.Number = len(a.t.recorded)
		a.t.assignBuildIDs(p.Mappings)
		a.observe(a.rec, p.Mappings)
	}
	row.wide[rowParallelism], row.wide[rowRecord] = -1, -1
	if a.fields[s.event] != nil {
		row.wide[rowRecord] = int64(m.at)
	}
	if a.found.accesses&sampleCgroup != 0 {
		row.narrow[rowCGroup] = a.internCGroup(s.cgroup)
	}
	before := to.len()
	if a.t.offCPU && !dumped && a.events[s.event].isOffCPU() {
		a.wait(own, &row)
	} else {
		a.addRows(m, &row, s, to)
	}
	rows := int32(to.len() - before)
	if dumped && rows > 0 {
		p.dumps = append(p.dumps, m.at)
	}
	p.DurationNS = max(p.DurationNS, a.t.ns(m.time)-p.StartNS)
	own.p, own.stacks, own.to, own.rows, own.dumped = p, p.Stacks, p.rows, rows, dumped
	if own.traced.kind != tracedNothing {
		a.traced(own)
	}
}

// switched finds the process of a switch record's thread.
func (a *attributeStep) switched(own *parsedSample) {
	own.p, own.to, own.rows = nil, nil, 0
	if w := &own.switched; w.pid > 0 {
		own.p = a.t.at(w.pid, own.ref.time)
		own.name = own.p.numberName(w.tid, &own.ref)
	}
}

// traced finds the processes of the threads in a sample's fields.
func (a *attributeStep) traced(own *parsedSample) {
	t := &own.traced
	own.switchedOut, own.other = nil, nil
	if t.kind != tracedSwitch {
		own.other = a.owner(t.tid, own.ref.time)
		return
	}
	own.other = a.owner(t.next, own.ref.time)
	switch {
	case own.tid > 0:
		own.switchedOut = own.p
	case own.tid == 0 && t.tid != 0: // perf's process namespace does not show this thread
	default:
		own.switchedOut = a.owner(t.tid, own.ref.time)
	}
}

// owner returns the process of a thread id in a tracepoint's field. It returns nil for the idle
// thread, and for threads outside of perf's process namespace.
func (a *attributeStep) owner(tid int32, time uint64) *process {
	if a.sched.foreign {
		tid = a.sched.local[tid]
	}
	if tid <= 0 {
		return nil
	}
	pid, known := a.t.tids[tid]
	if !known {
		if pid = a.found.owners[tid].pid; pid == 0 {
			pid = tid
		}
	}
	return a.t.at(pid, time)
}

// inKernel reports whether a sample was taken in the kernel, by the first word of its chain.
func (p *recordParser) inKernel(s *sample, misc uint16) bool {
	if len(s.chain) == 0 {
		return misc&miscMode == miscKernel
	}
	c := cursorOf(s.chain, p.big)
	return c.U64() == contextKernel
}

// unwind makes the stacks of samples. Stacks that are unwound from dumps later are made only to
// count their reasons, and dropped.
func (r *unwindStep) unwind(to *sampleBatch) {
	to.stacks.Reset(len(to.list))
	for i := range to.list {
		s := &to.list[i]
		if s.isSwitch {
			continue
		}
		raw := r.stack(&s.sample, s.misc)
		if r.spaces != 0 {
			s.p.spaces, r.spaces = s.p.spaces|r.spaces, 0
		}
		r.usesKernel = r.usesKernel || raw.Kernel > 0
		if raw.Reason != "" {
			r.stats.incomplete[raw.Reason]++
		}
		if s.waits {
			raw = s.waitStack(raw)
		}
		if !s.dumped {
			to.stacks.Add(raw)
		}
	}
}

// addRows adds the rows of a sample: one row, or one for each counter whose value changed.
func (a *attributeStep) addRows(m *sampleRef, row *row, s *sample, to *rowBatch) {
	weight, ok := s.weight, a.weightInBounds(s)
	if !ok {
		s.weight = 0
	}
	if s.values != nil {
		a.addCounterRows(a.counters, s, m, *row, to)
	} else {
		if a.inBounds(a.t, s, m) {
			row.wide[rowPeriod] = int64(s.period)
		}
		a.addRow(s, row, to)
	}
	if !ok {
		a.outliers(m.at).Add("the weight of a sample", " cycles", m.at.offset(), weight, 0, a.mostWeight())
	}
}

// internStacks sets the stack numbers of the rows, and adds the samples that are waits.
func (b *sampleBatch) internStacks() {
	b.states = b.states[:0]
	row, stack := int32(0), 0
	for i := range b.list {
		s := &b.list[i]
		if s.isSwitch {
			continue
		}
		own := b.rows.narrow[rowStack][row : row+s.rows]
		row += s.rows
		if s.dumped {
			continue
		}
		number := s.stacks.Intern(b.stacks.At(stack))
		if s.waits {
			s.wait.narrow[rowStack] = number
			b.states = append(b.states, stateRow{p: s.p, wait: s.wait, waits: true, unknown: true})
		}
		for i := range own {
			own[i] = number
		}
		stack++
	}
}

// append appends the rows of samples to their processes; false after an error. It copies successive
// rows of the same process together.
func (k *sinkStep) append(some *sampleBatch) bool {
	row := 0
	for i := 0; i < len(some.list); {
		from, to := row, some.list[i].to
		for ; i < len(some.list) && some.list[i].to == to; i++ {
			row += int(some.list[i].rows)
		}
		if from == row { // no rows, as for switch records
			continue
		}
		if to.n == 0 {
			k.known = append(k.known, to)
		}
		to.add(some.rows.part(from, row), k.accesses)
		k.inMemory += row - from
		if k.limitMemory(); k.err != nil {
			return false
		}
	}
	k.addStates(some.states, k.foreign)
	k.limitMemory()
	return k.err == nil
}

// limitMemory spills the rows of all processes if they take too much memory.
func (k *sinkStep) limitMemory() {
	if int64(k.inMemory)*rowSize(k.accesses) <= k.space.Memory {
		return
	}
	k.inMemory = 0
	for _, p := range k.known {
		k.err = errors.Join(k.err, p.spill(k.space))
	}
}

// addRow adds a row of a sample.
func (r *reader) addRow(s *sample, row *row, to *rowBatch) {
	if r.found.accesses&anyAccess != 0 {
		fields, access := r.events[row.narrow[rowEvent]].sampleType, &row.wide
		access[rowAddress] = recorded(s.addr, fields&sampleAddr != 0)
		access[rowWeight] = int64(s.weight)
		access[rowSource] = recorded(s.dataSource, fields&sampleDataSrc != 0 && s.dataSource != unavailable)
		access[rowPhysical] = recorded(s.physical, fields&samplePhysAddr != 0)
		access[rowExact] = 0
		if s.exact {
			access[rowExact] = 1
		}
	}
	to.add(row)
}

// recorded returns the value of a field, or -1 if the sample lacks the field (ok is false).
func recorded(v uint64, ok bool) int64 {
	if !ok {
		return -1
	}
	return int64(v)
}

// complete fills in the fields of a process that later stages read.
func (t *timeline) complete(p *process, usesKernel bool) {
	t.inherit(p)
	t.assignBuildIDs(p.Mappings)
	t.assignBuildIDs(p.DataMappings)
	if usesKernel {
		p.Mappings = append(p.Mappings, t.kernelImage(p)...)
	}
	p.Mappings = append(p.Mappings, slices.Concat(guest.image(p), hypervisor.image(p))...)
	if p.Number > 1 {
		p.Lineage = lineage(p)
	}
	if p.Target == "" {
		p.Target = "(unknown)"
	}
	p.Kinds, p.Closed, p.Shared = t.kinds(), !t.r.end.unclosed, true
	p.Counters = t.counters
	p.ThreadNames = t.names(p)
	p.Records = func(k schema.Kind) int64 {
		switch k {
		case schema.Perf:
			return int64(p.rows.n)
		case schema.Wait:
			return int64(p.waits().rows.n)
		}
		return 0
	}
	if len(p.dumps) > 0 {
		p.Dumps = dumpList{t, p}
	}
	p.Release = func() { *p.rows, p.waits().rows, p.dumps = processRows{}, processRows{}, nil }
	dumps := len(p.dumps)
	p.Events = func(k schema.Kind, _ ...string) decode.EventReader {
		switch k {
		case schema.Perf:
			shares := wallShares{clock: t.clock, times: p.waits().times, given: map[int32]*threadTime{}}
			return &eventReader{r: t.r, rows: p.rows, fields: t.r.found.accesses, record: shares.record}
		case schema.Wait:
			waits := waitRows{t: t, dumps: dumps}
			return &eventReader{r: t.r, rows: &p.waits().rows, fields: waitFields, record: waits.record}
		}
		return emptyReader{}
	}
}
