package storedir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"syscall"
	"time"

	"stackmill/schema"
)

// Contents is what the commits of a store say.
type Contents struct {
	Commits  []Commit   // what readers see, sorted by batch
	Again    []Commit   // batches without files, to be ingested again
	Damaged  []Damaged  // commits that cannot be read and are not replaced
	Replaced []Replaced // commits that others replace, readable or not

	store  string
	newest map[string]int  // an experiment's latest batch
	gone   map[string]bool // experiments that batches of others replace
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
	c := &Contents{store: store, newest: map[string]int{}, gone: map[string]bool{}}
	entries, err := os.ReadDir(filepath.Join(store, CommitsDir))
	if errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("%s: %w", store, ErrNoStore)
	}
	if err != nil {
		return c, err
	}
	var found []Damaged
	for _, e := range entries {
		batch, ok := strings.CutSuffix(e.Name(), commitSuffix)
		if !ok {
			continue
		}
		d := Damaged{Batch: batch, Err: fmt.Errorf("%w: it is no file", ErrDamaged)}
		if e.Type().IsRegular() {
			d.Commit, d.Err = ReadCommit(store, batch)
		}
		switch {
		case errors.Is(d.Err, fs.ErrNotExist): // replaced, and just removed
			continue
		case exhausted(d.Err):
			return c, d.Err
		}
		id, n := split(batch)
		c.newest[id] = max(c.newest[id], n)
		found = append(found, d)
	}
	c.sort(found)
	return c, nil
}

// Usable returns an error when a commit is of another version of the store.
func (c *Contents) Usable() error {
	for _, list := range [][]Commit{c.Commits, c.Again} {
		for _, x := range list {
			if x.StoreVersion != schema.StoreVersion {
				return fmt.Errorf("store %s: batch %s has store format %q, this program has %q (ingest into a new store, or use the program that wrote it)",
					c.store, x.Batch, x.StoreVersion, schema.StoreVersion)
			}
		}
	}
	return nil
}

// exhausted reports whether an error is about this process or machine, not the file.
func exhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// sort separates what counts from what was replaced.
func (c *Contents) sort(found []Damaged) {
	batches := map[string][]Damaged{} // of each experiment
	since := map[string]time.Time{}   // when batches of others replaced an experiment
	for _, d := range found {
		id, _ := split(d.Batch)
		batches[id] = append(batches[id], d)
		for _, r := range d.Replaces {
			if other, _ := split(r); other != id && d.Err == nil {
				c.gone[other], since[other] = true, d.Ingested
			}
		}
	}
	for _, d := range found {
		id, n := split(d.Batch)
		switch {
		case c.gone[id]:
			c.Replaced = append(c.Replaced, Replaced{d, since[id]})
		case n < c.newest[id]:
			c.Replaced = append(c.Replaced, Replaced{d, replacedAt(batches[id], n)})
		case d.Err != nil:
			c.Damaged = append(c.Damaged, d)
		case d.Status == Again:
			c.Again = append(c.Again, d.Commit)
		default:
			c.Commits = append(c.Commits, d.Commit)
		}
	}
	sort.Slice(c.Commits, func(i, j int) bool { return c.Commits[i].Batch < c.Commits[j].Batch })
}

// replacedAt is when the n-th of an experiment's batches was replaced by another with
// data; now if there is no such batch, or it cannot be read.
func replacedAt(batches []Damaged, n int) time.Time {
	at := time.Now()
	for _, d := range batches {
		if _, m := split(d.Batch); m > n && d.Err == nil && d.Status != Again && d.Ingested.Before(at) {
			at = d.Ingested
		}
	}
	return at
}

// Commits returns the commits of a store that count and can be read, sorted by
// batch.
func Commits(store string) ([]Commit, error) {
	c, err := Look(store)
	if err != nil {
		return nil, err
	}
	return c.Commits, nil
}

// Latest is the latest batch of an experiment.
type Latest struct {
	Commit
	Exists   bool
	Err      error  // why the commit cannot be read
	Replaced bool   // by another experiment
	Next     string // the batch that replaces it
}

// Latest returns the latest batch of an experiment now: others may have committed it
// since Look.
func (c *Contents) Latest(id string) (Latest, error) {
	n := c.newest[id]
	for {
		_, err := os.Lstat(commitPath(c.store, batchName(id, n+1)))
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return Latest{}, err
		}
		n++
	}
	l := Latest{Exists: n > 0, Replaced: c.gone[id], Next: batchName(id, n+1)}
	if n > 0 {
		l.Commit, l.Err = ReadCommit(c.store, batchName(id, n))
		l.Batch = batchName(id, n)
		if exhausted(l.Err) {
			return l, l.Err
		}
	}
	return l, nil
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
