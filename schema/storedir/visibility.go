package storedir

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// experimentState is the current state of an experiment, derived from all commits.
type experimentState struct {
	entry          *Entry      // with its current labels; nil if there is none
	committed      *Entry      // the entry as it was committed
	commit         *CommitFile // the commit of the entry
	rows           *CommitFile // the batch with its rows, nil if there is none
	rowsGeneration int         // the generation of the rows

	replaced   bool // another experiment's entry names it as replaced
	replacedAt time.Time
	replacers  []string // ids of experiments whose entries name it
	covered    bool     // another form of the same recording covers it (Entry.Covers)
}

// known reports whether some commit mentions the experiment.
func (l *experimentState) known() bool { return l != nil && (l.entry != nil || l.replaced) }

// visible reports whether readers see rows of the experiment.
func (l *experimentState) visible() bool { return l.rows != nil && !l.replaced && !l.covered }

// needsIngest reports whether the experiment was damaged and must be ingested again.
func (l *experimentState) needsIngest() bool {
	return l.entry != nil && l.entry.Status == Reingest && !l.replaced && !l.covered
}

// mutableEntry returns the entry for changes: it replaces the committed entry by a copy first.
func (l *experimentState) mutableEntry() *Entry {
	if l.entry == l.committed {
		e := *l.entry
		l.entry = &e
	}
	return l.entry
}

// sorted returns all commits, by name.
func (c *Contents) sorted() (list []*CommitFile) {
	for _, name := range slices.Sorted(maps.Keys(c.commits)) {
		list = append(list, c.commits[name])
	}
	return list
}

// sort derives the lists in c from its commits: what is visible, deleted, damaged or replaced.
func (c *Contents) sort() {
	c.Batches, c.ToReingest, c.Metadata, c.Damaged, c.Replaced = nil, nil, nil, nil, nil
	names := slices.Sorted(maps.Keys(c.commits))
	c.findReplaced(names)
	c.countExperiments(names)
	c.markCovered()
	c.assignLabels(names)
	for _, name := range names {
		d := c.commits[name]
		switch since, gone := c.obsoleteSince(d); {
		case gone:
			c.Replaced = append(c.Replaced, ReplacedCommit{*d, since})
		case d.Err != nil:
			c.Damaged = append(c.Damaged, *d)
		case len(d.Files) == 0:
			c.Metadata = append(c.Metadata, d.Commit)
		default:
			c.Batches = append(c.Batches, c.batch(d))
		}
	}
	for _, l := range c.states {
		if l.needsIngest() {
			c.ToReingest = append(c.ToReingest, *l.entry)
		}
	}
	slices.SortFunc(c.ToReingest, func(a, b Entry) int { return strings.Compare(a.ExperimentID, b.ExperimentID) })
}

// findReplaced finds the commits that others replace: by a higher number of the same stem, or
// because Replaces names them.
func (c *Contents) findReplaced(names []string) {
	c.highest, c.numbers, c.replacedBy = map[string]int{}, make(map[string][]int, len(names)), map[string][]string{}
	for _, name := range names {
		stem, n := splitName(name)
		c.numbers[stem] = append(c.numbers[stem], n)
		if n <= maxGeneration { // a higher number is damaged, and has no successor
			c.highest[stem] = max(c.highest[stem], n)
		}
		d := c.commits[name]
		for _, r := range d.Replaces {
			if d.Err == nil {
				c.replacedBy[r] = append(c.replacedBy[r], name)
			}
		}
	}
	for _, name := range names {
		stem, n := splitName(name)
		for _, next := range slices.Sorted(slices.Values(c.numbers[stem])) {
			if n < next && next <= maxGeneration {
				c.replacedBy[name] = append(c.replacedBy[name], numberedName(stem, next))
			}
		}
	}
}

// countExperiments derives the state of each experiment from the commits that are not replaced.
func (c *Contents) countExperiments(names []string) {
	c.states = make(map[string]*experimentState, len(c.states))
	for _, name := range names {
		d := c.commits[name]
		if len(c.replacedBy[name]) > 0 {
			continue
		}
		for i := range d.Experiments {
			e := &d.Experiments[i]
			if d.Err != nil && (len(d.Files) > 0 || precedence(e) == 0) { // a damaged commit does not bring back a deleted experiment
				continue
			}
			c.state(e.ExperimentID).apply(e, d)
			for _, other := range e.Instead {
				if other != e.ExperimentID {
					c.state(other).addReplacer(e.ExperimentID, d.Ingested)
				}
			}
		}
	}
	for id, l := range c.states {
		l.settle(id, c)
	}
}

// state returns the state of an experiment, which it creates if needed.
func (c *Contents) state(id string) *experimentState {
	l := c.states[id]
	if l == nil {
		l = &experimentState{}
		c.states[id] = l
	}
	return l
}

