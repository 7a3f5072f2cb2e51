package perfdata

import (
	"math"

	"stackmill/problem"
	"stackmill/stages/decode/bounds"
)

// toolRecord reads one of perf's own records. It returns the number of bytes after the
// record that belong to it, but not to its size.
func (r *reader) toolRecord(typ uint32, misc uint16, body []byte) (behind int) {
	c := cursor{b: body, big: r.big}
	switch typ {
	case recordHeaderAttr:
		if a, size, err := readAttr(body, r.big); err != nil {
			r.problem(problem.Error, problem.NoOffset, "bad-attributes", "%v", err)
		} else {
			r.addEvent(a, words(body[size:], r.big))
		}
	case recordHeaderFeature:
		bit := c.u64()
		if !c.short && bit < 256 {
			r.feature(int(bit), c.b)
		}
	case recordEventUpdate:
		kind, id := c.u64(), c.u64()
		if e, ok := r.byID[id]; ok && kind == updateName {
			if name := text(c.b); name != "" {
				r.events[e].name = name
			}
		}
	case recordTimeConv:
		r.cycles = readCycleClock(body, r.big)
	case recordBuildID:
		r.injected = true
		r.buildID(misc, body)
	case recordIDIndex:
		r.idIndex(c.list(idIndexEntry))
	case recordTracingData:
		return (int(c.u32()) + 7) &^ 7
	case recordAuxtrace:
		r.auxBytes = bounds.Plus(r.auxBytes, int64(min(c.u64(), math.MaxInt64)))
		c = cursor{b: body, big: r.big}
		return int(min(c.u64(), 1<<62))
	case recordCompressed:
		r.compressed = append(r.compressed, body)
	case recordCompressed2:
		if n := c.u64(); n <= uint64(len(c.b)) {
			r.compressed = append(r.compressed, c.b[:n])
		} else {
			r.badSamples++
		}
	default:
		if typ > recordKnown {
			r.unknownRecords[typ]++
		} else if !r.fits(typ, body) {
			r.oddRecords++
		}
	}
	return 0
}
