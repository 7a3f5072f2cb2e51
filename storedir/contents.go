package storedir

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"stackmill/schema"
)

// Contents is what the commits of a store say.
type Contents struct {
	Batches  []Batch    // those that readers see, sorted by name
	Again    []Entry    // experiments that were taken out, to be ingested again
	Taken    []Commit   // commits that take experiments out, sorted by name
	Damaged  []Damaged  // commits that cannot be read and are not replaced
	Replaced []Replaced // commits of which nothing counts, readable or not

	store     string
	found     map[string]Damaged  // every commit, by name
	newest    map[string]int      // the highest number of each stem of names
	latest    map[string]Latest   // what counts of every experiment, by id
	replacing map[string][]string // commits in whose place others are, which are named
}

// Batch is a commit with files of which readers see at least one experiment.
type Batch struct {
	Commit
	Hidden []string // ids of experiments in the files that do not count, sorted
}

// Visible calls yield for each experiment of the batch that counts.
func (b *Batch) Visible(yield func(*Entry) bool) {
	for i := range b.Experiments {
		if _, hidden := slices.BinarySearch(b.Hidden, b.Experiments[i].ExperimentID); !hidden && !yield(&b.Experiments[i]) {
			return
		}
	}
}

// Damaged is a commit that cannot be read, with what can be read of it.
type Damaged struct {
	Commit
	Batch string // from the file's name
	Err   error
}

// File is the commit's file, relative to the store.
func (d Damaged) File() string { return CommitsDir + "/" + d.Batch + commitSuffix }

// Replaced is a commit that another replaces.
type Replaced struct {
	Damaged
	Since time.Time
}

// Look reads the commits of a store. The error is ErrNoStore if there is no store; a
// damaged commit is not an error.
func Look(store string) (*Contents, error) {
	c := &Contents{store: store, found: map[string]Damaged{}}
	return c, c.Refresh()
}

