package storedir

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// counted is what counts of an experiment.
type counted struct {
	entry *Entry   // with its labels; nil if there is none
	said  *Entry   // the entry as it was committed
	in    *Damaged // the commit that has it
	rows  *Damaged // the batch whose files have its rows, nil if none do
	put   int      // the generation of the rows

	replaced   bool // by another that says so
	replacedAt time.Time
	by         []string // those that say so
	covered    bool     // by another form of the same recording
}

// known reports whether a commit says something of the experiment.
func (l *counted) known() bool { return l != nil && (l.entry != nil || l.replaced) }

// visible reports whether readers see rows of the experiment.
func (l *counted) visible() bool { return l.rows != nil && !l.replaced && !l.covered }

// awaited reports whether the experiment was damaged and is to be ingested again.
func (l *counted) awaited() bool {
	return l.entry != nil && l.entry.Status == Again && !l.replaced && !l.covered
}

// change makes a copy of the entry that may be changed.
func (l *counted) change() *Entry {
	if l.entry == l.said {
		e := *l.entry
		l.entry = &e
	}
	return l.entry
}

// sorted returns all commits, by name.
func (c *Contents) sorted() (list []*Damaged) {
	for _, name := range slices.Sorted(maps.Keys(c.found)) {
		list = append(list, c.found[name])
	}
	return list
}

// sort separates what counts from what does not.
func (c *Contents) sort() {
	c.Batches, c.Again, c.Bare, c.Damaged, c.Replaced = nil, nil, nil, nil, nil
	names := slices.Sorted(maps.Keys(c.found))
	c.name(names)
	c.count(names)
	c.cover()
	c.label(names)
	for _, name := range names {
		d := c.found[name]
		switch since, gone := c.since(d); {
		case gone:
			c.Replaced = append(c.Replaced, Replaced{*d, since})
		case d.Err != nil:
			c.Damaged = append(c.Damaged, *d)
		case len(d.Files) == 0:
			c.Bare = append(c.Bare, d.Commit)
		default:
			c.Batches = append(c.Batches, c.batch(d))
		}
	}
	for _, l := range c.counted {
		if l.awaited() {
			c.Again = append(c.Again, *l.entry)
		}
	}
	slices.SortFunc(c.Again, func(a, b Entry) int { return strings.Compare(a.ExperimentID, b.ExperimentID) })
}

// name finds the commits in whose place others are, by their names or because these say so.
func (c *Contents) name(names []string) {
	c.newest, c.numbers, c.replacing = map[string]int{}, make(map[string][]int, len(names)), map[string][]string{}
	for _, name := range names {
		stem, n := split(name)
		c.numbers[stem] = append(c.numbers[stem], n)
		if n <= mostGeneration { // what has more is damaged, and nothing follows it
			c.newest[stem] = max(c.newest[stem], n)
		}
		d := c.found[name]
		for _, r := range d.Replaces {
			if d.Err == nil {
				c.replacing[r] = append(c.replacing[r], name)
			}
		}
	}
	for _, name := range names {
		stem, n := split(name)
		for _, next := range slices.Sorted(slices.Values(c.numbers[stem])) {
			if n < next && next <= mostGeneration {
				c.replacing[name] = append(c.replacing[name], numbered(stem, next))
			}
		}
	}
}

// count finds what counts of each experiment.
func (c *Contents) count(names []string) {
	c.counted = make(map[string]*counted, len(c.counted))
	for _, name := range names {
		d := c.found[name]
		if len(c.replacing[name]) > 0 {
			continue
		}
		for i := range d.Experiments {
			e := &d.Experiments[i]
			if d.Err != nil && (len(d.Files) > 0 || wins(e) == 0) { // what was taken out does not come back
				continue
			}
			c.of(e.ExperimentID).take(e, d)
			for _, other := range e.Instead {
				if other != e.ExperimentID {
					c.of(other).replace(e.ExperimentID, d.Ingested)
				}
			}
		}
	}
	for id, l := range c.counted {
		l.settle(id, c)
	}
}

// of returns what counts of an experiment, which may be nothing yet.
func (c *Contents) of(id string) *counted {
	l := c.counted[id]
	if l == nil {
		l = &counted{}
		c.counted[id] = l
	}
	return l
}

// wins orders what is said of an experiment with the same generation by writers that know
// nothing of each other: what a user has asked for comes first, and what must be ingested
// again last.
func wins(e *Entry) int {
	switch e.Status {
	case Forgotten:
		return 2
	case Summary:
		return 1
	case Again:
		return -1
	}
	return 0
}

