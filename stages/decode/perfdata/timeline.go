package perfdata

import (
	"slices"
	"sort"

	"stackmill/schema"
	"stackmill/stages/decode"
	"stackmill/stages/decode/bounds"
)

// timeline is what the side-band records tell about processes (perf-data 9).
type timeline struct {
	r        *reader
	start    uint64 // the earliest time of all
	current  map[int32]*process
	all      map[int32][]*process // by pid, in order of their start
	recorded []*process           // those with samples, in the order of the first
	kernel   []decode.MapEvent    // of modules and of code that the kernel made
	newest   map[string]decode.FileID
	launched []*process // programs that perf started
	counters []decode.Counter
	shared   shared
}

// process is one process from its fork to the reuse of its pid.
type process struct {
	decode.Process
	from   uint64
	exited bool
	// launcher says that it is perf itself, about to execute the program to record.
	launcher bool
	live     []decode.MapEvent // the mappings of its current program, since base
	base     *snapshot         // the older ones: those that a fork shares
	forked   *snapshot         // what it inherited
	drops    []drop
	exec     *execution // of a program whose mappings are not complete
	rows     rows
	spaces   uint64 // bits of the foreign address spaces it was in
	stacks   decode.Distinct
	chains   map[uint64]chain // recorded chains by their hash
	dumps    []place          // samples with registers to unwind, and no stack yet
}

func (r *reader) timeline() *timeline {
	t := &timeline{r: r, start: noTime, current: map[int32]*process{}, all: map[int32][]*process{}, newest: map[string]decode.FileID{}}
	earliest := func(time uint64) {
		if time != 0 && time != noTime {
			t.start = min(t.start, time)
		}
	}
	for _, s := range r.sidebands {
		earliest(s.time)
	}
	for m := range r.moments.all() {
		earliest(m.time)
	}
	if t.start == noTime {
		t.start = 0
	}
	for i := range r.sidebands {
		t.replay(&r.sidebands[i])
	}
	for _, list := range t.all {
		for _, p := range list {
			p.executed()
		}
	}
	return t
}

// ns is a recorded time from the start.
func (t *timeline) ns(time uint64) int64 {
	if time < t.start {
		return 0
	}
	return int64(time - t.start)
}

// process returns the process of a pid as of now, which is new if it was never
// announced.
func (t *timeline) process(pid int32, now uint64) *process {
	p := t.current[pid]
	if p == nil {
		p = t.begin(pid, now)
	}
	return p
}

func (t *timeline) begin(pid int32, now uint64) *process {
	p := &process{from: now}
	p.PID, p.StartNS = int64(pid), t.ns(now)
	t.current[pid] = p
	t.all[pid] = append(t.all[pid], p)
	return p
}

// at returns the process that had the pid at a time.
func (t *timeline) at(pid int32, time uint64) *process {
	list := t.all[pid]
	i := sort.Search(len(list), func(i int) bool { return list[i].from > time })
	if i > 0 {
		return list[i-1]
	}
	if len(list) > 0 {
		return list[0]
	}
	return t.begin(pid, 0)
}

func (t *timeline) replay(s *sideband) {
	c := cursor{b: s.body, big: t.r.big}
	switch s.typ {
	case recordComm:
		t.comm(s, &c)
	case recordFork:
		t.fork(s, &c)
	case recordExit:
		if pid, _, tid := c.s32(), c.s32(), c.s32(); pid == tid && !c.short {
			t.process(pid, s.time).exited = true
		}
	case recordMmap, recordMmap2:
		t.mmap(s, &c)
	case recordKsymbol:
		t.ksymbol(s, &c)
	}
	if c.short {
		t.r.badRecords++
	}
}

// comm names a process. One that executes a program has none of its mappings any
// more; perf keeps them.
func (t *timeline) comm(s *sideband, c *cursor) {
	pid, tid := c.s32(), c.s32()
	if c.short || pid != tid {
		return
	}
	p := t.process(pid, s.time)
	if s.misc&miscExec != 0 && p.launcher {
		t.launched = append(t.launched, p)
	}
	name := text(c.b[:max(len(c.b)-t.r.trailerSize(), 0)])
	p.Target, p.launcher = name, s.time == 0 && name == launcherName
	if s.misc&miscExec != 0 {
		p.execute(t.ns(s.time))
		for i := range p.JITDumps {
			p.JITDumps[i].Until = min(p.JITDumps[i].Until, t.ns(s.time))
		}
	}
}

