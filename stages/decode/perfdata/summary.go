package perfdata

import (
	"fmt"
	"strings"

	"stackmill/schema/diagnostic"
)

// count records a problem that occurred n times, if any.
func (r *reader) count(s diagnostic.Severity, n int64, reason, message string) {
	if n > 0 {
		r.rec.Problems.Add(diagnostic.Problem{Severity: s, File: r.main, Offset: diagnostic.NoOffset, Reason: reason, Message: message, Count: n})
	}
}

// summary records what was counted while reading.
func (r *reader) summary() {
	r.count(diagnostic.Warning, r.lost, "lost-records", "the kernel could not write records because the buffer was full: use perf record -m or a lower frequency")
	r.count(diagnostic.Warning, r.lostSamples, "lost-samples", "the kernel dropped samples")
	r.count(diagnostic.Warning, r.throttled, "throttled", "the kernel paused sampling because it took too much time")
	r.count(diagnostic.Info, r.printed, "text", "bytes of text stand between or behind the records: what programs or perf printed to where the recording went")
	r.count(diagnostic.Error, r.badSamples, "bad-sample", "samples end before their last field")
	r.count(diagnostic.Warning, r.longSamples, "long-sample", "samples continue after their last field: if the description of their event is damaged, their fields are misread")
	r.count(diagnostic.Error, r.badRecords, "bad-record", "records of processes and their mappings end before their last field")
	r.count(diagnostic.Error, r.unknownEvents, "unknown-event", "samples belong to an event that the file does not describe")
	r.count(diagnostic.Warning, r.auxBytes, "aux-data", "bytes of hardware trace data are not decoded")
	r.judgeUnused()
	r.judgeChains()
	for i := range r.leftOut {
		r.leftOut[i].Report(func(s diagnostic.Severity, offset int64, reason, message string, count int64) {
			r.rec.Problems.Add(diagnostic.Problem{Severity: s, File: r.pieces[i].name, Offset: offset, Reason: reason, Message: message, Count: count})
		})
	}
	r.count(diagnostic.Warning, r.oddRecords, "odd-record", "records are longer or shorter than their types allow, and are skipped: if they were samples, they are lost")
	var kinds []string
	var n int64
	for typ, k := range r.unknownRecords {
		kinds, n = append(kinds, fmt.Sprint(typ)), n+k
	}
	if n > 0 {
		r.count(diagnostic.Warning, n, "unknown-record", "records of unknown types ("+strings.Join(sorted(kinds), ", ")+") are skipped: if they were samples, they are lost")
	}
}
