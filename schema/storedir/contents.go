package storedir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"stackmill/schema"
)

// Contents is the state of a store, derived from all its commits.
type Contents struct {
	Batches    []Batch          // batches visible to readers, sorted by name
	ToReingest []Entry          // deleted experiments that must be ingested again
	Metadata   []Commit         // commits without files that count, sorted by name
	Damaged    []CommitFile     // unreadable commits that are not replaced
	Replaced   []ReplacedCommit // commits that no longer count, readable or not

	store      string
	snapshot   bool                        // see ReadSnapshot
	commits    map[string]*CommitFile      // every commit, by name
	highest    map[string]int              // stem of commit names -> the highest number that follows it
	numbers    map[string][]int            // stem of commit names -> all numbers that follow it
	states     map[string]*experimentState // by id of the experiment
	replacedBy map[string][]string         // name of a commit -> names of the commits that replace it
}

// Batch is a commit with files and at least one visible experiment. The entries of visible
// experiments have their current state and labels, not those of the commit.
type Batch struct {
	Commit
	Hidden []string // ids of invisible experiments in the files, sorted
	// Summaries are the ids, sorted, of experiments reduced to summaries: only their rows in tables
	// with schema.Table.Summary are visible.
	Summaries []string
}

// Visible calls yield for each visible experiment of the batch.
func (b *Batch) Visible(yield func(*Entry) bool) {
	for i := range b.Experiments {
		if _, hidden := slices.BinarySearch(b.Hidden, b.Experiments[i].ExperimentID); !hidden && !yield(&b.Experiments[i]) {
			return
		}
	}
}

// CommitFile is a parsed commit file. If it is damaged, Err says so and Commit is what could be
// read.
type CommitFile struct {
	Commit
	Batch string // from the file's name
	Err   error

	version *fileVersion // nil if the file was not read, because the commit is from a snapshot or not written yet
}

// Path returns the path of the commit file, relative to the store.
func (d CommitFile) Path() string { return CommitsDir + "/" + d.Batch + commitSuffix }

// ReplacedCommit is a commit that no longer counts.
type ReplacedCommit struct {
	CommitFile
	Since time.Time
}

// ReadContents reads the commits of a store. The error is ErrNoStore if there is no store; a
// damaged commit is no error.
func ReadContents(store string) (*Contents, error) {
	c := &Contents{store: store}
	return c, c.Refresh()
}

// Refresh reads new and changed commits, and drops removed ones. It does nothing for a snapshot.
func (c *Contents) Refresh() error {
	if c.snapshot {
		return nil
	}
	if err := Pull(c.store); err != nil {
		return err
	}
	found := map[string]*CommitFile{}
	changed := c.commits == nil
	err := eachCommitFile(c.store, func(batch string) bool {
		d := c.commits[batch]
		if d == nil || d.version != nil && !d.version.isUnchanged(c.store, batch) {
			return false
		}
		found[batch] = d
		return true
	}, func(f *rawCommit) {
		d := c.commits[f.batch]
		if d != nil && d.version.sum == f.version.sum {
			d.version = f.version
		} else {
			d, changed = f.parse(), true
		}
		found[f.batch] = d
	})
	if err != nil {
		return err
	}
	if changed || len(found) != len(c.commits) {
		c.commits = found
		c.sort()
	}
	return nil
}

// Add adds a commit that is about to be made.
func (c *Contents) Add(d Commit) {
	c.commits[d.Batch] = &CommitFile{Commit: d, Batch: d.Batch}
	c.sort()
}

// IsEmpty reports whether there are no commits.
func (c *Contents) IsEmpty() bool { return len(c.commits) == 0 }

// CheckVersions returns an error if a commit has another version of the store format.
func (c *Contents) CheckVersions() error {
	for _, d := range c.commits { // entries of other versions may have another form
		if d.Err == nil && d.StoreVersion != schema.StoreVersion && !schema.IsOlder(d.StoreVersion) {
			return fmt.Errorf("store %s: batch %s has store format %q, but this program has %q (ingest into a new store, or use the program that wrote it)", c.store, d.Batch, d.StoreVersion, schema.StoreVersion)
		}
	}
	all := slices.Clone(c.Metadata)
	for i := range c.Batches {
		all = append(all, c.Batches[i].Commit)
	}
	for _, d := range all {
		if schema.IsOlder(d.StoreVersion) {
			return fmt.Errorf("store %s: batch %s has store format %q, but this program has %q (stackmill compact writes it again in this format)", c.store, d.Batch, d.StoreVersion, schema.StoreVersion)
		}
	}
	return nil
}

// isResourceError reports whether an error is about this process or machine rather than the file.
func isResourceError(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) || errors.Is(err, syscall.ENOMEM)
}

// Commits returns the commits of the visible batches, sorted by batch.
func Commits(store string) (list []Commit, err error) {
	c, err := ReadContents(store)
	if err != nil {
		return nil, err
	}
	for _, b := range c.Batches {
		list = append(list, b.Commit)
	}
	return list, nil
}

// NamesFile reports whether the commit of the file's batch names the file. It returns true if that
// commit is unreadable, because it may name any file of its batch.
func (c *Contents) NamesFile(file string) bool {
	d := c.commits[BatchOf(file)]
	return d != nil && (d.Err != nil || d.has(AttemptOf(file)))
}

// Has reports whether a batch has a commit, readable or not.
func (c *Contents) Has(batch string) bool { return c.commits[batch] != nil }

// Latest is the current state of an experiment.
type Latest struct {
	Entry              // with its current labels
	Batch    string    // the commit with the entry, empty if there is none
	Rows     string    // the batch with its rows, empty if there are none
	Since    time.Time // when the commit was made
	Replaced bool      // another experiment replaces it
}

// Latest returns the current state of an experiment.
func (c *Contents) Latest(id string) Latest {
	l := c.states[id]
	if l == nil {
		return Latest{}
	}
	out := Latest{Replaced: l.replaced || l.covered}
	if l.entry != nil {
		out.Entry, out.Batch, out.Since = *l.entry, l.commit.Batch, l.commit.Ingested
	}
	if l.rows != nil {
		out.Rows = l.rows.Batch
	}
	return out
}

// NextGeneration returns the generation of an experiment's next entry.
func (c *Contents) NextGeneration(id string) int {
	next := c.highest[id]
	if l := c.states[id]; l != nil && l.entry != nil {
		next = max(next, l.entry.Generation)
	}
	return next + 1
}

// NewBatchName returns the name for a new batch. It skips names of damaged commits.
func (c *Contents) NewBatchName(experiments []Entry) string {
	return c.unusedName(BatchName(experiments))
}

// unusedName returns name or, if a damaged commit has it, a higher unused one with the same stem.
func (c *Contents) unusedName(name string) string {
	if stem, n := splitName(name); c.commits[name] != nil && c.commits[name].Err != nil {
		return numberedName(stem, max(n, c.highest[stem])+1)
	}
	return name
}

// CommitNames returns the names of the commit files, to detect new ones.
func CommitNames(store string) ([]string, error) {
	if err := Pull(store); err != nil {
		return nil, err
	}
	return LocalCommitNames(store)
}

// LocalCommitNames is CommitNames without contacting a remote store.
func LocalCommitNames(store string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(store, CommitsDir))
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	slices.Sort(names)
	return names, err
}
