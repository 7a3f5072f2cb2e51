package perfdata

import "stackmill/stages/decode"

// manyEvents is the number of events up to which those without samples are listed, too.
const manyEvents = 256

// makeCounters lists the events, which all processes share. Events with the same name, such as
// one requested twice, become separate metrics.
func (t *timeline) makeCounters() {
	names := make([]string, len(t.r.events))
	for i, e := range t.r.events {
		names[i] = e.name
	}
	names = decode.DistinctNames(names)
	for i, e := range t.r.events {
		if !e.isDummy() && (e.samples > 0 || len(t.r.events) <= manyEvents) {
			t.counters = append(t.counters, decode.Counter{Tag: i, Name: names[i], Title: names[i], TimeUnit: e.unit == "ns", Trigger: t.r.trigger(e)})
		}
	}
}
