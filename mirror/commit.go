package mirror

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/sync/errgroup"

	"stackmill/bucket"
	"stackmill/storedir"
)

// Commit implements storedir.Remote. It gives up long before its files are too old to stay.
func (m *Mirror) Commit(c *storedir.Commit, content []byte) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.ctx), m.orphans/2)
	defer cancel()
	g, uploading := errgroup.WithContext(ctx)
	g.SetLimit(sideBySide / 2)
	for _, f := range c.Files {
		g.Go(func() error { return m.client.Upload(uploading, m.at.Join(f.Path), m.local(f.Path)) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	at := m.commitAt(c.Batch)
	err := m.client.Create(ctx, at, content)
	if errors.Is(err, bucket.ErrExists) {
		m.removeFiles(ctx, c)
		if err := m.Recall(m.relative(&bucket.Object{Address: at})); err != nil {
			return err
		}
		return fmt.Errorf("%s: %w", at, storedir.ErrExists)
	}
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, f := range c.Files {
		m.over[storedir.AttemptOf(f.Path)] = true
	}
	unlock, err := lock(m.beside("lock"))
	if err != nil {
		return nil // what is too much goes the next time
	}
	defer unlock()
	_, _ = m.evict(0) // likewise
	return nil
}

func (m *Mirror) commitAt(batch string) bucket.Address {
	return m.at.Join(storedir.CommitsDir, batch+commitSuffix)
}

// removeFiles removes the files of an attempt that came too late. What stays is collected.
func (m *Mirror) removeFiles(ctx context.Context, c *storedir.Commit) {
	var keys []string
	for _, f := range c.Files {
		keys = append(keys, m.at.Join(f.Path).Key)
	}
	_ = m.client.Remove(ctx, m.at.Bucket, keys)
}

// Remove implements storedir.Remote. Files that a damaged commit does not name are collected
// when it is gone.
func (m *Mirror) Remove(d *storedir.Damaged) error {
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
func (m *Mirror) Age(batches []string) (time.Duration, error) {
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

// clock is the storage's, read once: what it says then, and when that was here.
type clock struct{ there, here time.Time }

// now returns the time by the clock of the storage, which says when its objects were made: that
// of an object that is made for it. Of this machine's clock counts what has passed since.
func (m *Mirror) now() (time.Time, error) {
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
		m.clock = clock{o.Modified, here}
		_ = m.client.Remove(m.ctx, at.Bucket, []string{at.Key}) // collected later
	}
	return m.clock.there.Add(time.Since(m.clock.here)), nil
}

// Collect implements storedir.Remote.
func (m *Mirror) Collect() (removed int, err error) {
	now, err := m.now()
	if err != nil {
		return 0, err
	}
	var old []string
	for _, dir := range []string{storedir.TablesDir, storedir.StagingDir} {
		err := m.client.List(m.ctx, m.at.Join(dir), func(o bucket.Object) error {
			if now.Sub(o.Modified) > m.orphans {
				old = append(old, m.relative(&o))
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
	c, err := storedir.Look(m.Dir) // after the files: what is committed meanwhile is in it
	if err != nil {
		return 0, err
	}
	var keys []string
	for _, file := range old {
		if !c.Names(file) {
			keys = append(keys, m.at.Join(file).Key)
		}
	}
	return len(keys), m.client.Remove(m.ctx, m.at.Bucket, keys)
}
