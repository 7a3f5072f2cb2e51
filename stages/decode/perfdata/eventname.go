package perfdata

import (
	"fmt"
	"strings"
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
	cacheAll       = []string{"loads", "stores", "prefetches"} // with any result
	cacheMissed    = uint64(1)
	breakpointUses = []byte("rwx") // by the bits of bp_type
)

// defaultName names an event without a name in the recording as perf does. Where perf gives
// different events the same name, it adds the config.
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
// It names host and guests unless perf's default applies: all, or, with other modifiers, the host
// alone.
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

// oldNames reads event names as perf before Linux 3.9 wrote them, a config and 64 bytes of text
// each, for events without a name of their own (perf-data 1.1).
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
