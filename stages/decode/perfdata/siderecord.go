package perfdata

import (
	"math"
	"math/bits"

	"stackmill/stages/decode/bounds"
)

// sideband is a record about processes and their mappings.
type sideband struct {
	time uint64 // 0: before the recording
	typ  uint32
	misc uint16
	at   recordOffset
	body []byte
}

// sideRecord collects a record about processes, or counts what the kernel lost.
func (r *reader) sideRecord(p *recordRun, at recordOffset, typ uint32, misc uint16, body []byte) {
	c := cursorOf(body, r.big)
	switch typ {
	case recordLost:
		c.U64()
		r.stats.lost = bounds.Add(r.stats.lost, int64(min(c.U64(), math.MaxInt64)))
	case recordLostSamples:
		r.stats.lostSamples = bounds.Add(r.stats.lostSamples, int64(min(c.U64(), math.MaxInt64)))
	case recordThrottle:
		r.stats.throttled++
	case recordMmap, recordMmap2, recordComm, recordFork, recordExit, recordKsymbol:
		time := r.trailerTime(body)
		p.inRound = p.inRound || time != 0
		r.found.sidebands = append(r.found.sidebands, sideband{time, typ, misc, at, body})
		r.found.tellsExec = r.found.tellsExec || typ == recordComm && misc&miscExec != 0
	case recordCGroup:
		if !r.found.cgroupNames.add(body[:max(len(body)-r.trailerSize(), 0)], r.big) {
			r.stats.badRecords++
		}
	case recordDeferred:
		r.addDeferred(p, at, body)
	default:
		if typ > recordKernelKnown || typ == 0 {
			r.unused.unknownRecords[typ]++
		} else if r.fits(typ, body) {
			r.noteRecord(typ)
		} else {
			r.stats.oddRecords++
		}
	}
}

// trailerTime returns the time in a record's trailer (perf-data 6.4), 0 if there is none. All
// records but samples have the trailer.
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

// trailerSize is the size of the trailer.
func (p *recordParser) trailerSize() int {
	if len(p.events) == 0 || p.events[0].flags&flagSampleIDAll == 0 {
		return 0
	}
	return 8 * bits.OnesCount64(p.events[0].sampleType&(sampleTID|sampleTime|sampleID|sampleStreamID|sampleCPU|sampleIdentifier))
}
