package perfdata

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode/tracepoint"
)

// The types of events with fixed names.
const (
	typeHardware   = 0
	typeSoftware   = 1
	typeTracepoint = 2
	typeCache      = 3
	typeRaw        = 4
	typeBreakpoint = 5
)

var (
	hardwareNames = []string{"cycles", "instructions", "cache-references", "cache-misses", "branches", "branch-misses",
		"bus-cycles", "stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"}
	softwareNames = []string{"cpu-clock", "task-clock", "page-faults", "context-switches", "cpu-migrations", "minor-faults",
		"major-faults", "alignment-faults", "emulation-faults", "dummy", "bpf-output", "cgroup-switches"}
)

// The parts of a cache event's name, by the bytes of its config: the cache, what
// was done, and with what result.
var (
	cacheNames     = []string{"L1-dcache", "L1-icache", "LLC", "dTLB", "iTLB", "branch", "node"}
	cacheActions   = []string{"load", "store", "prefetch"}
	cacheAll       = []string{"loads", "stores", "prefetches"} // names of actions with any result
	cacheMissed    = uint64(1)
	breakpointUses = []byte("rwx") // letters for the bits of bp_type
)

// defaultName returns the name that perf gives to an event without a name in the recording. Where
// perf gives different events the same name, it adds the config.
func (a *attr) defaultName(big bool) string { return a.baseName() + a.modifiers(big) }

func (a *attr) baseName() string {
	names := map[uint32][]string{typeHardware: hardwareNames, typeSoftware: softwareNames}[a.typ]
	switch {
	case a.config < uint64(len(names)):
		return names[a.config]
	case a.typ == typeCache:
		if name, ok := cacheName(a.config); ok {
			return name
		}
	case a.typ == typeRaw:
		return fmt.Sprintf("raw %#x", a.config)
	case a.typ == typeBreakpoint:
		name := fmt.Sprintf("mem:%#x:", a.bpAddr)
		for bit, use := range breakpointUses {
			if a.bpType>>bit&1 != 0 {
				name += string(use)
			}
		}
		return name
	}
	return fmt.Sprintf("event-%d-%#x", a.typ, a.config)
}

func cacheName(config uint64) (string, bool) {
	cache, action, result := config&0xff, config>>8&0xff, config>>16
	if cache >= uint64(len(cacheNames)) || action >= uint64(len(cacheActions)) || result > cacheMissed {
		return "", false
	}
	if result == cacheMissed {
		return cacheNames[cache] + "-" + cacheActions[action] + "-misses", true
	}
	return cacheNames[cache] + "-" + cacheAll[action], true
}

// modifiers returns the suffix for where the event was counted and how precise its addresses are.
// It names host (H) and guests (G) unless perf's default applies: the host alone or, with other
// modifiers, both.
func (a *attr) modifiers(big bool) string {
	const excludesUser, excludesKernel, excludesHypervisor, excludesHost, excludesGuest = 1 << 4, 1 << 5, 1 << 6, 1 << 19, 1 << 20
	text := ""
	unless := func(excluded uint64, modifier string) {
		if a.flags&excluded == 0 {
			text += modifier
		}
	}
	if a.flags&(excludesUser|excludesKernel|excludesHypervisor) != 0 {
		unless(excludesKernel, "k")
		unless(excludesUser, "u")
		unless(excludesHypervisor, "h")
	}
	precise := a.precise(big)
	text += strings.Repeat("p", int(precise))
	others := precise > 0 || a.flags&(excludesUser|excludesKernel|excludesHypervisor) != 0
	if a.flags&excludesHost != 0 || a.flags&excludesGuest != 0 == others {
		unless(excludesHost, "H")
		unless(excludesGuest, "G")
	}
	if text == "" {
		return ""
	}
	return ":" + text
}

// oldNames reads event names as perf before Linux 3.9 wrote them: a config and 64 bytes of text
// each. They name only events that have no other name (perf-data 1.1).
func (p *recordParser) oldNames(b []byte) {
	const size = 72
	for c := cursorOf(b, p.big); len(c.Rest) >= size; {
		config, name := c.U64(), text(c.Bytes(size-8))
		for _, e := range p.events {
			if e.typ == typeTracepoint && e.config == config && name != "" && e.name == e.defaultName(p.big) {
				e.name = name
			}
		}
	}
}

// tracingData reads the descriptions of tracepoints. The descriptions also name tracepoints that
// have no other name: old versions of perf wrote no other names into pipes.
func (r *reader) tracingData(b []byte) {
	formats, err := tracepoint.Read(b)
	if r.formats = formats; err != nil && err != tracepoint.ErrUnknown { // events without a description are reported
		r.problem(diagnostic.Warning, diagnostic.NoOffset, "bad-feature", "the descriptions of tracepoints (TRACING_DATA) cannot be read to their end: %v", err)
	}
	if n := formats.Damages; n > 0 {
		r.problem(diagnostic.Warning, diagnostic.NoOffset, "bad-format", "%d descriptions of tracepoints (TRACING_DATA) are damaged, such as %s: some of their fields are missing", n, strings.Join(formats.Damaged, ", "))
	}
	for _, e := range r.events {
		if f := formats.Of(e.config); f != nil && e.typ == typeTracepoint && e.name == e.defaultName(r.big) {
			e.name = f.String()
		}
	}
}

// formatOf returns the description of an event's samples, nil if there is none.
func (r *reader) formatOf(e *event) *tracepoint.Format {
	if e.typ != typeTracepoint || e.sampleType&sampleRaw == 0 {
		return nil
	}
	return r.formats.Of(e.config)
}

// simpleperfIDs reads an EVENT_ID record: pairs of an event's index and an id that its samples have
// (perf-data 5.4).
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
