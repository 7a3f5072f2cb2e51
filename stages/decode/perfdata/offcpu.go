package perfdata

import (
	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/decode"
	"stackmill/stages/decode/bounds"
)

// Samples of `perf record --off-cpu` (perf-data 6.5): each is the time that a thread was blocked
// with one stack. It is a single wait, or the sum of a thread's waits with that stack, which perf
// writes at the end of the recording.
const (
	bpfOutput    = 10 // perf_event_attr.config of the event
	offCPUEvent  = "offcpu-time"
	offCPUFrames = 32 // maximum number of frames of a stack
	// offCPUSums is the least time of a sum. It is not a time, but sorts sums behind other samples.
	offCPUSums = 0xffffffff << 32
)

// isOffCPU reports whether the event's samples are times off the CPU.
func (e *event) isOffCPU() bool {
	return e.typ == typeSoftware && e.config == bpfOutput && e.name == offCPUEvent
}

// readOffCPU reads a sample whose content newer versions of perf write as RAW data: the other fields
// are of the thread that was switched out when this one was switched in.
func (s *sample) readOffCPU(big bool) bool {
	c := cursorOf(s.raw, big)
	s.pid, s.tid = c.s32(), c.s32()
	s.period = c.U64()
	s.chain = c.list(8)
	s.cgroup = c.U64()
	if chain := cursorOf(s.chain, big); len(s.chain) >= 16 {
		chain.U64() // the context
		s.ip = chain.U64()
	}
	return !c.Short
}

// latestTime returns the latest time in the recording, which sums get.
func (r *reader) latestTime(t *timeline) uint64 {
	return max(r.found.sampleRefs.latest, r.found.switchRefs.latest, t.end)
}

// findOffCPU decides whether the waits are those of `perf record --off-cpu`.
func (r *reader) findOffCPU(t *timeline) {
	for _, e := range r.events {
		t.offCPU = t.offCPU || e.isOffCPU() && e.samples > 0
	}
	switch {
	case t.offCPU && t.follows:
		t.offCPU = false
		r.problem(diagnostic.Info, diagnostic.NoOffset, "off-cpu-twice", "switches and offcpu-time (--off-cpu) were both recorded: waits are those between switches, and offcpu-time is a metric of its own")
	case t.offCPU:
		t.clock = r.clockEvent()
		r.problem(diagnostic.Info, diagnostic.NoOffset, "only-blocked", "perf record --off-cpu measures how long threads were blocked, not how long they waited for a CPU: there is no metric wall")
	}
}

// wait makes a sample a wait. Its time is the end of the wait; for a sum, that of the recording.
func (a *attributeStep) wait(own *parsedSample, r *row) {
	own.waits, own.wait = true, *r
	state := int32(decode.WaitBlocked)
	if own.isSum {
		state, own.wait.narrow[rowCPU] = decode.WaitSum, -1
	}
	own.wait.narrow[rowEvent], own.wait.wide[rowWaker] = state, noWaker
	if own.period > uint64(bounds.MaxDuration) {
		a.outliers(own.ref.at).Add("the duration of a wait", " ns", own.ref.at.offset(), own.period, 0, bounds.MaxDuration)
		return
	}
	own.wait.wide[rowPeriod] = int64(own.period)
}

// waitStack returns the stack of a wait, with its state.
func (own *parsedSample) waitStack(raw *decode.RawStack) *decode.RawStack {
	raw.OMPState = decode.StateOfWait(own.wait.narrow[rowEvent])
	if own.ip == 0 { // perf could not read the stack
		return &decode.RawStack{OMPState: raw.OMPState, Reason: decode.ReasonNoWaitStack}
	}
	return raw
}

// offCPUKind describes the waits.
var offCPUKind = decode.KindInfo{Kind: schema.Wait, OnlyBlocked: true}
