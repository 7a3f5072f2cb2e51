package perfdata

// Unused records whose type determines their size (perf-data 5.1, 5.2).
const (
	recordUnthrottle    = 6
	recordRead          = 8
	recordAux           = 11
	recordITraceStart   = 12
	recordSwitch        = 14
	recordSwitchCPUWide = 15
	recordAuxOutputID   = 21
	recordThreadMap     = 73
)

// fixedSizes are the sizes of their bodies in bytes, without the trailer, which some lack.
var fixedSizes = map[uint32]int{
	recordUnthrottle: 24, recordAux: 24, recordITraceStart: 8, recordSwitch: 0, recordSwitchCPUWide: 8, recordAuxOutputID: 8,
}

// fits reports whether an unused record has the size of its type. A sample whose type is
// damaged does not.
func (r *reader) fits(typ uint32, body []byte) bool {
	if len(r.events) == 0 {
		return true
	}
	trailer := r.trailerSize()
	if size, ok := fixedSizes[typ]; ok {
		return len(body) == size+trailer || len(body) == size
	}
	c := cursor{b: body, big: r.big}
	switch typ {
	case recordRead:
		c.bytes(8) // pid, tid
		c.skipRead(r.events[0].readFormat)
		return !c.short && len(c.b) == trailer
	case recordThreadMap:
		n := c.u64()
		return !c.short && n <= uint64(len(body)) && uint64(len(c.b)) == 24*n
	}
	return true
}
