package attribute

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/schema"
	"stackmill/schema/diagnostic"
	"stackmill/stages/stacktree"
)

// A part of offcpu has too little time to stand for the recording.
func TestCutStacksOfParts(t *testing.T) {
	sums := NewSums([]schema.Metric{{Name: "offcpu"}, {Name: "offcpu.runqueue"}})
	end := stacktree.End{Leaf: [stacktree.Modes]stacktree.NodeNo{1, 1, 1}}
	*sums.At(0, 0) = Sum{Value: 98, Samples: 98}
	*sums.At(1, 0) = Sum{Value: 2, Samples: 2}
	*sums.At(1, 1) = Sum{Value: 2, Samples: 2}
	var log diagnostic.Log
	ReportCutStacks(&Stacks{Recorded: []RecordedStack{{End: end}, {End: end, Reason: 1}}}, sums, &log)
	if len(log.Problems) != 1 || !strings.HasPrefix(log.Problems[0].Message, "2.0 % of offcpu is ") {
		t.Errorf("%v", log.Problems)
	}
}

// The share of stacks that end early is reported, with a severity that depends on it.
func TestCutStacks(t *testing.T) {
	stack := func(reason ReasonNo) RecordedStack {
		return RecordedStack{Reason: reason, End: stacktree.End{Leaf: [stacktree.Modes]stacktree.NodeNo{1, 1, 1}}}
	}
	whole, cut, told, none := stack(0), stack(1), stack(2), RecordedStack{Reason: 3}
	leaf := stack(4)
	leaf.CutOff = stacktree.CutLeafOnly
	inStart := stack(5)
	inStart.CutOff = stacktree.CutInStart
	for _, tt := range []struct {
		name   string
		stacks []RecordedStack
		values []int64 // of each stack, in samples of 10
		want   []string
	}{
		{"whole", []RecordedStack{whole}, []int64{5}, nil},
		{"without stacks", []RecordedStack{none}, []int64{5}, nil},
		{"few", []RecordedStack{whole, cut}, []int64{999, 1}, []string{"info cut-stacks 1: 0.1 % of cycles is on stacks that end before their thread's start: callers are missing there (stackmill report cut-stacks)"}},
		{"many", []RecordedStack{whole, cut, told}, []int64{2, 5, 1}, []string{"warning cut-stacks 6: 75.0 % of cycles is on stacks that end before their thread's start: callers are missing there (stackmill report cut-stacks)"}},
		{"in the function in which its thread begins", []RecordedStack{whole, inStart}, []int64{1, 9}, nil},
		{"some in that function", []RecordedStack{inStart, cut}, []int64{6, 2}, []string{"warning cut-stacks 2: 25.0 % of cycles is on stacks that end before their thread's start: callers are missing there (stackmill report cut-stacks)"}},
		{"leaves", []RecordedStack{leaf}, []int64{7}, []string{"info no-callers 7: callers were not recorded: stacks consist of their leaves only (perf record -g records callers)"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sums := NewSums(schema.PerfMetrics("cycles", "cycles", "count"))
			for n, v := range tt.values {
				for m := range sums.Metrics {
					*sums.At(RecordedStackNo(n), m) = Sum{Value: 10 * v, Samples: v}
				}
			}
			var log diagnostic.Log
			ReportCutStacks(&Stacks{Recorded: tt.stacks}, sums, &log)
			var got []string
			for _, p := range log.Problems {
				got = append(got, p.Severity.String()+" "+p.Reason+" "+string(rune('0'+p.Count))+": "+p.Message)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}
