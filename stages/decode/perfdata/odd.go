package perfdata

// Records whose content is not used (perf-data 5.1, 5.2).
const (
	recordUnthrottle    = 6
	recordRead          = 8
	recordAux           = 11
	recordITraceStart   = 12
	recordSwitch        = 14
	recordSwitchCPUWide = 15
	recordNamespaces    = 16
	recordBPFEvent      = 18
	recordTextPoke      = 20
	recordAuxOutputID   = 21
	recordThreadMap     = 73
	recordCPUMap        = 74
	recordStatConfig    = 75
	recordStat          = 76
	recordStatRound     = 77
)

// fixedSizes are the sizes of bodies that a type determines, in bytes, without the trailer, which
// some records lack.
var fixedSizes = map[uint32]int{
	recordUnthrottle: 24, recordAux: 24, recordITraceStart: 8, recordSwitch: 0, recordSwitchCPUWide: 8, recordAuxOutputID: 8,
}

// fits reports whether an unused record has the size of its type. A sample with a damaged type
// does not.
func (p *recordParser) fits(typ uint32, body []byte) bool {
	if len(p.events) == 0 {
		return true
	}
	trailer := p.trailerSize()
	if size, ok := fixedSizes[typ]; ok {
		return len(body) == size+trailer || len(body) == size
	}
	c := cursorOf(body, p.big)
	switch typ {
	case recordRead:
		c.Bytes(8) // pid, tid
		c.skipRead(p.events[0].readFormat)
		return !c.Short && len(c.Rest) == trailer
	case recordThreadMap:
		n := c.U64()
		return !c.Short && n <= uint64(len(body)) && uint64(len(c.Rest)) == 24*n
	}
	return true
}
