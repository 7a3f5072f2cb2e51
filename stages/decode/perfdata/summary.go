package perfdata

import (
	"fmt"
	"slices"
	"strings"

	"stackmill/schema/diagnostic"
)

// count reports a problem that occurred n times, if n > 0.
func (r *reader) count(s diagnostic.Severity, n int64, reason, message string) {
	if n > 0 {
		r.rec.Problems.Add(diagnostic.Problem{Severity: s, File: r.in.main, Offset: diagnostic.NoOffset, Reason: reason, Message: message, Count: n})
	}
}

// summary reports what the reader counted.
func (r *reader) summary() {
	r.count(diagnostic.Warning, r.stats.lost, "lost-records", "the kernel could not write records because the buffer was full: use perf record -m or a lower frequency")
	r.count(diagnostic.Warning, r.stats.lostSamples, "lost-samples", "the kernel dropped samples")
	r.count(diagnostic.Warning, r.stats.throttled, "throttled", "the kernel paused sampling because it took too much time")
	r.count(diagnostic.Info, r.stats.printed, "text", "bytes of text stand between or behind the records: what programs or perf printed to where the recording went")
	r.count(diagnostic.Error, r.stats.badSamples, "bad-sample", "samples end before their last field")
	r.count(diagnostic.Warning, r.stats.longSamples, "long-sample", "samples continue after their last field: if the description of their event is damaged, their fields are misread")
	r.count(diagnostic.Error, r.stats.badRecords, "bad-record", "records of processes and their mappings end before their last field")
	r.count(diagnostic.Error, r.stats.unknownEvents, "unknown-event", "samples belong to an event that the file does not describe")
	r.count(diagnostic.Warning, r.stats.auxBytes, "aux-data", "bytes of hardware trace data are not decoded")
	r.judgeUnused()
	r.judgeChains()
	for i := range r.limits.outliers {
		r.limits.outliers[i].Report(func(s diagnostic.Severity, offset int64, reason, message string, count int64) {
			r.rec.Problems.Add(diagnostic.Problem{Severity: s, File: r.in.segments[i].name, Offset: offset, Reason: reason, Message: message, Count: count})
		})
	}
	r.count(diagnostic.Warning, r.stats.oddRecords, "odd-record", "records are longer or shorter than their types allow, and are skipped: if they were samples, they are lost")
	var types []string
	var n int64
	for typ, k := range r.unused.unknownRecords {
		types, n = append(types, fmt.Sprint(typ)), n+k
	}
	slices.Sort(types)
	r.count(diagnostic.Warning, n, "unknown-record", "records of unknown types ("+strings.Join(types, ", ")+") are skipped: if they were samples, they are lost")
}