// precedence orders entries of the same generation, which concurrent writers made. What a user
// asked for wins, and a request to ingest again loses.
func precedence(e *Entry) int {
	switch e.Status {
	case Forgotten:
		return 2
	case Summary:
		return 1
	case Reingest:
		return -1
	}
	return 0
}

// apply replaces the current entry by e if e is newer, or of the same generation and preferred.
// Between equal ones, the entry that includes more label changes wins: it was merged later, and the
// commits of the changes may be gone.
func (l *experimentState) apply(e *Entry, in *CommitFile) {
	if l.entry == nil || cmp.Or(e.Generation-l.entry.Generation, precedence(e)-precedence(l.entry), len(e.LabelCommits)-len(l.entry.LabelCommits)) > 0 {
		l.entry, l.committed, l.commit = e, e, in
	}
	if len(in.Files) > 0 && (e.Generation > l.rowsGeneration || e.Generation == l.rowsGeneration && l.commit == in) {
		l.rows, l.rowsGeneration = in, e.Generation
	}
}

// addReplacer records that the experiment `by` replaces this one since that time.
func (l *experimentState) addReplacer(by string, at time.Time) {
	if !l.replaced || at.Before(l.replacedAt) {
		l.replacedAt = at
	}
	l.replaced, l.replacers = true, append(l.replacers, by)
}

// settle completes the state once all entries are applied. Rows of an older generation count only
// if the experiment is a summary now; a summary without rows must be ingested again. If two
// experiments replace each other, the one with the lower id stays.
func (l *experimentState) settle(id string, c *Contents) {
	l.replacers = slices.DeleteFunc(l.replacers, func(by string) bool {
		other := c.states[by]
		return id < by && other != nil && slices.Contains(other.replacers, id)
	})
	l.replaced = len(l.replacers) > 0
	switch {
	case l.entry == nil:
		l.rows = nil
	case l.entry.Status == Summary && l.rows == nil:
		l.mutableEntry().Status = Reingest
	case l.entry.Status == Forgotten, l.entry.Status == Reingest, l.entry.Status != Summary && l.rowsGeneration < l.entry.Generation:
		l.rows = nil
	}
}

// batch returns a commit with files, with the current entries of its visible experiments.
func (c *Contents) batch(d *CommitFile) Batch {
	b := Batch{Commit: d.Commit}
	for i, e := range d.Experiments {
		l := c.states[e.ExperimentID]
		if l.rows != d || !l.visible() {
			b.Hidden = append(b.Hidden, e.ExperimentID)
			continue
		}
		if l.entry.Status == Summary {
			b.Summaries = append(b.Summaries, e.ExperimentID)
		}
		if l.entry != l.committed || l.commit != d {
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

// obsoleteSince returns the time at which a commit ceased to count; false if it still counts.
func (c *Contents) obsoleteSince(d *CommitFile) (at time.Time, gone bool) {
	if by := c.replacedBy[d.Batch]; len(by) > 0 {
		at = notBefore()
		for _, name := range by {
			if t := c.replacedAt(c.commits[name]); t.Before(at) {
				at = t
			}
		}
		return at, true
	}
	if len(d.labelChanges()) > 0 && d.Err == nil {
		return c.allAppliedAt(d)
	}
	experiments := d.Experiments
	if d.Err != nil && d.Commit.Batch != d.Batch { // the experiments are another batch's, or unknown
		stem, n := splitName(d.Batch)
		experiments = []Entry{{ExperimentID: stem, Generation: n}}
	}
	if len(experiments) == 0 {
		return d.Ingested, d.Err == nil && !slices.ContainsFunc(d.Replaces, func(name string) bool { return c.commits[name] != nil })
	}
	for _, e := range experiments {
		l := c.states[e.ExperimentID]
		if !l.known() || !l.replaced && !l.covered && (l.commit == d || l.rows == d || l.entry.Generation < e.Generation) {
			return at, false
		}
		at = later(at, l.changedAt())
	}
	return at, true
}

// replacedAt returns since when a commit replaces others. It returns a future time if the replaced
// rows may be all that is left: the commit cannot be read, or asks to ingest the recordings again.
func (c *Contents) replacedAt(d *CommitFile) (at time.Time) {
	switch {
	case d.Err != nil:
		return notBefore()
	case len(d.Files)+len(d.Experiments) == 0, len(d.Files) > 0, c.restatesReplaced(d):
		return d.Ingested
	}
	for _, e := range d.Experiments {
		at = later(at, c.states[e.ExperimentID].changedAt())
	}
	return at
}

// changedAt returns when the current state began. It returns a future time if files of the earlier
// state must stay.
func (l *experimentState) changedAt() time.Time {
	switch {
	case l != nil && l.replaced:
		return l.replacedAt
	case !l.known(), l.covered, l.entry.Status == Reingest:
		return notBefore()
	}
	return l.commit.Ingested
}

// notBefore returns a time in the future, so that files replaced then are never old enough to
// remove.
func notBefore() time.Time { return time.Now().Add(Keep) }

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
