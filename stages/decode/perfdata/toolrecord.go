package perfdata

import (
	"math"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode/bounds"
)

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
		kind, id := c.U64(), c.U64()
		if e, ok := r.byID[id]; ok && kind == updateName {
			if name := text(c.Rest); name != "" {
				r.events[e].name = name
			}
		}
	case recordTimeConv:
		r.meta.cycles = readCycleClock(body, r.big)
	case recordBuildID:
		r.end.injected = true
		r.buildID(misc, body)
	case recordIDIndex:
		r.idIndex(c.list(idIndexEntry))
	case recordTracingData:
		r.noteRecord(typ)
		if n := int(c.U32()); n > len(c.Rest) { // simpleperf has the data inside the record
			return (n + 7) &^ 7
		}
		r.tracepointNames(c.Rest)
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
		if _, known := recordKinds[typ]; !known {
			r.unused.unknownRecords[typ]++
		} else if r.fits(typ, body) {
			r.noteRecord(typ)
		} else {
			r.stats.oddRecords++
		}
	}
	return 0
}
