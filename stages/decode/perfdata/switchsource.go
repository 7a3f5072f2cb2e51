package perfdata

import (
	"fmt"
	"slices"
	"strings"

	"stackmill/schema/diagnostic"
	"stackmill/stages/decode/schedule"
)

// tellMissingWakeups says which wake-ups were not recorded: without its wake-up, a wait does not show
// when the thread became runnable.
func (r *reader) tellMissingWakeups(source schedule.Source) {
	recorded := false
	for i, e := range r.events {
		kind := r.traced[i].kind
		recorded = recorded || (kind == tracedWakeup || kind == tracedNew) && e.samples > 0
	}
	switch {
	case !recorded:
		r.problem(diagnostic.Info, diagnostic.NoOffset, "runqueue-partial", "no wake-ups were recorded: the time that threads spent on the run queue after a wake-up counts as blocked: record sched:sched_waking as well")
	case source == schedule.Records && !r.sched.cpuWide:
		r.problem(diagnostic.Info, diagnostic.NoOffset, "runqueue-partial", "only wake-ups by the recorded threads were recorded, not those by interrupts (timers, disks) and other programs: the time on the run queue after these counts as blocked: record with -a")
	}
}

// oldKernel reports whether the kernel is older than 4.17, whose switch records first told whether
// the thread was preempted.
func (r *reader) oldKernel() bool {
	var major, minor int
	n, _ := fmt.Sscanf(r.rec.OS, "Linux %d.%d", &major, &minor)
	return n == 2 && (major < 4 || major == 4 && minor < 17)
}

// tellsSwitches reports whether the recording may show when threads were switched.
func (r *reader) tellsSwitches() bool {
	return r.found.switchRefs.n > 0 || slices.ContainsFunc(r.events, func(e *event) bool { return r.formatOf(e) != nil })
}

// scheduleSource returns which records show all switches; false if none do.
func (r *reader) scheduleSource() (schedule.Source, bool) {
	of, sampled, filtered := false, false, r.filtersSwitches()
	all := false // sched_switch of all CPUs
	for i, e := range r.events {
		if r.traced[i].kind != tracedSwitch || e.samples == 0 {
			continue
		}
		of, sampled = true, sampled || !e.isEvery()
		all = all || r.systemWide(e) && e.isEvery() && !filtered
	}
	records := r.found.switchRefs.n > 0
	unmeasured := func(reason, why string) {
		r.problem(diagnostic.Warning, diagnostic.NoOffset, reason, "%s", why)
	}
	switch {
	case !of && !records && r.sched.untimed == 0:
	case r.pauses():
		unmeasured("recording-paused", "perf record -D paused the recording several times, so waits cannot be measured: record without pauses")
	case r.movesSwitches():
		unmeasured("switches-moved", "perf inject -s has given samples of sched_switch the times of wake-ups, so waits cannot be measured: ingest the original recording")
	case r.overwrites() && len(r.sched.cpus) == 0:
		unmeasured("switches-overwritten", "perf record --overwrite kept only the last records of each CPU, and they do not have their CPU, so waits cannot be measured: record with --sample-cpu")
	case all:
		return schedule.Tracepoints, true
	case records:
		return schedule.Records, true
	case r.sched.untimed > 0:
		unmeasured("switch-without-time", "the switch records have no time, so waits cannot be measured: record with -T")
	case filtered:
		unmeasured("switches-filtered", "only some switches were recorded, because perf record had a --filter for sched_switch, so waits cannot be measured: record without the filter, or with --switch-events")
	case sampled:
		unmeasured("switches-sampled", "only some switches were recorded, because sched_switch was sampled (-F), so waits cannot be measured: record with -c 1, or with --switch-events")
	case of:
		unmeasured("switch-in-not-recorded", "sched_switch of single processes shows when threads were switched out, but not when they came back, so waits cannot be measured: record with --switch-events")
	}
	return 0, false
}

// overwrites reports whether perf's buffers kept only the last records.
func (r *reader) overwrites() bool {
	return slices.ContainsFunc(r.events, func(e *event) bool { return e.flags&flagBackward != 0 })
}

// filtersSwitches reports whether perf's command line has a filter for sched_switch: --filter after
// the -e with this event.
func (r *reader) filtersSwitches() bool {
	event := "sched" // as perf sched record, which has no -e
	for i, arg := range r.meta.argv {
		name, value, joined := strings.Cut(arg, "=")
		if !joined && i+1 < len(r.meta.argv) {
			value = r.meta.argv[i+1]
		}
		switch {
		case name == "--filter" && (strings.Contains(event, "sched") || strings.Contains(event, "*")):
			return true
		case name == "-e" || name == "--event":
			event = value[strings.LastIndexByte(value, ',')+1:]
		case strings.HasPrefix(arg, "-e"):
			event = arg[strings.LastIndexByte(arg, ',')+1:]
		}
	}
	return false
}

// pauses reports whether perf's command line says to record during several times: -D 10-20,30-40.
func (r *reader) pauses() bool {
	for i, arg := range r.meta.argv {
		name, value, joined := strings.Cut(arg, "=")
		switch {
		case name != "-D" && name != "--delay":
			value = strings.TrimPrefix(arg, "-D")
			joined = value != arg
		case !joined && i+1 < len(r.meta.argv):
			value, joined = r.meta.argv[i+1], true
		}
		if joined && strings.Contains(value, ",") && strings.Contains(value, "-") {
			return true
		}
	}
	return false
}

// movesSwitches reports whether perf inject has merged sched_switch with sched_stat_sleep. Its
// option -s may be joined with others: -vs.
func (r *reader) movesSwitches() bool {
	return r.runs("inject") && (r.hasOption("--sched-stat") || slices.ContainsFunc(r.meta.argv, func(arg string) bool {
		return len(arg) > 1 && arg[0] == '-' && arg[1] != '-' && strings.Trim(arg[1:], "bsvf") == "" && strings.Contains(arg, "s")
	}))
}

// missingOf returns the number of CPUs on which the switches of a source were not recorded.
func (r *reader) missingOf(source schedule.Source) int {
	for i, e := range r.events {
		if source == schedule.Tracepoints && r.traced[i].kind == tracedSwitch || source == schedule.Records && r.sched.cpuWide && e.flags&flagContextSwitch != 0 {
			return r.missingCPUs(e)
		}
	}
	return 0
}

// clockEvent returns the event whose samples measure time on the CPU, -1 if there is none.
func (r *reader) clockEvent() int32 {
	clock := slices.IndexFunc(r.events, func(e *event) bool { return e.isClock() && e.samples > 0 })
	if clock < 0 {
		clock = slices.IndexFunc(r.events, func(e *event) bool { return e.typ == typeHardware && e.config == 0 && e.samples > 0 })
	}
	return int32(clock)
}
