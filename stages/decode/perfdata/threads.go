package perfdata

import (
	"maps"
	"slices"

	"stackmill/stages/decode"
)

// idleName is the name of the kernel's idle threads, one on each CPU, all with the id 0. No
// record names them.
const idleName = "swapper"

// thread has the names of a thread id of a process (perf-data 5.2). Several threads may have
// the id, one after the other.
type thread struct {
	namings []nameInterval // in the order of time; the first holds from the beginning
	at      int            // the naming of the latest sample
	used    int32          // how many namings have samples
}

// nameInterval is a name and the moment from which samples of the thread have it.
type nameInterval struct {
	moment
	name   string // empty if it is unknown
	begun  uint64 // when the thread got it, 0 if that was before the recording
	ended  uint64 // when the thread ended, 0 if that was not recorded
	number int32  // its number among those that have samples, from 1; 0: it has none
}

// rename gives a thread a name from the moment of a record on.
func (th *thread) rename(s *sideband, name string) {
	next := nameInterval{moment: moment{s.time, s.at}, name: name, begun: s.time}
	last := len(th.namings) - 1
	switch {
	case last < 0 && s.time == 0:
		next.moment = moment{}
	case last < 0:
		th.namings = append(th.namings, nameInterval{}) // its name until now is unknown
	case th.namings[last].ended == 0 && th.namings[last].name == name:
		return
	case s.time == 0 && th.namings[last].name == "":
		th.namings[last].name = name
		return
	}
	th.namings = append(th.namings, next)
}

// inherit gives a thread that a record begins the name of the one that made it. What perf made
// up when it began to record (miscExec) says less than what is known already.
func (th *thread) inherit(s *sideband, parent *thread) {
	switch {
	case len(th.namings) == 0:
		th.namings = []nameInterval{{name: parent.name(), begun: s.time}}
	case s.misc&miscExec == 0:
		th.rename(s, parent.name())
	}
}

// name is the thread's latest name, empty if it is unknown.
func (th *thread) name() string {
	if th == nil || len(th.namings) == 0 {
		return ""
	}
	return th.namings[len(th.namings)-1].name
}

// end notes that a thread has ended; it may have later samples.
func (th *thread) end(time uint64) {
	if th != nil && len(th.namings) > 0 {
		th.namings[len(th.namings)-1].ended = time
	}
}

// number returns the number of the name that the thread has in a sample, from 0. Samples come
// in the order of time.
func (th *thread) number(m *moment) int32 {
	if len(th.namings) == 0 {
		return 0
	}
	for th.at+1 < len(th.namings) && !m.before(th.namings[th.at+1].moment) {
		th.at++
	}
	n := &th.namings[th.at]
	if n.number == 0 {
		th.used++
		n.number = th.used
	}
	return n.number - 1
}

// forget drops names that were given up before the first sample.
func (th *thread) forget(first uint64) {
	for len(th.namings) > 1 && th.namings[1].time < first {
		th.namings = th.namings[1:]
	}
	if len(th.namings) > 0 {
		th.namings[0].moment = moment{}
	}
}

// thread returns a thread of a process, a new one if need be.
func (p *process) thread(tid int32) *thread {
	th := p.threads[tid]
	if th == nil {
		if p.threads == nil {
			p.threads = map[int32]*thread{}
		}
		th = &thread{}
		p.threads[tid] = th
	}
	return th
}

// rename reports whether threads are renamed while samples are taken.
func (t *timeline) renames() (some bool) {
	for _, list := range t.all {
		for _, p := range list {
			for _, th := range p.threads {
				th.forget(t.r.moments.begin())
				some = some || len(th.namings) > 1
			}
		}
	}
	return some
}

// names are the names that the process's threads had in samples, by thread and time.
func (t *timeline) names(p *process) (list []decode.ThreadName) {
	for _, tid := range slices.Sorted(maps.Keys(p.threads)) {
		namings := p.threads[tid].namings
		for i := range namings {
			n := &namings[i]
			if n.number == 0 || n.name == "" {
				continue
			}
			name := decode.ThreadName{ThreadID: int64(tid), Number: n.number - 1, Name: n.name, FromNS: t.ns(n.begun), UntilNS: decode.Never}
			switch {
			case n.ended != 0:
				name.UntilNS = t.ns(n.ended)
			case i+1 < len(namings) && namings[i+1].begun != 0:
				name.UntilNS = t.ns(namings[i+1].begun)
			}
			list = append(list, name)
		}
	}
	p.threads = nil
	return list
}

// recentThreads is for how many threads the last look-up is kept: samples of a few threads take
// turns.
const recentThreads = 64

// threadSeen is a thread that was looked up.
type threadSeen struct {
	p   *process
	tid int32
	*thread
}

// numberName returns the number of the name that a thread has in a sample.
func (a *assigner) numberName(p *process, tid int32, m *moment) int32 {
	seen := &a.recent[uint32(tid)%recentThreads]
	if seen.p != p || seen.tid != tid || seen.thread == nil {
		*seen = threadSeen{p, tid, p.threads[tid]}
	}
	if seen.thread == nil {
		return 0
	}
	return seen.number(m)
}

// noCGroup is the number of no control group.
const noCGroup = -1

// numberCGroup returns the number of a control group. The kernel gives 0 where there is none.
func (a *assigner) numberCGroup(id uint64) int64 {
	if id == 0 {
		return noCGroup
	}
	n, known := a.cgroups[id]
	if !known {
		n = int64(len(a.rec.CGroups))
		a.cgroups[id] = n
		a.rec.CGroups = append(a.rec.CGroups, a.cgroupNames.of(id))
	}
	return n
}