// take takes an entry if it is newer than what was there, or the first of equal ones. Of
// these one that heeds more labels is first: it was merged since, and the commits that gave
// the labels may be gone.
func (l *counted) take(e *Entry, in *Damaged) {
	if l.entry == nil || cmp.Or(e.Generation-l.entry.Generation, wins(e)-wins(l.entry), len(e.Labelled)-len(l.entry.Labelled)) > 0 {
		l.entry, l.said, l.in = e, e, in
	}
	if len(in.Files) > 0 && (e.Generation > l.put || e.Generation == l.put && l.in == in) {
		l.rows, l.put = in, e.Generation
	}
}

// replace says that another experiment is in the place of this one.
func (l *counted) replace(by string, at time.Time) {
	if !l.replaced || at.Before(l.replacedAt) {
		l.replacedAt = at
	}
	l.replaced, l.by = true, append(l.by, by)
}

// settle corrects what follows from all that was taken: the rows of an older generation
// count for a summary only, and a summary without rows must be ingested again. Of two that
// are each in the other's place, the first stays.
func (l *counted) settle(id string, c *Contents) {
	l.by = slices.DeleteFunc(l.by, func(by string) bool {
		other := c.counted[by]
		return id < by && other != nil && slices.Contains(other.by, id)
	})
	l.replaced = len(l.by) > 0
	switch {
	case l.entry == nil:
		l.rows = nil
	case l.entry.Status == Summary && l.rows == nil:
		l.change().Status = Again
	case l.entry.Status == Forgotten, l.entry.Status == Again, l.entry.Status != Summary && l.put < l.entry.Generation:
		l.rows = nil
	}
}

// batch returns what readers see of a batch.
func (c *Contents) batch(d *Damaged) Batch {
	b := Batch{Commit: d.Commit}
	for i, e := range d.Experiments {
		l := c.counted[e.ExperimentID]
		if l.rows != d || !l.visible() {
			b.Hidden = append(b.Hidden, e.ExperimentID)
			continue
		}
		if l.entry.Status == Summary {
			b.Summaries = append(b.Summaries, e.ExperimentID)
		}
		if l.entry != l.said || l.in != d {
			if &b.Experiments[0] == &d.Experiments[0] {
				b.Experiments = slices.Clone(d.Experiments)
			}
			b.Experiments[i] = *l.entry
		}
	}
	slices.Sort(b.Hidden)
	slices.Sort(b.Summaries)
	return b
}

// since says when a commit ceased to count; false if it counts.
func (c *Contents) since(d *Damaged) (at time.Time, gone bool) {
	if by := c.replacing[d.Batch]; len(by) > 0 {
		at = stays()
		for _, name := range by {
			if t := c.took(c.found[name]); t.Before(at) {
				at = t
			}
		}
		return at, true
	}
	if len(d.given()) > 0 && d.Err == nil {
		return c.heeded(d)
	}
	experiments := d.Experiments
	if d.Err != nil && d.Commit.Batch != d.Batch { // they are another's, or unknown
		stem, n := split(d.Batch)
		experiments = []Entry{{ExperimentID: stem, Generation: n}}
	}
	if len(experiments) == 0 {
		return d.Ingested, d.Err == nil && !slices.ContainsFunc(d.Replaces, func(name string) bool { return c.found[name] != nil })
	}
	for _, e := range experiments {
		l := c.counted[e.ExperimentID]
		if !l.known() || !l.replaced && !l.covered && (l.in == d || l.rows == d || l.entry.Generation < e.Generation) {
			return at, false
		}
		at = later(at, l.since())
	}
	return at, true
}

// took returns when a commit took another's place; later than now if it cannot be read, or
// has only taken out what is to be ingested again: what was there may be all that is left.
func (c *Contents) took(d *Damaged) (at time.Time) {
	switch {
	case d.Err != nil:
		return stays()
	case len(d.Files)+len(d.Experiments) == 0, len(d.Files) > 0, c.says(d):
		return d.Ingested
	}
	for _, e := range d.Experiments {
		at = later(at, c.counted[e.ExperimentID].since())
	}
	return at
}

// since is when it began to count; later than now if what was there before stays.
func (l *counted) since() time.Time {
	switch {
	case l != nil && l.replaced:
		return l.replacedAt
	case !l.known(), l.covered, l.entry.Status == Again:
		return stays()
	}
	return l.in.Ingested
}

// stays is a time at which what is there now has not been replaced for long.
func stays() time.Time { return time.Now().Add(Keep) }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
