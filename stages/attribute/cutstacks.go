package attribute

import (
	"fmt"
	"strings"

	"stackmill/schema/diagnostic"
	"stackmill/stages/stacktree"
)

// minorCutPercent: cut stacks with less than this percentage of a metric are reported as Info, not
// as a Warning. Every process has some when it begins and ends.
const minorCutPercent = 1

// ReportCutStacks adds a problem with the percentage of a metric that is on cut stacks: these end
// before their thread's start, so the call tree lacks callers. It picks the metric with the largest
// percentage, except parts of offcpu: most of a small part says little. Stacks recorded without
// callers do not count as cut; they are reported as Info. Nor do stacks that lack only frames of the C
// library.
func ReportCutStacks(stacks *Stacks, sums *Sums, problems *diagnostic.Log) {
	width := len(sums.Metrics)
	all, cut, leaves := make([]Sum, width), make([]Sum, width), int64(0)
	for n := range stacks.Recorded {
		r := &stacks.Recorded[n]
		most := int64(0)
		for m, s := range sums.Each(RecordedStackNo(n)) {
			all[m].Value += s.Value
			if isCut := r.Leaf[stacktree.Machine] != stacktree.Root && r.Reason > 0 && r.CutOff != stacktree.CutLeafOnly && r.CutOff != stacktree.CutInStart; isCut {
				cut[m].Value += s.Value
				cut[m].Samples += s.Samples
			}
			most = max(most, s.Samples)
		}
		if r.CutOff == stacktree.CutLeafOnly {
			leaves += most
		}
	}
	if leaves > 0 {
		problems.Add(diagnostic.Problem{
			Severity: diagnostic.Info, File: ".", Offset: diagnostic.NoOffset, Reason: "no-callers", Count: leaves,
			Message: "callers were not recorded: stacks consist of their leaves only (perf record -g records callers)",
		})
	}
	worst, share := -1, 0.0
	for m := range all {
		if cut[m].Value > 0 && !strings.HasPrefix(sums.Metrics[m].Name, "offcpu.") && float64(cut[m].Value)/float64(all[m].Value) > share {
			worst, share = m, float64(cut[m].Value)/float64(all[m].Value)
		}
	}
	if worst < 0 {
		return
	}
	severity := diagnostic.Warning
	if 100*share < minorCutPercent {
		severity = diagnostic.Info
	}
	problems.Add(diagnostic.Problem{
		Severity: severity, File: ".", Offset: diagnostic.NoOffset, Reason: "cut-stacks", Count: cut[worst].Samples,
		Message: fmt.Sprintf("%.1f %% of %s is on stacks that end before their thread's start: callers are missing there (stackmill report cut-stacks)",
			100*share, strings.TrimSuffix(sums.Metrics[worst].Name, ".samples")),
	})
}
