package perfdata

import (
	"math"
	"math/bits"
	"strconv"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode/bounds"
)

// sideband is a record about processes, threads or mappings.
type sideband struct {
	time uint64 // 0: from before the recording
	typ  uint32
	misc uint16
	at   recordOffset
	body []byte
}

// sideRecord handles a record of the kernel that is not a sample: it collects records about
// processes and mappings, and counts losses.
func (r *reader) sideRecord(p *recordRun, at recordOffset, typ uint32, misc uint16, body []byte) {
	c := cursorOf(body, r.big)
	switch typ {
	case recordLost:
		c.U64()
		r.stats.lost = bounds.Add(r.stats.lost, int64(min(c.U64(), math.MaxInt64)))
		if e := r.trailerEvent(body, 0); e != nil {
			t, _, _ := r.trailerOf(e, body)
			r.sched.lostAt(t.time, t.cpu)
		} else {
			r.sched.lostUntimed++
		}
	case recordLostSamples:
		r.stats.lostSamples = bounds.Add(r.stats.lostSamples, int64(min(c.U64(), math.MaxInt64)))
	case recordThrottle:
		r.stats.throttled++
	case recordMmap, recordMmap2, recordComm, recordFork, recordExit, recordKsymbol:
		time := r.trailerTime(body)
		p.inRound = p.inRound || time != 0
		r.sched.passedTime(time, -1)
		r.found.sidebands = append(r.found.sidebands, sideband{time, typ, misc, at, body})
		r.found.tellsExec = r.found.tellsExec || typ == recordComm && misc&miscExec != 0
	case recordSwitch, recordSwitchCPUWide:
		r.switchAt(at, typ, misc, body)
	case recordCGroup:
		if !r.found.cgroupNames.add(body[:max(len(body)-r.trailerSize(), 0)], r.big) {
			r.stats.badRecords++
		}
	case recordDeferred:
		r.addDeferred(p, at, body)
	default:
		r.unusedRecord(typ, typ <= recordKernelKnown && typ != 0, body)
	}
}

// unusedRecord counts a record whose content is not used.
func (r *reader) unusedRecord(typ uint32, known bool, body []byte) {
	switch {
	case !known:
		r.unused.unknownRecords[typ]++
	case r.fits(typ, body):
		r.unused.seenRecords[typ]++
	default:
		r.stats.oddRecords++
	}
}

// trailerTime returns the time in a record's trailer (perf-data 6.4), 0 if there is none. All
// records except samples have the trailer.
func (p *recordParser) trailerTime(body []byte) uint64 {
	if len(p.events) == 0 {
		return 0
	}
	a := &p.events[0].attr
	if a.flags&flagSampleIDAll == 0 || a.sampleType&sampleTime == 0 {
		return 0
	}
	behind := 8 * (1 + bits.OnesCount64(a.sampleType&(sampleID|sampleStreamID|sampleCPU|sampleIdentifier)))
	if behind > len(body) {
		return 0
	}
	c := cursorOf(body[len(body)-behind:], p.big)
	if t := c.U64(); t != noTime {
		return t
	}
	return 0
}

// trailerSize returns the size of the trailer in bytes.
func (p *recordParser) trailerSize() int {
	if len(p.events) == 0 || p.events[0].flags&flagSampleIDAll == 0 {
		return 0
	}
	return 8 * bits.OnesCount64(p.events[0].sampleType&(sampleTID|sampleTime|sampleID|sampleStreamID|sampleCPU|sampleIdentifier))
}

// toolRecord reads one of perf's own records. It returns how many bytes after the record belong
// to it.
func (r *reader) toolRecord(typ uint32, misc uint16, body []byte) (behind int) {
	c := cursorOf(body, r.big)
	switch typ {
	case recordHeaderAttr:
		if a, size, err := readAttr(body, r.big); err != nil {
			r.problem(diagnostic.Error, diagnostic.NoOffset, "bad-attributes", "%v", err)
		} else {
			r.addEvent(a, words(body[size:], r.big))
		}
	case recordHeaderFeature:
		bit := c.U64()
		r.end.described = true
		if !c.Short && bit < 256 {
			r.feature(int(bit), c.Rest)
		}
	case recordEventType:
		r.oldNames(body)
	case recordEventUpdate:
		r.updateEvent(&c)
	case recordThreadMap:
		r.threadMap(body)
	case recordTimeConv:
		r.meta.cycles = readCycleClock(body, r.big)
	case recordBuildID:
		r.end.injected = true
		r.buildID(misc, body)
	case recordIDIndex:
		r.idIndex(c.list(idIndexEntry), c.Rest)
	case recordTracingData:
		r.unused.seenRecords[typ]++
		if n := int(c.U32()); n > len(c.Rest) { // simpleperf has the data inside the record
			return (n + 7) &^ 7
		}
		r.tracingData(c.Rest)
	case recordAuxtrace:
		r.stats.auxBytes = bounds.Add(r.stats.auxBytes, int64(min(c.U64(), math.MaxInt64)))
		c = cursorOf(body, r.big)
		return int(min(c.U64(), 1<<62))
	case recordCompressed:
		r.in.compressed = append(r.in.compressed, body)
	case recordCompressed2:
		if !r.compressed2(body) {
			r.stats.badSamples++
		}
	case recordEventIDs:
		r.simpleperfIDs(&c)
	default:
		_, known := recordKinds[typ]
		r.unusedRecord(typ, known, body)
	}
	return 0
}

// cgroupNames maps the ids of control groups to their paths (perf-data 5.2).
type cgroupNames map[uint64]string

// add reads a CGROUP record: an identifier and a path. It returns false if the record ends too
// early.
func (n *cgroupNames) add(body []byte, big bool) bool {
	c := cursorOf(body, big)
	id := c.U64()
	if c.Short {
		return false
	}
	if *n == nil {
		*n = cgroupNames{}
	}
	if _, known := (*n)[id]; !known {
		(*n)[id] = text(c.Rest)
	}
	return true
}

// of returns the path of a control group, or its id if no record has the path.
func (n cgroupNames) of(id uint64) string {
	if path, known := n[id]; known {
		return path
	}
	return strconv.FormatUint(id, 10)
}
