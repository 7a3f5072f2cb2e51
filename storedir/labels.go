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

// labelled returns the commits that label an experiment, by its id.
func (c *Contents) labelled(names []string) map[string][]*Damaged {
	by := map[string][]*Damaged{}
	for _, name := range names {
		if d := c.found[name]; d.Err == nil && d.Labels != nil {
			for _, id := range d.Labels.Experiments {
				by[id] = append(by[id], d)
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

// heed applies commits that were not heeded before.
func (e *Entry) heed(given []*Damaged) {
	given = slices.DeleteFunc(given, func(d *Damaged) bool { return slices.Contains(e.Labelled, d.Batch) })
	slices.SortFunc(given, func(a, b *Damaged) int {
		return cmp.Or(cmp.Compare(a.Labels.Number, b.Labels.Number), cmp.Compare(a.Batch, b.Batch))
	})
	for _, d := range given {
		maps.Copy(e.Labels, d.Labels.Set)
		for _, key := range d.Labels.Remove {
			delete(e.Labels, key)
		}
		e.Labelled = append(e.Labelled, d.Batch)
	}
	slices.Sort(e.Labelled)
	if e.Labelled = slices.Compact(e.Labelled); len(e.Labels) == 0 {
		e.Labels = nil
	}
}

// heeded says since when other commits say what one does that labels experiments; false
// if it is still needed.
func (c *Contents) heeded(d *Damaged) (at time.Time, heeded bool) {
	for _, id := range d.Labels.Experiments {
		l := c.counted[id]
		holders := []*counted{l}
		if l != nil && l.replaced {
			holders = nil
			for _, by := range l.by {
				holders = append(holders, c.counted[by])
			}
		}
		for _, h := range holders {
			if h == nil || h.entry == nil || !slices.Contains(h.said.Labelled, d.Batch) {
				return at, false
			}
			at = later(at, h.in.Ingested)
		}
	}
	return at, true
}
