package mirror

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"stackmill/bucket"
	"stackmill/storedir"
)

// mostText bounds a commit, report or journal that is brought.
const mostText = 1 << 30

const commitSuffix = ".json"

// Pull implements storedir.Remote.
func (m *Mirror) Pull() error {
	// What is committed by others of this machine while the list is made is no loss.
	before, err := storedir.BatchesHere(m.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	modified := map[string]time.Time{}
	var missing []bucket.Object
	here := map[string]bool{}
	for _, name := range before {
		here[name] = true
	}
	err = m.client.List(m.ctx, m.at.Join(storedir.CommitsDir), func(o bucket.Object) error {
		name := path.Base(o.Key)
		if m.relative(&o) != path.Join(storedir.CommitsDir, name) || !strings.HasSuffix(name, commitSuffix) {
			return nil
		}
		modified[strings.TrimSuffix(name, commitSuffix)] = o.Modified
		if !here[name] {
			missing = append(missing, o)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := m.bring(missing); err != nil {
		return err
	}
	m.mu.Lock()
	m.modified = modified
	m.mu.Unlock()
	for _, name := range before {
		if batch, ok := strings.CutSuffix(name, commitSuffix); ok && modified[batch].IsZero() {
			if err := os.Remove(m.local(path.Join(storedir.CommitsDir, name))); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// bring brings small objects, with their times. One that was removed meanwhile is none.
func (m *Mirror) bring(list []bucket.Object) error {
	g, ctx := errgroup.WithContext(m.ctx)
	g.SetLimit(sideBySide)
	for _, o := range list {
		g.Go(func() error {
			var content []byte
			if o.Size > 0 {
				var err error
				if content, err = m.client.Read(ctx, o.Address, mostText); errors.Is(err, fs.ErrNotExist) {
					return nil
				} else if err != nil {
					return err
				}
			}
			file := m.relative(&o)
			err := m.place(file, func(f *os.File) error {
				_, err := f.Write(content)
				return err
			})
			if err != nil {
				return err
			}
			return os.Chtimes(m.local(file), o.Modified, o.Modified)
		})
	}
	return g.Wait()
}

// Recall implements storedir.Remote.
func (m *Mirror) Recall(name string) error {
	there := map[string]bool{}
	var changed []bucket.Object
	note := func(o bucket.Object) error {
		file := m.relative(&o)
		if !filepath.IsLocal(filepath.FromSlash(file)) {
			return nil
		}
		there[m.local(file)] = true
		if info, err := os.Stat(m.local(file)); err != nil || info.Size() != o.Size || !info.ModTime().Equal(o.Modified) {
			changed = append(changed, o)
		}
		return nil
	}
	if path.Ext(name) == "" {
		if err := m.client.List(m.ctx, m.at.Join(name), note); err != nil {
			return err
		}
		_ = filepath.WalkDir(m.local(name), func(file string, e fs.DirEntry, err error) error { // what cannot be read is passed by
			if err == nil && e.Type().IsRegular() && !there[file] {
				_ = os.Remove(file) // of a store that was there before
			}
			return nil
		})
		return m.bring(changed)
	}
	o, err := m.client.Stat(m.ctx, m.at.Join(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		_ = os.Remove(m.local(name))
		return nil
	case err != nil:
		return err
	}
	_ = note(o)
	return m.bring(changed)
}

// Push implements storedir.Remote.
func (m *Mirror) Push(file string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(m.ctx), m.orphans/2)
	defer cancel()
	return m.client.Upload(ctx, m.at.Join(file), m.local(file))
}
