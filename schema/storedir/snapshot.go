package storedir

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	fast "github.com/goccy/go-json"
)

// snapshotLine is a commit in a snapshot.
type snapshotLine struct {
	Batch  string `json:"batch"` // from the file's name
	Error  string `json:"error,omitempty"`
	Commit Commit `json:"commit"`
}

// WriteSnapshot writes the commits, one per line, without their lists of files.
func (c *Contents) WriteSnapshot(w io.Writer) error {
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	for _, d := range c.sorted() {
		l := snapshotLine{Batch: d.Batch, Commit: d.Commit}
		l.Commit.Files = d.Files[:min(1, len(d.Files))]
		if d.Err != nil {
			l.Error = d.Err.Error()
		}
		if err := lines.Encode(&l); err != nil {
			return err
		}
	}
	return nil
}

// ReadSnapshot returns the contents that a store had when the snapshot was written. They ignore
// later commits, and Refresh and Sweep do nothing until Unfreeze is called. So tasks that ingest
// with the same snapshot behave as if all had started at that moment.
func ReadSnapshot(store string, from io.Reader) (*Contents, error) {
	c := &Contents{store: store, snapshot: true, commits: map[string]*CommitFile{}}
	lines := bufio.NewReader(from)
	for {
		text, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) && len(text) == 0 {
			c.sort()
			return c, nil
		}
		if err != nil {
			return nil, err
		}
		var l snapshotLine
		if err := fast.Unmarshal(text, &l); err != nil {
			return nil, err
		}
		d := &CommitFile{Commit: l.Commit, Batch: l.Batch}
		if l.Error != "" {
			d.Err = errors.New(l.Error)
		} else if err := l.Commit.verify(); err != nil {
			return nil, fmt.Errorf("commit %s: %w", l.Batch, err)
		}
		c.commits[l.Batch] = d
	}
}

// IsSnapshot reports whether the contents come from a snapshot.
func (c *Contents) IsSnapshot() bool { return c.snapshot }

// Unfreeze updates the contents to the current state of the store. From then on, Refresh works.
func (c *Contents) Unfreeze() error {
	c.snapshot = false
	return c.Refresh()
}

// AddByName adds the commits of these batches. The error is fs.ErrNotExist if one is missing,
// ErrDamaged if one is unreadable.
func (c *Contents) AddByName(batches ...string) error {
	var errs []error
	for _, batch := range batches {
		if c.commits[batch] != nil {
			continue
		}
		commit, err := readHere(c.store, batch)
		if err != nil {
			errs = append(errs, fmt.Errorf("commit %s: %w", batch, err))
		}
		if err != nil && !errors.Is(err, ErrDamaged) {
			continue
		}
		if c.commits == nil {
			c.commits = map[string]*CommitFile{}
		}
		c.commits[batch] = &CommitFile{Commit: commit, Batch: batch, Err: err}
	}
	c.sort()
	return errors.Join(errs...)
}

// readHere is ReadCommit for a snapshot: if the cache lacks the commit or has a damaged copy, it
// updates the cached file first.
func readHere(store, batch string) (Commit, error) {
	c, err := ReadCommit(store, batch)
	if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrDamaged) || !IsCache(store) {
		return c, err
	}
	if err := Sync(store, path.Join(CommitsDir, batch+commitSuffix)); err != nil {
		return Commit{}, err
	}
	return ReadCommit(store, batch)
}
