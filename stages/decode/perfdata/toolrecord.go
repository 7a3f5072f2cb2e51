package perfdata

import (
	"math"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode/bounds"
)

// toolRecord reads one of perf's own records. It returns the number of bytes after the
// record that belong to it, but not to its size.
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
		r.described = true
		if !c.Short && bit < 256 {
			r.feature(int(bit), c.Rest)
		}
	case recordEventType:
		r.oldNames(body)
	case recordEventUpdate:
		kind, id := c.U64(), c.U64()
		if e, ok := r.byID[id]; ok && kind == updateName {
			if name := text(c.Rest); name != "" {
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
		r.noteRecord(typ)
		if n := int(c.U32()); n > len(c.Rest) { // simpleperf has it inside the record
			return (n + 7) &^ 7
		}
		r.tracepointNames(c.Rest)
	case recordAuxtrace:
		r.auxBytes = bounds.Plus(r.auxBytes, int64(min(c.U64(), math.MaxInt64)))
		c = cursorOf(body, r.big)
		return int(min(c.U64(), 1<<62))
	case recordCompressed:
		r.compressed = append(r.compressed, body)
	case recordCompressed2:
		if !r.compressed2(body) {
			r.badSamples++
		}
	case recordEventIDs:
		r.simpleperfIDs(&c)
	default:
		if _, known := recordKinds[typ]; !known {
			r.unknownRecords[typ]++
		} else if r.fits(typ, body) {
			r.noteRecord(typ)
		} else {
			r.oddRecords++
		}
	}
	return 0
}
