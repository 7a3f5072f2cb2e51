package perfdata

import "stackmill/stages/decode"

// manyEvents bounds the events up to which those without samples are listed, too.
const manyEvents = 256

// makeCounters lists the events, which all processes share.
func (t *timeline) makeCounters() {
	for i, e := range t.r.events {
		if !e.isDummy() && (e.samples > 0 || len(t.r.events) <= manyEvents) {
			t.counters = append(t.counters, decode.Counter{Tag: i, Name: e.name, Title: e.name, TimeUnit: e.unit == "ns", Trigger: t.r.trigger(e)})
		}
	}
}
