package perfdata

import (
	"bytes"
	"strconv"
	"strings"
)

// simpleperfIDs reads an EVENT_ID record: indexes of events with ids of their samples (perf-data
// 5.4).
func (p *recordParser) simpleperfIDs(c *cursor) {
	ids := cursorOf(c.list(16), p.big)
	for len(ids.Rest) > 0 {
		event, id := ids.U64(), ids.U64()
		if _, known := p.byID[id]; !known && event < uint64(len(p.events)) && len(p.byID) < maxIDs {
			p.byID[id] = int32(event)
		}
	}
}

// simpleperfFacts reads META_INFO: names and values, separated by NULs (perf-data 2).
func (r *reader) simpleperfFacts(b []byte) {
	for len(b) > 0 {
		var name, value []byte
		name, b, _ = bytes.Cut(b, []byte{0})
		value, b, _ = bytes.Cut(b, []byte{0})
		switch string(name) {
		case "simpleperf_version":
			r.rec.Collector = "simpleperf " + text(value)
		case "event_type_info":
			r.simpleperfNames(text(value))
		}
	}
}

// simpleperfNames names events by a list of lines "name,type,config".
func (p *recordParser) simpleperfNames(list string) {
	for line := range strings.Lines(list) {
		parts := strings.Split(strings.TrimSpace(line), ",")
		if len(parts) < 3 || parts[0] == "" {
			continue
		}
		typ, err := strconv.ParseUint(parts[len(parts)-2], 10, 32)
		config, configErr := strconv.ParseUint(parts[len(parts)-1], 10, 64)
		if err != nil || configErr != nil {
			continue
		}
		for _, e := range p.events {
			if e.typ == uint32(typ) && e.config == config {
				e.name = strings.Join(parts[:len(parts)-2], ",") + withoutSystems(e.modifiers(p.big))
			}
		}
	}
}

// withoutSystems drops the modifiers for host and guests, which simpleperf does not name.
func withoutSystems(modifiers string) string {
	if modifiers = strings.Trim(modifiers, "HG"); modifiers == ":" {
		return ""
	}
	return modifiers
}

// simpleperfMappings reads INIT_MAP: the processes and mappings before the recording.
func (r *reader) simpleperfMappings(b []byte) {
	apart := recordRun{name: r.in.main}
	for len(b) >= recordHeader {
		c := cursorOf(b, r.big)
		typ, misc, size := c.U32(), c.U16(), int(c.U16())
		if size < recordHeader || size > len(b) {
			r.stats.badRecords++
			return
		}
		if typ == recordMmap || typ == recordMmap2 || typ == recordComm {
			r.sideRecord(&apart, 0, typ, misc, b[recordHeader:size])
		}
		b = b[size:]
	}
}
