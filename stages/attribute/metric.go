// Package attribute joins samples with stacks: it derives what a sample's own
// record does not hold (leaks, files, durations), sums the metrics per stack and
// thread, and turns the sums into exclusive, inclusive and attributed rows.
package attribute

import (
	"slices"

	"stackmill/schema"
	"stackmill/stages/decode"
)

// Metrics returns the metrics that the recording can tell, in the order in which
// they are shown, from what it says it was recorded with (gprofng-experiment 8.1).
func Metrics(rec *decode.Recording) []schema.Metric {
	available := map[string]bool{}
	var counters []schema.Metric
	triggers := Triggers(rec)
	for _, p := range rec.Processes {
		for _, k := range p.Kinds {
			for _, name := range metricsOf(k) {
				available[name] = true
			}
		}
		for _, c := range p.Counters {
			if slices.ContainsFunc(p.Kinds, func(k decode.KindInfo) bool { return k.Kind == schema.Perf }) {
				if unit := "count"; !slices.ContainsFunc(counters, func(o schema.Metric) bool { return o.Source == c.Name }) {
					if c.TimeUnit {
						unit = "ns"
					}
					counters = append(counters, schema.PerfMetrics(c.Name, unit)...)
				}
				continue
			}
			m := schema.Metric{Name: c.Name, Title: c.Title, Unit: "count", Kind: schema.HWC, Value: "value", Source: c.Name}
			if c.TimeUnit {
				m.Unit = "ns"
			}
			if !slices.ContainsFunc(counters, func(o schema.Metric) bool { return o.Name == m.Name }) {
				counters = append(counters, m)
			}
		}
	}
	for i := range counters {
		counters[i].Data = triggers[counters[i].Source] != decode.NoTrigger
	}
	var ms []schema.Metric
	for _, m := range schema.Declared {
		if available[m.Name] {
			ms = append(ms, m)
		}
	}
	return append(ms, counters...)
}

// clockStates lists the clock metrics by the number of micro-states that the
// collector tells apart; OpenMP metrics need the states recorded by its run-time
// library, which only Solaris collectors do.
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
	case schema.HWC, schema.Perf:
		return nil // named by the counters
	}
	var names []string
	for _, m := range schema.Declared {
		if m.Kind == k.Kind {
			names = append(names, m.Name)
		}
	}
	return names
}
