package perfdata

import (
	"strings"

	"stackmill/stages/decode"
)

// The software events of accesses to memory: their address is the one that the
// instruction at the PC accessed.
const (
	pageFaults      = 2
	minorFaults     = 5
	majorFaults     = 6
	alignmentFaults = 7
)

// preciseShift is the position of precise_ip in an attr's flags.
const preciseShift = 15

// precise is the attr's precise_ip. Mirroring the flags of a big-endian producer
// has swapped its two bits.
func (a *attr) precise(big bool) uint64 {
	p := a.flags >> preciseShift & 3
	if big {
		p = p>>1 | p<<1&2
	}
	return p
}

// trigger says how the PCs of an event's samples relate to an access of memory, unless the
// sample itself says that its PC is exact (S27, perf-data 16): PEBS and IBS may fail to find
// the instruction of some samples.
func (r *reader) trigger(e *event) decode.Trigger {
	if e.sampleType&sampleAddr == 0 {
		return decode.NoTrigger
	}
	arm := r.arm64()
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
		if arm { // it stops before the access, x86 after it
			return decode.TriggerExact
		}
		return decode.TriggerBehind
	}
	unit := r.units[e.typ]
	switch precise := e.precise(r.big); {
	case unit == "kprobe" || unit == "uprobe":
		return decode.NoTrigger
	case arm && e.sampleType&(sampleWeight|sampleWeightStruct) != 0: // of the profiling extension: counters have none
		return decode.TriggerExact
	case e.exact:
		return decode.TriggerSkid
	case precise >= 2 || strings.HasPrefix(unit, "ibs_"): // written by a tool that does not mark samples
		return decode.TriggerExact
	case precise == 1:
		return decode.TriggerBehind
	}
	return decode.TriggerSkid
}
