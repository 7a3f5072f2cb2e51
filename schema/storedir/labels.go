package storedir

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Labels is a change of experiments' labels. Changes apply in the order of their numbers; those
// with the same number, in the order of their commits' names.
type Labels struct {
	Number      int               `json:"number"` // higher than the numbers of all changes that the writer knew
	Experiments []string          `json:"experiments"`
	Set         map[string]string `json:"set,omitempty"`
	Remove      []string          `json:"remove,omitempty"`
}

// LabelChange is a change of labels, with the name of the commit that first made it.
type LabelChange struct {
	Commit string `json:"commit"`
	Labels
}

// labelChanges returns the label changes of a commit.
func (c *Commit) labelChanges() []LabelChange {
	if c.Labels == nil {
		return c.LabelChanges
	}
	return append([]LabelChange{{c.Batch, *c.Labels}}, c.LabelChanges...)
}

// labelChangesByID returns the label changes of experiments, by their ids.
func (c *Contents) labelChangesByID(names []string) map[string][]*LabelChange {
	by := map[string][]*LabelChange{}
	for _, name := range names {
		d := c.commits[name]
		if d.Err != nil {
			continue
		}
		for _, g := range d.labelChanges() {
			for _, id := range g.Experiments {
				by[id] = append(by[id], &g)
			}
		}
	}
	return by
}

// assignLabels computes the current labels of each experiment: those of the experiments that it
// replaces, its own, and label changes since. In this order, the later ones override the earlier
// ones.
func (c *Contents) assignLabels(names []string) {
	labeled := c.labelChangesByID(names)
	merged := map[string]*Entry{}
	for id, l := range c.states {
		if l.entry == nil || len(labeled[id])+len(l.entry.Instead) == 0 {
			continue
		}
		e, given := *l.entry, slices.Clone(labeled[id])
		e.Labels, e.LabelCommits = map[string]string{}, slices.Clone(e.LabelCommits)
		for _, other := range e.Instead {
			given = append(given, labeled[other]...)
			if o := c.states[other]; o != nil && o.entry != nil {
				maps.Copy(e.Labels, o.entry.Labels)
				e.LabelCommits = append(e.LabelCommits, o.entry.LabelCommits...)
			}
		}
		maps.Copy(e.Labels, l.entry.Labels)
		e.applyLabels(given)
		if len(e.Labels)+len(e.LabelCommits) > 0 {
			merged[id] = &e
		}
	}
	for id, e := range merged {
		c.states[id].entry = e
	}
}

// applyLabels applies label changes that the entry does not include yet.
func (e *Entry) applyLabels(given []*LabelChange) {
	given = slices.DeleteFunc(given, func(g *LabelChange) bool { return slices.Contains(e.LabelCommits, g.Commit) })
	slices.SortFunc(given, func(a, b *LabelChange) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Commit, b.Commit))
	})
	for _, g := range given {
		maps.Copy(e.Labels, g.Set)
		for _, key := range g.Remove {
			delete(e.Labels, key)
		}
		e.LabelCommits = append(e.LabelCommits, g.Commit)
	}
	slices.Sort(e.LabelCommits)
	if e.LabelCommits = slices.Compact(e.LabelCommits); len(e.Labels) == 0 {
		e.Labels = nil
	}
}

// allAppliedAt returns since when the entries of experiments include all changes of a label commit;
// false if some do not, so that the commit is still needed.
func (c *Contents) allAppliedAt(d *CommitFile) (at time.Time, heeded bool) {
	for _, g := range d.labelChanges() {
		since, heeded := c.appliedAt(&g)
		if !heeded {
			return at, false
		}
		at = later(at, since)
	}
	return at, true
}

// appliedAt returns since when the entries of all its experiments include a label change; false if
// some do not.
func (c *Contents) appliedAt(g *LabelChange) (at time.Time, heeded bool) {
	for _, id := range g.Experiments {
		l := c.states[id]
		holders := []*experimentState{l}
		if l != nil && l.replaced {
			holders = nil
			for _, by := range l.replacers {
				holders = append(holders, c.states[by])
			}
		}
		for _, h := range holders {
			if h == nil || h.entry == nil || !slices.Contains(h.committed.LabelCommits, g.Commit) {
				return at, false
			}
			at = later(at, h.commit.Ingested)
		}
	}
	return at, true
}
