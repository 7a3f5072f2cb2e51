package perfdata

import (
	"sort"

	"stackmill/stages/decode"
)

// timeline is what the side-band records say about processes (perf-data 9).
type timeline struct {
	r        *reader
	start    uint64 // the earliest time of all
	current  map[int32]*process
	all      map[int32][]*process  // by pid, in order of their start
	latest   sharing               // asked for: successive samples are mostly of one pid
	recorded []*process            // those with samples, in the order of their first samples
	kernel   []decode.MapEvent     // of modules and of code that the kernel made
	files    map[string]*pathFiles // by path
	kernelID string                // of the kernel's own mapping
	launched []*process            // programs that perf started
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
	live     []int32   // the mappings of its current program since base: their numbers in Image, or their complements in Data
	base     *snapshot // the older ones: those that a fork shares
	forked   *snapshot // what it inherited
	drops    []drop
	exec     *execution // nil unless the mappings of a new program are incomplete
	rows     *rows      // nil without samples
	spaces   uint64     // bits of the foreign address spaces it was in
	dumps    []place    // samples whose stacks are to be unwound, by number
}

func (r *reader) timeline() *timeline {
	t := &timeline{r: r, start: noTime, current: map[int32]*process{}, all: map[int32][]*process{}, files: map[string]*pathFiles{}}
	earliest := func(time uint64) {
		if time != 0 && time != noTime {
			t.start = min(t.start, time)
		}
	}
	for _, s := range r.sidebands {
		earliest(s.time)
	}
	earliest(r.moments.earliest)
	if t.start == noTime {
		t.start = 0
	}
	for i := range r.sidebands {
		t.replay(&r.sidebands[i])
	}
	r.sidebands = nil
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

// process returns the current process of a pid, a new one if none was announced.
func (t *timeline) process(pid int32, now uint64) *process {
	p := t.current[pid]
	if p == nil {
		p = t.begin(pid, now)
	}
	return p
}

func (t *timeline) begin(pid int32, now uint64) *process {
	p := &process{from: now}
	p.PID, p.StartNS, p.Stacks = int64(pid), t.ns(now), &decode.Stacks{}
	t.current[pid] = p
	t.all[pid] = append(t.all[pid], p)
	t.latest = sharing{}
	return p
}

// sharing are the processes that share a pid, in the order of their start.
type sharing struct {
	pid  int32
	list []*process
}

// at returns the process that had the pid at a time.
func (t *timeline) at(pid int32, time uint64) *process {
	if t.latest.list == nil || t.latest.pid != pid {
		t.latest = sharing{pid, t.all[pid]}
	}
	list := t.latest.list
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
	c := cursorOf(s.body, t.r.big)
	switch s.typ {
	case recordComm:
		t.comm(s, &c)
	case recordFork:
		t.fork(s, &c)
	case recordExit:
		if pid, _, tid := c.s32(), c.s32(), c.s32(); pid == tid && !c.Short {
			t.process(pid, s.time).exited = true
		}
	case recordMmap, recordMmap2:
		t.mmap(s, &c)
	case recordKsymbol:
		t.ksymbol(s, &c)
	}
	if c.Short {
		t.r.badRecords++
	}
}

// comm names a process. One that executes a program loses its mappings, which perf does
// not record.
func (t *timeline) comm(s *sideband, c *cursor) {
	pid, tid := c.s32(), c.s32()
	if c.Short || pid != tid {
		return
	}
	p := t.process(pid, s.time)
	if s.misc&miscExec != 0 && p.launcher {
		t.launched = append(t.launched, p)
	}
	name := text(c.Rest[:max(len(c.Rest)-t.r.trailerSize(), 0)])
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
	if c.Short || pid == ppid {
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
