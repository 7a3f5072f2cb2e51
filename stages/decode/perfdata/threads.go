package perfdata

import (
	"maps"
	"slices"

	"stackmill/stages/decode"
)

// idleName is the name of the kernel's idle threads, one per CPU, all with the id 0. No record
// names them.
const idleName = "swapper"

// thread has the names of a thread id in a process (perf-data 5.2). Several threads may have the id
// one after the other.
type thread struct {
	namings []nameInterval // in order of time; the first is valid from the beginning
	at      int            // index in namings for the latest sample
	used    int32          // number of namings that samples have
}

// nameInterval is a name of a thread, and the record from which on samples of the thread have it.
type nameInterval struct {
	sampleRef
	name   string // empty if it is unknown
	begun  uint64 // when the thread got the name, 0 if before the recording
	ended  uint64 // when the thread ended, 0 if that was not recorded
	number int32  // number among the thread's names that samples have, from 1; 0 if no sample has it
}

// rename gives a thread a new name, from a record on.
func (th *thread) rename(s *sideband, name string) {
	next := nameInterval{sampleRef: sampleRef{s.time, s.at}, name: name, begun: s.time}
	last := len(th.namings) - 1
	switch {
	case last < 0 && s.time == 0:
		next.sampleRef = sampleRef{}
	case last < 0:
		th.namings = append(th.namings, nameInterval{}) // its earlier name is unknown
	case th.namings[last].ended == 0 && th.namings[last].name == name:
		return
	case s.time == 0 && th.namings[last].name == "":
		th.namings[last].name = name
		return
	}
	th.namings = append(th.namings, next)
}

// inherit gives a new thread the name of its creator. A synthesized record (miscExec) does not
// replace a known name.
func (th *thread) inherit(s *sideband, parent *thread) {
	switch {
	case len(th.namings) == 0:
		th.namings = []nameInterval{{name: parent.name(), begun: s.time}}
	case s.misc&miscExec == 0:
		th.rename(s, parent.name())
	}
}

// name returns the latest name, empty if it is unknown.
func (th *thread) name() string {
	if th == nil || len(th.namings) == 0 {
		return ""
	}
	return th.namings[len(th.namings)-1].name
}

// end notes that a thread has ended; it may still have later samples.
func (th *thread) end(time uint64) {
	if th != nil && len(th.namings) > 0 {
		th.namings[len(th.namings)-1].ended = time
	}
}

// number returns the number, from 0, of the name that the thread has in a sample. Samples must come
// in order of time.
func (th *thread) number(m *sampleRef) int32 {
	if len(th.namings) == 0 {
		return 0
	}
	for th.at+1 < len(th.namings) && !m.before(th.namings[th.at+1].sampleRef) {
		th.at++
	}
	n := &th.namings[th.at]
	if n.number == 0 {
		th.used++
		n.number = th.used
	}
	return n.number - 1
}

// forget drops the names that a later name replaced before the first sample.
func (th *thread) forget(first uint64) {
	for len(th.namings) > 1 && th.namings[1].time < first {
		th.namings = th.namings[1:]
	}
	if len(th.namings) > 0 {
		th.namings[0].sampleRef = sampleRef{}
	}
}

// thread returns a thread of a process, which it creates if needed.
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

// renames reports whether some thread has several names during the time of the samples.
func (t *timeline) renames() (some bool) {
	for _, list := range t.all {
		for _, p := range list {
			for _, th := range p.threads {
				th.forget(t.r.found.sampleRefs.begin())
				some = some || len(th.namings) > 1
			}
		}
	}
	return some
}

// names returns the names that the process's threads have in samples, by thread and time.
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

// numberName returns the number of the name that a thread has in a sample.
func (p *process) numberName(tid int32, m *sampleRef) int32 {
	if th := p.threads[tid]; th != nil {
		return th.number(m)
	}
	return 0
}

// noCGroup is the number of a sample without a control group.
const noCGroup = -1

// internCGroup returns the number of a control group. The kernel's id 0 means none.
func (a *attributeStep) internCGroup(id uint64) int32 {
	if id == 0 {
		return noCGroup
	}
	n, known := a.cgroups[id]
	if !known {
		n = int32(len(a.rec.CGroups))
		a.cgroups[id] = n
		a.rec.CGroups = append(a.rec.CGroups, a.found.cgroupNames.of(id))
	}
	return n
}
