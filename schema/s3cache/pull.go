package s3cache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"

	"stackmill/internal/hosterr"
	"stackmill/internal/objstore"
	"stackmill/internal/ordered"
	"stackmill/schema/storedir"
)

// Limits of what a store may contain.
const (
	maxCommits = 1 << 18
	maxReports = 1 << 20 // reports of plans' tasks
	maxText    = 1 << 30 // bytes of a commit, report or journal
)

// maxFiles limits the number of table files: about a hundred per commit, and the leftovers of
// failed attempts.
func (m *Cache) maxFiles() int {
	commits, _ := storedir.LocalCommitNames(m.Dir) // none if there is no store
	return 100*len(commits) + 100_000
}

const commitSuffix = ".json"

// pulls is how often Pull lists the commits, as long as some of them are removed before they are
// read.
const pulls = 5

// Pull implements storedir.Remote.
func (m *Cache) Pull() error {
	for range pulls {
		if removed, err := m.pull(); err != nil || removed == 0 {
			return err
		}
	}
	return hosterr.New(fmt.Errorf("%s: the server lists commits that it does not have (is a proxy in between? the same command later may succeed)", m.at))
}

// pull lists the commits once and updates the cached ones. It returns how many were removed after
// they had been listed.
func (m *Cache) pull() (removed int, err error) {
	// This list must be older than the storage's: another process on this machine may cache new
	// commits meanwhile, which must not be removed.
	before, err := storedir.LocalCommitNames(m.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	modified := map[string]time.Time{}
	var wanted []objstore.Object
	err = m.client.List(m.ctx, m.at.Join(storedir.CommitsDir), maxCommits, func(o objstore.Object) error {
		name, ok := m.relative(&o)
		if batch, commit := batchOf(name); ok && commit {
			modified[batch] = o.Modified
			if !m.isCurrent(name, &o) {
				wanted = append(wanted, o)
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	if removed, err = m.fetchObjects(wanted); err != nil {
		return 0, err
	}
	m.mu.Lock()
	m.modified = modified
	m.mu.Unlock()
	var gone []string
	for _, name := range before {
		if batch, ok := strings.CutSuffix(name, commitSuffix); ok && modified[batch].IsZero() {
			gone = append(gone, batch)
		}
	}
	return removed, m.removeCommits(gone)
}

// removeCommits removes cached commits that the storage does not list. It checks that one of them
// is really missing there, because an incomplete list would silently remove experiments.
func (m *Cache) removeCommits(gone []string) error {
	if len(gone) > 0 {
		batch := gone[rand.IntN(len(gone))]
		switch _, err := m.client.Stat(m.ctx, m.commitAt(batch)); {
		case err == nil:
			return hosterr.New(fmt.Errorf("%s: the server's list of commits lacks %s.json, which exists (is a proxy in between? the same command later may succeed)", m.at, batch))
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
	}
	for _, batch := range gone {
		if err := ignoreMissing(os.Remove(m.local(commitName(batch)))); err != nil {
			return err
		}
	}
	return nil
}

// batchOf returns the batch of a commit file; false for other files.
func batchOf(name string) (batch string, ok bool) {
	dir, base := path.Split(name)
	batch, ok = strings.CutSuffix(base, commitSuffix)
	return batch, ok && dir == storedir.CommitsDir+"/"
}

// isCurrent reports whether the cached file is a copy of a listed object.
func (m *Cache) isCurrent(name string, o *objstore.Object) bool {
	c, _ := m.copies.get(name)
	return m.copies.isCopyOf(name, o) && m.copies.hasContent(name, c.sum)
}

// fetchObjects downloads small objects, with their dates. It returns how many of them do not exist
// any more.
func (m *Cache) fetchObjects(list []objstore.Object) (removed int, err error) {
	var gone atomic.Int64
	err = ordered.ForEach(m.ctx, len(list), concurrency, func(ctx context.Context, i int) error {
		o := list[i]
		name, ok := m.relative(&o)
		if !ok {
			return nil
		}
		content, err := m.content(ctx, name, &o)
		if errors.Is(err, fs.ErrNotExist) {
			gone.Add(1)
			return nil
		} else if err != nil {
			return err
		}
		err = m.writeFile(name, func(f *os.File) error {
			_, err := f.Write(content)
			return err
		})
		if err == nil {
			err = os.Chtimes(m.local(name), o.Modified, o.Modified)
		}
		if err == nil {
			m.copies.note(name, &o, storedir.Checksum(xxhash.Sum64(content)))
		}
		return err
	})
	return int(gone.Load()), err
}

// content returns the content of a small object. If the object was replaced since it was listed,
// content updates o. It downloads a damaged commit until two downloads are equal: then the object
// is damaged, not the download.
func (m *Cache) content(ctx context.Context, name string, o *objstore.Object) (content []byte, err error) {
	batch, commit := batchOf(name)
	var last []byte
	for range downloads {
		if o.Size > maxText {
			return nil, fmt.Errorf("%s: it has %d bytes, more than the limit of %d", o.Address, o.Size, maxText)
		}
		if o.Size > 0 || commit { // a marker is empty
			content, err = m.client.Content(ctx, *o)
		}
		if errors.Is(err, objstore.ErrChanged) {
			if *o, err = m.client.Stat(ctx, o.Address); err != nil {
				return nil, err
			}
			err = objstore.ErrChanged
			continue
		}
		if err != nil || !commit || last != nil && bytes.Equal(content, last) || storedir.IsIntact(batch, content) {
			return content, err
		}
		last = append([]byte{}, content...)
	}
	return nil, hosterr.New(fmt.Errorf("%s: %d downloads gave different contents (is a proxy in between? the same command later may succeed)", o.Address, downloads))
}

// Sync implements storedir.Remote.
func (m *Cache) Sync(name string) error {
	there := map[string]bool{}
	var wanted []objstore.Object
	if path.Ext(name) == "" {
		err := m.client.List(m.ctx, m.at.Join(name), maxReports, func(o objstore.Object) error {
			file, ok := m.relative(&o)
			if !ok {
				return nil
			}
			there[m.local(file)] = true
			if !m.isCurrent(file, &o) {
				wanted = append(wanted, o)
			}
			return nil
		})
		if err != nil {
			return err
		}
		_ = filepath.WalkDir(m.local(name), func(file string, e fs.DirEntry, err error) error { // unreadable files are skipped
			if err == nil && e.Type().IsRegular() && !there[file] {
				_ = os.Remove(file) // a file of an earlier store
			}
			return nil
		})
		_, err = m.fetchObjects(wanted)
		return err
	}
	o, err := m.client.Stat(m.ctx, m.at.Join(name))
	if errors.Is(err, fs.ErrNotExist) {
		_ = os.Remove(m.local(name))
		return nil
	}
	if err != nil {
		return err
	}
	// The caller doubts the copy of a named file: compare its content.
	if c, _ := m.copies.get(name); m.copies.isCopyOf(name, &o) && m.copies.readsAs(name, c.sum) {
		return nil
	}
	_, err = m.fetchObjects([]objstore.Object{o})
	return err
}

// Push implements storedir.Remote.
func (m *Cache) Push(file string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.ctx), m.orphanAge/2)
	defer cancel()
	_, err := m.client.Upload(ctx, m.at.Join(file), m.local(file))
	return err
}
