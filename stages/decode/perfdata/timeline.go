package perfdata

import (
	"slices"
	"sort"

	"stackmill/stages/decode"
)

// timeline follows the processes, their programs and their address spaces through the side-band
// records (perf-data 9).
type timeline struct {
	r           *reader
	start       uint64 // the earliest time of any record
	current     map[int32]*process
	all         map[int32][]*process  // pid -> processes that had it, in order of their start
	recorded    []*process            // processes with samples, in order of their first sample
	kernel      []decode.MapEvent     // modules and generated code of the kernel
	files       map[string]*pathFiles // path -> files that had it
	copied      map[string]int64      // path of a program -> how often anonymous memory replaced its text
	kernelID    string                // the build-id of the kernel's own mapping
	launched    []*process            // programs that perf started
	texts       map[string]string     // interned names
	counters    []decode.Counter
	inheritance inheritance
	lives       []life          // forks, execs and exits of threads
	tids        map[int32]int32 // thread -> process, by the records that name the thread
	end         uint64          // the latest time of a record about a thread
	switches    bool            // the recording may show when threads were switched
	follows     bool            // the states of threads are followed (scheduleStep)
	offCPU      bool            // waits are samples of `perf record --off-cpu`
	clock       int32           // the event that measures time on a CPU, -1 if there is none
	foreign     *processRows    // states of threads whose process is unknown
}

// process is one process from its fork to the reuse of its pid.
type process struct {
	decode.Process
	addressSpace
	from   uint64
	exited bool
	// launcher marks perf's child before it executes the program to record.
	launcher bool
	executes bool         // the process executed its program during the recording
	rows     *processRows // nil without samples
	threads  map[int32]*thread
	spaces   uint64         // bits of the foreign address spaces in its samples
	dumps    []recordOffset // samples with stacks to unwind

	wait *processWaits // nil until it is needed
}

// addressSpace is the mappings of a process while its records are replayed.
type addressSpace struct {
	text   []decode.MapEvent // mappings of the program's own file
	live   []int32           // mappings since base: indexes in Mappings, or complements (^) of indexes in DataMappings
	base   *snapshot         // older mappings, shared with forks
	forked *snapshot         // mappings inherited from the parent
	drops  []sharedUnmap
	exec   *execution // set while the mappings of a new program are incomplete
}

func (r *reader) timeline() *timeline {
	t := &timeline{
		r: r, start: noTime, current: map[int32]*process{}, all: map[int32][]*process{},
		files: map[string]*pathFiles{}, copied: map[string]int64{}, texts: map[string]string{}, tids: map[int32]int32{},
		switches: r.tellsSwitches(),
	}
	earliest := func(time uint64) {
		if time != 0 && time != noTime {
			t.start = min(t.start, time)
		}
	}
	for _, s := range r.found.sidebands {
		earliest(s.time)
	}
	earliest(r.found.sampleRefs.earliest)
	earliest(r.found.switchRefs.earliest)
	if t.start == noTime {
		t.start = 0
	}
	r.found.tellsExec = r.found.tellsExec || slices.ContainsFunc(r.events, func(e *event) bool { return e.flags&flagCommExec != 0 })
	for i := range r.found.sidebands {
		t.replay(&r.found.sidebands[i])
	}
	r.found.sidebands = nil
	for _, list := range t.all {
		for _, p := range list {
			p.endExec()
		}
	}
	return t
}

// ns converts a recorded time to ns since the start.
func (t *timeline) ns(time uint64) int64 {
	if time < t.start {
		return 0
	}
	return int64(time - t.start)
}

