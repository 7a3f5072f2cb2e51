package storedir

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// Labels are given to experiments, or taken from them, in the order of their numbers and,
// for equal ones, of their commits' names.
type Labels struct {
	Number      int               `json:"number"` // higher than all that the writer knew
	Experiments []string          `json:"experiments"`
	Set         map[string]string `json:"set,omitempty"`
	Remove      []string          `json:"remove,omitempty"`
}

// Given are labels and the commit that gave them, whichever says so now.
type Given struct {
	Commit string `json:"commit"`
	Labels
}

// given returns all labels that a commit gives.
func (c *Commit) given() []Given {
	if c.Labels == nil {
		return c.Given
	}
	return append([]Given{{c.Batch, *c.Labels}}, c.Given...)
}

// labelled returns the labels that were given to experiments, by their ids.
func (c *Contents) labelled(names []string) map[string][]*Given {
	by := map[string][]*Given{}
	for _, name := range names {
		d := c.found[name]
		if d.Err != nil {
			continue
		}
		for _, g := range d.given() {
			for _, id := range g.Experiments {
				by[id] = append(by[id], &g)
			}
		}
	}
	return by
}

// label gives every experiment the labels that it has now: those of the ones in whose
// place it is, its own, and those that were given later.
func (c *Contents) label(names []string) {
	labelled := c.labelled(names)
	merged := map[string]*Entry{}
	for id, l := range c.counted {
		if l.entry == nil || len(labelled[id])+len(l.entry.Instead) == 0 {
			continue
		}
		e, given := *l.entry, slices.Clone(labelled[id])
		e.Labels, e.Labelled = map[string]string{}, slices.Clone(e.Labelled)
		for _, other := range e.Instead {
			given = append(given, labelled[other]...)
			if o := c.counted[other]; o != nil && o.entry != nil {
				maps.Copy(e.Labels, o.entry.Labels)
				e.Labelled = append(e.Labelled, o.entry.Labelled...)
			}
		}
		maps.Copy(e.Labels, l.entry.Labels)
		e.heed(given)
		if len(e.Labels)+len(e.Labelled) > 0 {
			merged[id] = &e
		}
	}
	for id, e := range merged {
		c.counted[id].entry = e
	}
}

// heed applies labels that were not heeded before.
func (e *Entry) heed(given []*Given) {
	given = slices.DeleteFunc(given, func(g *Given) bool { return slices.Contains(e.Labelled, g.Commit) })
	slices.SortFunc(given, func(a, b *Given) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Commit, b.Commit))
	})
	for _, g := range given {
		maps.Copy(e.Labels, g.Set)
		for _, key := range g.Remove {
			delete(e.Labels, key)
		}
		e.Labelled = append(e.Labelled, g.Commit)
	}
	slices.Sort(e.Labelled)
	if e.Labelled = slices.Compact(e.Labelled); len(e.Labels) == 0 {
		e.Labels = nil
	}
}

// heeded says since when other commits say what one does that labels experiments; false
// if it is still needed.
func (c *Contents) heeded(d *Damaged) (at time.Time, heeded bool) {
	for _, g := range d.given() {
		since, heeded := c.heeds(&g)
		if !heeded {
			return at, false
		}
		at = later(at, since)
	}
	return at, true
}

// heeds says since when the entries of experiments have the labels that were given.
func (c *Contents) heeds(g *Given) (at time.Time, heeded bool) {
	for _, id := range g.Experiments {
		l := c.counted[id]
		holders := []*counted{l}
		if l != nil && l.replaced {
			holders = nil
			for _, by := range l.by {
				holders = append(holders, c.counted[by])
			}
		}
		for _, h := range holders {
			if h == nil || h.entry == nil || !slices.Contains(h.said.Labelled, g.Commit) {
				return at, false
			}
			at = later(at, h.in.Ingested)
		}
	}
	return at, true
}