// Refresh looks for what was committed or removed since.
func (c *Contents) Refresh() error {
	entries, err := os.ReadDir(filepath.Join(c.store, CommitsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", c.store, ErrNoStore)
	}
	if err != nil {
		return err
	}
	found := map[string]Damaged{}
	for _, e := range entries {
		batch, ok := strings.CutSuffix(e.Name(), commitSuffix)
		if !ok {
			continue
		}
		d, known := c.found[batch]
		if !known {
			d = Damaged{Batch: batch, Err: fmt.Errorf("%w: it is no file", ErrDamaged)}
			if e.Type().IsRegular() {
				d.Commit, d.Err = ReadCommit(c.store, batch)
			}
		}
		switch {
		case errors.Is(d.Err, fs.ErrNotExist): // replaced, and just removed
			continue
		case exhausted(d.Err):
			return d.Err
		}
		found[batch] = d
	}
	c.found = found
	c.sort()
	return nil
}

// Add adds a commit that is about to be made.
func (c *Contents) Add(d Commit) {
	c.found[d.Batch] = Damaged{Commit: d, Batch: d.Batch}
	c.sort()
}

// Usable returns an error when a commit is of another version of the store.
func (c *Contents) Usable() error {
	for _, d := range c.found {
		if d.Err == nil && d.StoreVersion != schema.StoreVersion {
			return fmt.Errorf("store %s: batch %s has store format %q, this program has %q (ingest into a new store, or use the program that wrote it)",
				c.store, d.Batch, d.StoreVersion, schema.StoreVersion)
		}
	}
	return nil
}

// exhausted reports whether an error is about this process or machine, not the file.
func exhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// sort separates what counts from what does not.
func (c *Contents) sort() {
	c.Batches, c.Again, c.Taken, c.Damaged, c.Replaced = nil, nil, nil, nil, nil
	names := slices.Sorted(maps.Keys(c.found))
	c.newest, c.replacing = map[string]int{}, map[string][]string{}
	for _, name := range names {
		stem, n := split(name)
		c.newest[stem] = max(c.newest[stem], n)
		d := c.found[name]
		for _, r := range d.Replaces {
			if d.Err == nil {
				c.replacing[r] = append(c.replacing[r], name)
			}
		}
	}
	for _, name := range names {
		stem, n := split(name)
		for n++; n <= c.newest[stem]; n++ {
			c.replacing[name] = append(c.replacing[name], numbered(stem, n))
		}
	}
	c.count(names)
	for _, name := range names {
		d := c.found[name]
		switch since, gone := c.since(d); {
		case gone:
			c.Replaced = append(c.Replaced, Replaced{d, since})
		case d.Err != nil:
			c.Damaged = append(c.Damaged, d)
		case len(d.Files) == 0:
			c.Taken = append(c.Taken, d.Commit)
		default:
			c.Batches = append(c.Batches, Batch{d.Commit, c.hidden(d)})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(c.latest)) {
		if l := c.latest[id]; l.Status == Again && !l.Replaced {
			c.Again = append(c.Again, l.Entry)
		}
	}
}

// count finds what counts of each experiment: the entry of the highest generation, the
// first of equal ones.
func (c *Contents) count(names []string) {
	c.latest = map[string]Latest{}
	for _, name := range names {
		d := c.found[name]
		if d.Err != nil || len(c.replacing[name]) > 0 {
			continue
		}
		for _, e := range d.Experiments {
			if l := c.latest[e.ExperimentID]; e.Generation > l.Generation {
				l.Entry, l.Batch, l.Since = e, name, d.Ingested
				c.latest[e.ExperimentID] = l
			}
			for _, other := range e.Instead {
				l := c.latest[other]
				l.Replaced, l.ReplacedAt = true, d.Ingested
				c.latest[other] = l
			}
		}
	}
}

// since says when a commit ceased to count; false if it counts.
func (c *Contents) since(d Damaged) (at time.Time, gone bool) {
	if by := c.replacing[d.Batch]; len(by) > 0 {
		at = time.Now()
		for _, name := range by {
			if t := c.took(c.found[name]); t.Before(at) {
				at = t
			}
		}
		return at, true
	}
	experiments := d.Experiments
	if d.Err != nil && d.Commit.Batch != d.Batch { // they are another's, or unknown
		stem, n := split(d.Batch)
		experiments = []Entry{{ExperimentID: stem, Generation: n}}
	}
	if len(experiments) == 0 {
		return at, false
	}
	for _, e := range experiments {
		l := c.latest[e.ExperimentID]
		if !l.Replaced && (l.Batch == d.Batch || l.Generation < e.Generation) {
			return at, false
		}
		at = later(at, l.since())
	}
	return at, true
}

// took returns when a commit took another's place; now if it cannot be read, or has only
// taken out what is to be ingested again: what was there may be all that is left.
func (c *Contents) took(d Damaged) (at time.Time) {
	if d.Err != nil {
		return time.Now()
	}
	if len(d.Files) > 0 {
		return d.Ingested
	}
	for _, e := range d.Experiments {
		l := c.latest[e.ExperimentID]
		at = later(at, l.since())
	}
	return at
}

// hidden returns the experiments of a batch that do not count.
func (c *Contents) hidden(d Damaged) (ids []string) {
	for _, e := range d.Experiments {
		if l := c.latest[e.ExperimentID]; l.Batch != d.Batch || l.Replaced {
			ids = append(ids, e.ExperimentID)
		}
	}
	slices.Sort(ids)
	return ids
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Commits returns the commits of which readers see experiments, sorted by batch.
func Commits(store string) (list []Commit, err error) {
	c, err := Look(store)
	if err != nil {
		return nil, err
	}
	for _, b := range c.Batches {
		list = append(list, b.Commit)
	}
	return list, nil
}

// Latest is what counts of an experiment.
type Latest struct {
	Entry
	Batch      string    // that has it, empty if none does
	Since      time.Time // when that was committed
	Replaced   bool      // another experiment has taken its place
	ReplacedAt time.Time
}

// since is when it began to count; now if the experiment is to be ingested again.
func (l *Latest) since() time.Time {
	switch {
	case l.Replaced:
		return l.ReplacedAt
	case l.Status == Again:
		return time.Now()
	}
	return l.Since
}

// Latest returns what counts of an experiment.
func (c *Contents) Latest(id string) Latest { return c.latest[id] }

// Next returns the generation with which an experiment is put in now.
func (c *Contents) Next(id string) int { return max(c.latest[id].Generation, c.newest[id]) + 1 }

// Name returns the name of a new batch of experiments: another one than that of a damaged
// commit.
func (c *Contents) Name(experiments []Entry) string {
	name := BatchName(experiments)
	if stem, n := split(name); c.found[name].Err != nil {
		return numbered(stem, max(n, c.newest[stem])+1)
	}
	return name
}

// Batches returns the names of the commits, to see whether there are new ones.
func Batches(store string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(store, CommitsDir))
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	slices.Sort(names)
	return names, err
}
