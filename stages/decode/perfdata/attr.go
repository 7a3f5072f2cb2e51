package perfdata

import (
	"fmt"
	"strings"

	"stackmill/stages/decode"
)

// The bits of sample_type, in the order of their numbers (perf-data 6).
const (
	sampleIP = 1 << iota
	sampleTID
	sampleTime
	sampleAddr
	sampleRead
	sampleCallchain
	sampleID
	sampleCPU
	samplePeriod
	sampleStreamID
	sampleRaw
	sampleBranchStack
	sampleRegsUser
	sampleStackUser
	sampleWeight
	sampleDataSrc
	sampleIdentifier
	sampleTransaction
	sampleRegsIntr
	samplePhysAddr
	sampleAux
	sampleCgroup
	sampleDataPageSize
	sampleCodePageSize
	sampleWeightStruct
)

// The bits of read_format (perf-data 4).
const (
	readEnabled = 1 << iota
	readRunning
	readID
	readGroup
	readLost
)

// The flags of an attr that are used.
const (
	flagInherit     = 1 << 1
	flagFreq        = 1 << 10
	flagSampleIDAll = 1 << 18
	flagCommExec    = 1 << 24
	flagClockID     = 1 << 25
)

// attr is a perf_event_attr (perf-data 4).
type attr struct {
	typ                    uint32
	config, period         uint64
	sampleType, readFormat uint64
	flags                  uint64
	bpType                 uint32
	bpAddr, bpLen          uint64
	branchType             uint64
	regsUser, regsIntr     uint64
	maxStack               uint16 // maximum number of addresses in a call chain
	stackUser              uint32
	clockID                int32
}

// minAttr is the size of the first version of perf_event_attr.
const minAttr = 64

// readAttr reads an attr, which may be shorter or longer than the version known here. Missing
// fields are 0.
func readAttr(b []byte, big bool) (a attr, size int, err error) {
	c := cursorOf(b, big)
	a.typ = c.U32()
	n := c.U32()
	if n == 0 {
		n = minAttr
	}
	if n < minAttr || int64(n) > int64(len(b)) {
		return a, 0, fmt.Errorf("an event attribute has %d bytes, which is too few or more than the %d that are left", n, len(b))
	}
	c.Rest = b[8:n]
	a.config, a.period, a.sampleType, a.readFormat, a.flags = c.U64(), c.U64(), c.U64(), c.U64(), c.U64()
	c.U32() // wakeup
	a.bpType, a.bpAddr, a.bpLen = c.U32(), c.U64(), c.U64()
	a.branchType, a.regsUser, a.stackUser = c.U64(), c.U64(), c.U32()
	a.clockID = c.s32()
	a.regsIntr = c.U64()
	c.U32() // AUX watermark
	if a.maxStack = c.U16(); a.maxStack == 0 {
		a.maxStack = chainLimit
	}
	if big {
		a.flags = mirrored(a.flags)
	}
	return a, int(n), nil
}

// mirrored reverses the bits of the flags in a big-endian recording, whose bit fields start at the
// other end of the word.
func mirrored(flags uint64) uint64 {
	var out uint64
	for i := range 64 {
		out |= flags >> i & 1 << (63 - i)
	}
	return out
}

// event is one event of a recording.
type event struct {
	attr
	ids     int // number of ids
	name    string
	samples int64   // number of samples
	reach   int64   // upper bound of a sample's period (configured)
	exact   bool    // some samples have the exact address of the instruction that caused them
	unit    string  // unit in which perf stat shows the event; empty for plain counts
	scale   float64 // factor that converts counts to unit; 0: 1
}

// isClock reports whether the event's period is time in ns.
func (a *attr) isClock() bool { return a.typ == typeSoftware && a.config <= 1 }

// isDummy reports whether the event counts nothing: it only carries side-band
// records.
func (a *attr) isDummy() bool {
	return a.typ == typeSoftware && a.config < uint64(len(softwareNames)) && strings.HasPrefix(softwareNames[a.config], "dummy")
}

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

// precise returns the attr's precise_ip. In a big-endian recording, mirrored has swapped its two
// bits.
func (a *attr) precise(big bool) uint64 {
	p := a.flags >> preciseShift & 3
	if big {
		p = p>>1 | p<<1&2
	}
	return p
}

// trigger returns how the PC of an event's samples relates to the memory access (S27, perf-data
// 16), for samples that are not marked exact: PEBS and IBS may fail to find the instruction of some
// samples.
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
		if arm { // arm64 stops before the access, x86 after it
			return decode.TriggerExact
		}
		return decode.TriggerBehind
	}
	unit := p.units[e.typ]
	switch precise := e.precise(p.big); {
	case unit == "kprobe" || unit == "uprobe":
		return decode.NoTrigger
	case arm && e.sampleType&(sampleWeight|sampleWeightStruct) != 0: // SPE: counters have no weight
		return decode.TriggerExact
	case e.exact:
		return decode.TriggerSkid
	case precise >= 2 || strings.HasPrefix(unit, "ibs_"): // the tool may not mark exact samples
		return decode.TriggerExact
	case precise == 1:
		return decode.TriggerBehind
	}
	return decode.TriggerSkid
}
