package perfdata

import (
	"math"
	"math/bits"

	"stackmill/stages/decode/bounds"
)

// sideband is a record about processes.
type sideband struct {
	time uint64 // 0: at the beginning
	typ  uint32
	misc uint16
	at   place
	body []byte
}

// kernelRecord keeps a record about processes, or counts what was lost.
func (r *reader) kernelRecord(p *piece, at place, typ uint32, misc uint16, body []byte) {
	c := cursorOf(body, r.big)
	switch typ {
	case recordLost:
		c.U64()
		r.lost = bounds.Plus(r.lost, int64(min(c.U64(), math.MaxInt64)))
	case recordLostSamples:
		r.lostSamples = bounds.Plus(r.lostSamples, int64(min(c.U64(), math.MaxInt64)))
	case recordThrottle:
		r.throttled++
	case recordMmap, recordMmap2, recordComm, recordFork, recordExit, recordKsymbol:
		time := r.trailerTime(body)
		p.inRound = p.inRound || time != 0
		r.sidebands = append(r.sidebands, sideband{time, typ, misc, at, body})
		r.tellsExec = r.tellsExec || typ == recordComm && misc&miscExec != 0
	case recordCGroup:
		if !r.cgroupNames.add(body[:max(len(body)-r.trailerSize(), 0)], r.big) {
			r.badRecords++
		}
	case recordDeferred:
		r.deferredAt(p, at, body)
	default:
		if typ > recordKernelKnown || typ == 0 {
			r.unknownRecords[typ]++
		} else if r.fits(typ, body) {
			r.noteRecord(typ)
		} else {
			r.oddRecords++
		}
	}
}

// trailerTime reads the time of a record other than a sample from the fields at
// its end (perf-data 6.4); 0 if there is none.
func (r *reader) trailerTime(body []byte) uint64 {
	if len(r.events) == 0 {
		return 0
	}
	a := &r.events[0].attr
	if a.flags&flagSampleIDAll == 0 || a.sampleType&sampleTime == 0 {
		return 0
	}
	behind := 8 * (1 + bits.OnesCount64(a.sampleType&(sampleID|sampleStreamID|sampleCPU|sampleIdentifier)))
	if behind > len(body) {
		return 0
	}
	c := cursorOf(body[len(body)-behind:], r.big)
	if t := c.U64(); t != noTime {
		return t
	}
	return 0
}

// trailerSize is the size of the fields at the end of such a record.
func (r *reader) trailerSize() int {
	if len(r.events) == 0 || r.events[0].flags&flagSampleIDAll == 0 {
		return 0
	}
	return 8 * bits.OnesCount64(r.events[0].sampleType&(sampleTID|sampleTime|sampleID|sampleStreamID|sampleCPU|sampleIdentifier))
}