// process returns the current process with a pid. It begins a new process if no record announced
// one.
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
	if pid == 0 {
		p.Target = idleName
		p.thread(0).namings = []nameInterval{{name: idleName}}
	}
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
	c := cursorOf(s.body, t.r.big)
	switch s.typ {
	case recordComm:
		t.comm(s, &c)
	case recordFork:
		t.fork(s, &c)
	case recordExit:
		pid, _, tid := c.s32(), c.s32(), c.s32()
		if pid == tid && !c.Short {
			t.process(pid, s.time).exited = true
		}
		if p := t.current[pid]; p != nil && !c.Short {
			p.threads[tid].end(s.time)
		}
		t.lived(s, lifeExit, pid, tid)
	case recordMmap, recordMmap2:
		t.mmap(s, &c)
	case recordKsymbol:
		t.ksymbol(s, &c)
	}
	if c.Short {
		t.r.stats.badRecords++
	}
}

// comm names a thread. If the process executed a program, comm also names the program and ends the
// old mappings; perf does not record their ends.
func (t *timeline) comm(s *sideband, c *cursor) {
	pid, tid := c.s32(), c.s32()
	if c.Short {
		return
	}
	p := t.process(pid, s.time)
	name := t.intern(text(c.Rest[:max(len(c.Rest)-t.r.trailerSize(), 0)]))
	p.thread(tid).rename(s, name)
	if pid != tid {
		return
	}
	if s.misc&miscExec != 0 {
		t.lived(s, lifeExec, pid, tid)
	} else if t.switches {
		t.tids[tid] = pid
	}
	if s.misc&miscExec != 0 && p.launcher {
		t.launched = append(t.launched, p)
	}
	p.launcher = s.time == 0 && name == launcherName
	if t.namesProgram(p, s) {
		p.Target, p.executes = name, s.misc&miscExec != 0
	}
	if s.misc&miscExec != 0 {
		p.beginExec(t.ns(s.time))
		p.text = nil
		for i := range p.JITDumps {
			p.JITDumps[i].Until = min(p.JITDumps[i].Until, t.ns(s.time))
		}
	}
}

// namesProgram reports whether a name of a process's first thread is the name of its program. The
// thread may also have renamed itself; kernels before 3.16 do not record the difference.
func (t *timeline) namesProgram(p *process, s *sideband) bool {
	return s.misc&miscExec != 0 || p.Target == "" || !t.r.found.tellsExec || s.time == 0 && !p.executes
}

// intern returns a string that shares its memory with equal strings.
func (t *timeline) intern(text string) string {
	if known, ok := t.texts[text]; ok {
		return known
	}
	t.texts[text] = text
	return text
}

// fork begins a thread, or a process that inherits its parent's program and mappings.
func (t *timeline) fork(s *sideband, c *cursor) {
	pid, ppid, tid, ptid := c.s32(), c.s32(), c.s32(), c.s32()
	if c.Short {
		return
	}
	if s.misc&miscExec == 0 {
		t.lived(s, lifeFork, pid, tid)
	}
	parent := t.current[ppid]
	var parentThread *thread
	if parent != nil {
		parentThread = parent.threads[ptid]
	}
	if pid == ppid {
		t.process(pid, s.time).thread(tid).inherit(s, parentThread)
		return
	}
	t.forkProcess(s, pid, ppid)
	t.current[pid].thread(tid).inherit(s, parentThread)
}

func (t *timeline) forkProcess(s *sideband, pid, ppid int32) {
	parent := t.current[ppid]
	if old := t.current[pid]; old != nil && !old.exited && s.misc&miscExec != 0 {
		old.PPID = int64(ppid)
		return // synthesized when the recording began
	}
	p := t.begin(pid, s.time)
	p.PPID = int64(ppid)
	if parent == nil || s.misc&miscExec != 0 {
		return
	}
	parent.endExec()
	p.Target, p.text = parent.Target, slices.Clone(parent.text)
	t.inheritDumps(p, parent)
	p.forked = parent.share()
	p.base = p.forked
}

// lived notes a record of a thread's fork, exec or exit, unless it is from before the recording.
func (t *timeline) lived(s *sideband, kind lifeKind, pid, tid int32) {
	if t.switches {
		t.tids[tid] = pid
	}
	if s.time == 0 || !t.switches {
		return
	}
	t.end = max(t.end, s.time)
	t.lives = append(t.lives, life{sampleRef{s.time, s.at}, kind, pid, tid})
}
