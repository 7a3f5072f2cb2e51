package mirror

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/sync/errgroup"

	"stackmill/bucket"
	"stackmill/storedir"
)

// Fetch implements storedir.Remote.
func (m *Mirror) Fetch(files []storedir.File) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	files = slices.DeleteFunc(slices.Clone(files), func(f storedir.File) bool {
		return m.uses.has[f.Path] || !filepath.IsLocal(filepath.FromSlash(f.Path))
	})
	if len(files) == 0 {
		return nil
	}
	missing, err := m.room(files)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			for _, f := range missing {
				delete(m.uses.has, f.Path)
			}
		}
	}()
	g, _ := errgroup.WithContext(m.ctx)
	g.SetLimit(sideBySide / 2) // each reads parts side by side
	for _, f := range missing {
		g.Go(func() error { return m.fetch(f) })
	}
	err = g.Wait()
	return err
}

// room makes room for files, and returns those that are to be brought. From then on they
// stay until the process ends.
func (m *Mirror) room(files []storedir.File) (missing []storedir.File, err error) {
	unlock, err := lock(m.beside("lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := m.uses.add(files); err != nil {
		return nil, err
	}
	need := int64(0)
	now := time.Now()
	for _, f := range files {
		path := m.local(f.Path)
		if info, err := os.Stat(path); err == nil && info.Size() == f.Bytes {
			_ = os.Chtimes(path, now, now) // when it was used
			continue
		}
		missing = append(missing, f)
		need += f.Bytes
	}
	if need == 0 {
		return missing, nil
	}
	left, err := m.evict(need)
	if err == nil && left > 0 { // a server lives for long: batches that it had open were replaced
		if err = m.uses.forget(m.replaced); err == nil {
			left, err = m.evict(need)
		}
	}
	if err == nil && left > 0 {
		err = fmt.Errorf("%s: the tables to be read take %d bytes more than the %d that the cache of a store may take here (give --cache-size more, or choose experiments with --experiment)", m.at, left, m.size)
	}
	return missing, err
}

// fetch brings a file of a table and compares it with its commit.
func (m *Mirror) fetch(f storedir.File) error {
	at := m.at.Join(f.Path)
	err := m.place(f.Path, func(to *os.File) error {
		if err := m.client.Download(m.ctx, bucket.Object{Address: at, Size: f.Bytes}, to); err != nil {
			return err
		}
		h := xxhash.New()
		if _, err := io.Copy(h, io.NewSectionReader(to, 0, f.Bytes)); err != nil {
			return err
		}
		if sum := storedir.Checksum(h.Sum64()); sum != f.Checksum {
			return fmt.Errorf("%s: %w: it has checksum %s, its commit says %s", at, storedir.ErrDamaged, sum, f.Checksum)
		}
		return nil
	})
	if errors.Is(err, bucket.ErrShort) {
		return fmt.Errorf("%s: %w: it is shorter than its commit says", at, storedir.ErrDamaged)
	}
	return err
}

// Verify implements storedir.Remote.
func (m *Mirror) Verify() (files []string, err error) {
	if files, err = m.verify(); err != nil {
		return nil, err
	}
	return files, m.Pull() // later than the list: what it has is named by then
}

func (m *Mirror) verify() (files []string, err error) {
	unlock, err := lock(m.beside("lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	sizes := map[string]int64{}
	err = m.client.List(m.ctx, m.at.Join(storedir.TablesDir), func(o bucket.Object) error {
		sizes[m.relative(&o)] = o.Size
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = m.files(func(file string, info fs.FileInfo) error {
		if size, ok := sizes[file]; ok && size == info.Size() || m.writing(storedir.AttemptOf(file)) {
			return nil
		}
		return ignoreMissing(os.Remove(m.local(file)))
	})
	return slices.Sorted(maps.Keys(sizes)), err
}

// files calls yield for each file of tables in the mirror.
func (m *Mirror) files(yield func(file string, info fs.FileInfo) error) error {
	return filepath.WalkDir(m.local(storedir.TablesDir), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return ignoreMissing(err)
		}
		info, err := e.Info()
		if err != nil {
			return ignoreMissing(err)
		}
		file, err := filepath.Rel(m.Dir, path)
		if err != nil {
			return err
		}
		return yield(filepath.ToSlash(file), info)
	})
}

// replaced reports whether no commit of the mirror names a file of a table any more.
func (m *Mirror) replaced(file string) bool {
	_, err := os.Lstat(m.local(storedir.CommitsDir + "/" + storedir.BatchOf(file) + commitSuffix))
	return errors.Is(err, fs.ErrNotExist)
}

// cached is a file of the mirror that may be removed.
type cached struct {
	path string
	size int64
	used time.Time
}

// evict removes what was used longest ago, until so many bytes more have room, but nothing
// that somebody has open. It returns how many bytes are too many then. The caller has the lock.
func (m *Mirror) evict(need int64) (left int64, err error) {
	var all []cached
	left = need - m.size
	pinned, err := m.uses.all()
	if err != nil {
		return 0, err
	}
	err = m.files(func(file string, info fs.FileInfo) error {
		left += info.Size()
		if !pinned[file] && !m.writing(storedir.AttemptOf(file)) {
			all = append(all, cached{m.local(file), info.Size(), info.ModTime()})
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	slices.SortFunc(all, func(a, b cached) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.path, b.path)) })
	for _, c := range all {
		if left <= 0 {
			break
		}
		if err := os.Remove(c.path); ignoreMissing(err) != nil {
			return 0, err
		}
		left -= c.size
	}
	return left, nil
}

// writing reports whether an attempt of this machine is not over.
func (m *Mirror) writing(attempt string) bool {
	_, err := os.Lstat(m.local(storedir.StagingDir + "/" + attempt + ".lock"))
	return err == nil && !m.over[attempt]
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
