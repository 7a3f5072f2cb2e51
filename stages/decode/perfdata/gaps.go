package perfdata

import (
	"cmp"
	"slices"

	"stackmill/stages/decode"
)

// The reasons of gaps: indexes in schema.GapReasons.
const (
	gapLost = iota
	gapCPUs
)

// describeGaps fills in the periods in which events of tracepoints may be missing: their samples
// tell beginnings and ends, which must not be paired across a gap.
func (r *reader) describeGaps(t *timeline) {
	if r.rec.Fields == nil {
		return
	}
	for _, l := range r.sched.lost {
		r.rec.Gaps = append(r.rec.Gaps, decode.RecordingGap{FromNS: t.ns(l.From), UntilNS: t.ns(l.To), CPU: l.CPU, Reason: gapLost})
	}
	whole := decode.RecordingGap{UntilNS: t.ns(max(r.found.sampleRefs.latest, r.found.switchRefs.latest, t.end)), CPU: -1}
	// Counters also say how many samples were lost after the last record of a buffer.
	if r.sched.lostUntimed > 0 || max(r.stats.lostSamples, r.readLost()) > r.stats.lost {
		whole.Reason = gapLost
		r.rec.Gaps = append(r.rec.Gaps, whole)
	}
	if slices.ContainsFunc(r.events, func(e *event) bool { return r.formatOf(e) != nil && r.missingCPUs(e) > 0 }) {
		whole.Reason = gapCPUs
		r.rec.Gaps = append(r.rec.Gaps, whole)
	}
	slices.SortStableFunc(r.rec.Gaps, func(a, b decode.RecordingGap) int { return cmp.Compare(a.FromNS, b.FromNS) })
}
