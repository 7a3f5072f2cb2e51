package perfdata

import (
	"strings"

	"stackmill/stages/decode"
)

// The software events of memory accesses: their address is what the instruction at the PC
// accessed.
const (
	pageFaults      = 2
	minorFaults     = 5
	majorFaults     = 6
	alignmentFaults = 7
)

// preciseShift is the position of precise_ip in an attr's flags.
const preciseShift = 15

// precise returns the attr's precise_ip. Mirroring a big-endian producer's flags has swapped its
// two bits.
func (a *attr) precise(big bool) uint64 {
	p := a.flags >> preciseShift & 3
	if big {
		p = p>>1 | p<<1&2
	}
	return p
}

// trigger returns how the PCs of an event's samples relate to a memory access, unless the sample
// itself has an exact PC (S27, perf-data 16): PEBS and IBS may fail to find the instruction of
// some samples.
func (p *recordParser) trigger(e *event) decode.Trigger {
	if e.sampleType&sampleAddr == 0 {
		return decode.NoTrigger
	}
	arm := p.arm64()
	switch e.typ {
	case typeSoftware:
		switch e.config {
		case pageFaults, minorFaults, majorFaults, alignmentFaults:
			return decode.TriggerExact
		}
		return decode.NoTrigger
	case typeTracepoint:
		return decode.NoTrigger
	case typeBreakpoint:
		if arm { // before the access; on x86 after it
			return decode.TriggerExact
		}
		return decode.TriggerBehind
	}
	unit := p.units[e.typ]
	switch precise := e.precise(p.big); {
	case unit == "kprobe" || unit == "uprobe":
		return decode.NoTrigger
	case arm && e.sampleType&(sampleWeight|sampleWeightStruct) != 0: // of the statistical profiling extension: counters have no weight
		return decode.TriggerExact
	case e.exact:
		return decode.TriggerSkid
	case precise >= 2 || strings.HasPrefix(unit, "ibs_"): // for tools that do not mark exact samples
		return decode.TriggerExact
	case precise == 1:
		return decode.TriggerBehind
	}
	return decode.TriggerSkid
}
