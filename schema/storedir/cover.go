package storedir

import (
	"cmp"
	"slices"
)

// Covers reports whether e makes `other` redundant: it must be an unfinished form of the same
// recording, either a copy from before the collector finished, or one that lost data and has the
// same path. (A damaged copy at another path remains an experiment with its own problems.) If no
// form is finished, the one with the most samples covers the others. Finished forms are never
// covered.
func (e *Entry) Covers(other *Entry) bool {
	if other.finished() || e.Recorded == "" || e.Recorded != other.Recorded || e.ExperimentID == other.ExperimentID || e.Status == Reingest {
		return false
	}
	if other.Path != e.Path && !other.Unclosed {
		return false
	}
	forgotten := func(e *Entry) int { return boolInt(e.Status == Forgotten) }
	return cmp.Or(boolInt(e.finished())-boolInt(other.finished()), cmp.Compare(e.Samples, other.Samples), forgotten(e)-forgotten(other),
		cmp.Compare(other.ExperimentID, e.ExperimentID)) > 0
}

func boolInt(is bool) int {
	if is {
		return 1
	}
	return 0
}

// markCovered hides experiments that others cover, which concurrent writers may have stored. Their
// files stay until an entry of the covering experiment names them (Instead).
func (c *Contents) markCovered() {
	unfinished := c.unfinished()
	if len(unfinished) == 0 {
		return
	}
	covers := map[*experimentState][]*Entry{}
	for _, l := range c.states {
		if l.entry == nil || l.replaced {
			continue
		}
		for _, other := range unfinished[l.entry.Recorded] {
			if l.entry.Covers(other.entry) {
				other.covered = true
				covers[l] = append(covers[l], other.entry)
			}
		}
	}
	for l, others := range covers {
		e := l.mutableEntry()
		instead := slices.Clone(e.Instead)
		for _, other := range others {
			instead = append(append(instead, other.ExperimentID), other.Instead...)
		}
		slices.Sort(instead)
		e.Instead = slices.Compact(instead)
	}
}

// unfinished returns the states of unfinished recordings, by Entry.Recorded.
func (c *Contents) unfinished() map[string][]*experimentState {
	list := map[string][]*experimentState{}
	for _, l := range c.states {
		if e := l.entry; e != nil && e.Recorded != "" && !e.finished() && !l.replaced && e.Status != Forgotten {
			list[e.Recorded] = append(list[e.Recorded], l)
		}
	}
	return list
}

// ByRecording returns the current entries of all forms of each recording, sorted by id. The key is
// Entry.Recorded.
func (c *Contents) ByRecording() map[string][]*Entry {
	list := map[string][]*Entry{}
	for _, l := range c.states {
		if e := l.entry; e != nil && e.Recorded != "" && !l.replaced {
			list[e.Recorded] = append(list[e.Recorded], e)
		}
	}
	for _, forms := range list {
		slices.SortFunc(forms, func(a, b *Entry) int { return cmp.Compare(a.ExperimentID, b.ExperimentID) })
	}
	return list
}
