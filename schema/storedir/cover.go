package storedir

import (
	"cmp"
	"slices"
)

// Covers reports whether an experiment makes another form of the same recording redundant: a copy
// from before the collector finished it, or one that lost data at the same path. A damaged copy
// elsewhere is an experiment of its own, with its problems. Of several forms one covers all
// others, unless they are finished, too.
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

// markCovered hides experiments that others cover: concurrent writers may have stored both. The
// files stay until a commit of the covering experiment names the others.
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

// unfinished returns the states of incomplete recordings, by Entry.Recorded.
func (c *Contents) unfinished() map[string][]*experimentState {
	list := map[string][]*experimentState{}
	for _, l := range c.states {
		if e := l.entry; e != nil && e.Recorded != "" && !e.finished() && !l.replaced && e.Status != Forgotten {
			list[e.Recorded] = append(list[e.Recorded], l)
		}
	}
	return list
}

// ByRecording returns the current entries of each known recording, by Entry.Recorded, sorted by
// id.
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
