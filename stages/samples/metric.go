// Package samples turns events into samples: it derives columns that a record does not hold
// (leaks, files, durations), finds each sample's recorded stack and data object, computes and
// sums its metrics, and emits its rows.
//
// Start reading with Sink (batch.go), the contract of everything here, then Deriver (derive.go),
// Counter (counts.go) and SampleRows (samplerows.go).
package samples

import (
	"slices"

	"stackmill/schema"
	"stackmill/stages/decode"
)

// Metrics returns the metrics of the kinds of data in a recording, in the order in which reports
// show them (gprofng-experiment 8.1).
func Metrics(rec *decode.Recording) []schema.Metric {
	available := map[string]bool{}
	var named []schema.Metric // metrics of counters
	triggers := Triggers(rec)
	for _, p := range rec.Processes {
		for _, k := range p.Kinds {
			for _, name := range metricsOf(k) {
				available[name] = true
			}
		}
		for _, c := range p.Counters {
			if slices.ContainsFunc(named, func(m schema.Metric) bool { return m.Source == c.Name }) {
				continue
			}
			of := sourceKind(p).Traits().Metrics(c.Name, c.Title, c.MetricUnit())
			of[0].Preferred = c.Preferred
			named = append(named, of...)
		}
	}
	for i := range named {
		named[i].Data = triggers[named[i].Source] != decode.NoTrigger
	}
	var ms []schema.Metric
	for _, m := range schema.Declared {
		if available[m.Name] {
			ms = append(ms, m)
		}
	}
	return append(ms, named...)
}

// sourceKind returns the kind of the events that a process's counters record.
func sourceKind(p *decode.Process) schema.Kind {
	for _, k := range p.Kinds {
		if k.Kind.Traits().Source != "" {
			return k.Kind
		}
	}
	return schema.HWC
}

// clockStates lists the metrics of clock profiling by the number of micro-states that the collector
// distinguishes. OpenMP metrics need states that only Solaris collectors record.
var clockStates = map[int][]string{
	1: {"totalcpu"},
	2: {"totalcpu", "user", "system", "kcpu"},
	3: {"kcpu"},
	10: {"totalcpu", "total", "user", "system", "trap", "textpfault", "datapfault", "kernelpfault",
		"lock", "sleep", "wait", "stop", "masterthread"},
}

func metricsOf(k decode.KindInfo) []string {
	switch k.Kind {
	case schema.Clock:
		if names, ok := clockStates[k.States]; ok {
			return names
		}
		return clockStates[10]
	case schema.OMP:
		return []string{"ompwork", "ompwait", "ompovhd"}
	case schema.Perf: // Wait has the metrics that follow from switches
		return nil
	}
	if k.OnlyBlocked {
		return []string{"offcpu", "offcpu.blocked"}
	}
	var names []string
	if k.Parallelism {
		names = []string{"latency"}
	}
	for _, m := range schema.Declared {
		if m.Kind == k.Kind {
			names = append(names, m.Name)
		}
	}
	return names
}