// fork begins a process with its parent's name and mappings.
func (t *timeline) fork(s *sideband, c *cursor) {
	pid, ppid := c.s32(), c.s32()
	if c.short || pid == ppid {
		return // a thread
	}
	parent := t.current[ppid]
	if old := t.current[pid]; old != nil && !old.exited && s.misc&miscExec != 0 {
		old.PPID = int64(ppid)
		return // announced at the start of recording
	}
	p := t.begin(pid, s.time)
	p.PPID = int64(ppid)
	if parent == nil || s.misc&miscExec != 0 {
		return
	}
	parent.executed()
	p.Target = parent.Target
	t.inheritDumps(p, parent)
	p.forked = parent.share()
	p.base = p.forked
}

// add adds a mapping of code or of data, or the end of one.
func (p *process) add(m decode.MapEvent) {
	if p.exec != nil {
		p.exec.mapped(p, m)
		return
	}
	if p.put(m); !m.Unmap {
		p.live = append(p.live, m)
	}
}

func (p *process) put(m decode.MapEvent) {
	if m.Modes&4 != 0 {
		p.Image = append(p.Image, m)
	} else {
		p.Data = append(p.Data, m)
	}
}

// mmap adds a mapping to a process.
func (t *timeline) mmap(s *sideband, c *cursor) {
	pid, _ := c.s32(), c.s32()
	m := decode.MapEvent{Time: t.ns(s.time), Address: c.u64(), Size: c.u64(), FileOffset: c.u64(), Modes: 5}
	huge := false
	if s.typ == recordMmap2 {
		id := c.bytes(24)
		prot, flags := c.u32(), c.u32()
		m.Modes, huge = int(prot&7), flags&mapHugeTLB != 0
		if s.misc&miscBuildID != 0 && id != nil {
			m.BuildID = buildIDText(id[4:], id[0])
		} else if id != nil {
			m.File = fileID(cursor{b: id, big: t.r.big})
		}
	} else if s.misc&miscData != 0 {
		m.Modes = 3
	}
	m.Path = text(c.b[:max(len(c.b)-t.r.trailerSize(), 0)])
	if c.short || m.Size == 0 {
		return
	}
	t.newest[m.Path] = m.File
	mode := s.misc & miscMode
	if most, ok := bounds.Mapping(t.r.rec.Arch, t.r.rec.WordBits, m.Address, m.Size); !ok && mode != miscKernel {
		t.r.left(s.at).Out("the size of a mapping", " bytes", s.at.offset(), m.Size, 1, most)
		return
	}
	if mode == miscKernel {
		t.kernelMap(m)
	}
	if mode != miscUser && mode != miscUnknown {
		return
	}
	if m.Modes&4 == 0 {
		t.process(pid, s.time).add(m)
		return
	}
	if m.Path == "[vdso]" {
		m.FileOffset = 0
	}
	if decode.IsJITDump(m.Path) {
		p := t.process(pid, s.time)
		p.JITDumps = append(p.JITDumps, decode.JITDump{Path: m.Path, Mapped: m.Time, From: m.Time, Until: decode.Never})
		return
	}
	if huge || decode.IsGenerated(m.Path, m.BuildID != "" || t.r.imageIDs[m.Path] != "") {
		m.Generated(int64(pid))
	}
	t.process(pid, s.time).add(m)
}

// fileID reads what MMAP2 records of a file: device numbers, inode, generation.
func fileID(c cursor) decode.FileID {
	return decode.FileID{Device: uint64(c.u32())<<32 | uint64(c.u32()), Inode: c.u64(), Generation: c.u64()}
}

// known gives mappings the build-ids that perf noted of files. It read
// them at the end of the recording: where a path named several files, from the
// last of them.
func (t *timeline) known(image []decode.MapEvent) {
	for i := range image {
		if m := &image[i]; m.BuildID == "" && m.File == t.newest[m.Path] {
			m.BuildID = t.r.imageIDs[m.Path]
		}
	}
}

// mapHugeTLB is the flag of memory in huge pages, which has no file.
const mapHugeTLB = 0x40000

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
