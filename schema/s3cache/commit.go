package s3cache

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"stackmill/internal/hosterr"
	"stackmill/internal/objstore"
	"stackmill/internal/ordered"
	"stackmill/schema/storedir"
)

// Commit implements storedir.Remote. It gives up after half the age at which CollectGarbage may
// remove its files.
func (m *Cache) Commit(c *storedir.Commit, content []byte) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.ctx), m.orphanAge/2)
	defer cancel()
	err := ordered.ForEach(ctx, len(c.Files), concurrency/2, func(ctx context.Context, i int) error { return m.upload(ctx, c.Files[i]) })
	if err != nil {
		return err
	}
	at := m.commitAt(c.Batch)
	etag, err := m.client.Create(ctx, at, content)
	if errors.Is(err, objstore.ErrExists) {
		if err := m.Sync(commitName(c.Batch)); err != nil {
			return err
		}
		m.removeLoser(ctx, c)
		return fmt.Errorf("%s: %w", at, storedir.ErrExists)
	}
	if err != nil {
		return err
	}
	m.copies.note(commitName(c.Batch), &objstore.Object{Size: int64(len(content)), ETag: etag}, storedir.Checksum(xxhash.Sum64(content)))
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range c.Files {
		m.committed[storedir.AttemptOf(f.Path)] = true
	}
	unlock, err := lock(m.sibling("lock"))
	if err != nil {
		return nil // the next commit evicts
	}
	defer unlock()
	_, _ = m.evict(0) // if it fails, the next commit evicts
	return nil
}

// upload uploads a table's file that this process wrote, unless its content has changed since.
func (m *Cache) upload(ctx context.Context, f storedir.File) error {
	if !m.copies.readsAs(f.Path, f.Checksum) {
		return fmt.Errorf("%s: %w", f.Path, storedir.ErrLost)
	}
	etag, err := m.client.Upload(ctx, m.at.Join(f.Path), m.local(f.Path))
	if err == nil {
		m.copies.note(f.Path, &objstore.Object{Size: f.Bytes, ETag: etag}, f.Checksum)
	}
	return err
}

func commitName(batch string) string { return storedir.CommitsDir + "/" + batch + commitSuffix }

func (m *Cache) commitAt(batch string) objstore.Address { return m.at.Join(commitName(batch)) }

// removeLoser removes the uploaded files of an attempt whose batch another attempt has committed
// first. If the other commit is unreadable, the files stay for CollectGarbage.
func (m *Cache) removeLoser(ctx context.Context, c *storedir.Commit) {
	there, err := storedir.ReadCommit(m.Dir, c.Batch)
	if err != nil {
		return
	}
	named := map[string]bool{}
	for _, f := range there.Files {
		named[f.Path] = true
	}
	var keys []string
	for _, f := range c.Files {
		if !named[f.Path] {
			keys = append(keys, m.at.Join(f.Path).Key)
		}
	}
	_ = m.client.Remove(ctx, m.at.Bucket, keys)
}

// Remove implements storedir.Remote. If the commit is damaged, it may not name all files of the
// batch: CollectGarbage removes the others.
func (m *Cache) Remove(d *storedir.CommitFile) error {
	var keys []string
	for _, f := range d.Files {
		if storedir.IsFile(f, d.Batch) {
			keys = append(keys, m.at.Join(f.Path).Key)
		}
	}
	if err := m.client.Remove(m.ctx, m.at.Bucket, keys); err != nil {
		return err
	}
	return m.client.Remove(m.ctx, m.at.Bucket, []string{m.commitAt(d.Batch).Key})
}

// Age implements storedir.Remote.
func (m *Cache) Age(batches []string) (time.Duration, error) {
	now, err := m.now()
	if err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var last time.Time
	for _, b := range batches {
		at, ok := m.modified[b]
		if !ok { // just made
			return 0, nil
		}
		if at.After(last) {
			last = at
		}
	}
	return now.Sub(last), nil
}

// serverClock is the time at one instant: by the storage's clock and by this machine's.
type serverClock struct{ there, here time.Time }

// maxClockSkew is the largest accepted difference between these clocks. Storage services usually
// refuse requests if the difference is a quarter of an hour.
const maxClockSkew = 24 * time.Hour

// now returns the time by the storage's clock, which dates objects. It creates an object once, and
// adds the time since then, by this machine's clock, to the object's date.
func (m *Cache) now() (time.Time, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.clock.here.IsZero() {
		here := time.Now()
		at := m.at.Join(storedir.StagingDir, fmt.Sprintf("clock-%016x", rand.Uint64()))
		if err := m.client.Put(m.ctx, at, nil); err != nil {
			return here, err
		}
		o, err := m.client.Stat(m.ctx, at)
		if err != nil {
			return here, err
		}
		_ = m.client.Remove(m.ctx, at.Bucket, []string{at.Key}) // CollectGarbage does it later
		if ahead := o.Modified.Sub(here); ahead.Abs() > maxClockSkew {
			return here, hosterr.New(fmt.Errorf("%s: the server's clock says %s, %v off this machine's clock: no garbage is removed (set the clocks)", m.at, o.Modified.UTC().Format(time.RFC3339), ahead.Round(time.Second)))
		}
		m.clock = serverClock{o.Modified, here}
	}
	return m.clock.there.Add(time.Since(m.clock.here)), nil
}

// CollectGarbage implements storedir.Remote. It lists the old files by the storage's clock, and
// only then reads the commits of their batches. It removes files whose commit is missing or does
// not name them.
func (m *Cache) CollectGarbage() (removed int, err error) {
	now, err := m.now()
	if err != nil {
		return 0, err
	}
	var old []string
	for _, dir := range []string{storedir.TablesDir, storedir.StagingDir} {
		err := m.client.List(m.ctx, m.at.Join(dir), m.maxFiles(), func(o objstore.Object) error {
			if name, ok := m.relative(&o); ok && now.Sub(o.Modified) > m.orphanAge {
				old = append(old, name)
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	if len(old) == 0 {
		return 0, nil
	}
	c, err := storedir.ReadContents(m.Dir)
	if err != nil {
		return 0, err
	}
	var keys []string
	absent := map[string]bool{} // batches without a commit
	for _, file := range old {
		if c.NamesFile(file) {
			continue
		}
		if batch := storedir.BatchOf(file); !c.Has(batch) && !absent[batch] && !strings.HasPrefix(file, storedir.StagingDir+"/") {
			switch _, err := m.client.Stat(m.ctx, m.commitAt(batch)); {
			case err == nil: // the list lacked it
				continue
			case !errors.Is(err, fs.ErrNotExist):
				return 0, err
			}
			absent[batch] = true
		}
		keys = append(keys, m.at.Join(file).Key)
	}
	return len(keys), m.client.Remove(m.ctx, m.at.Bucket, keys)
}
