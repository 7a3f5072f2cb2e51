package s3cache

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"stackmill/internal/hosterr"
	"stackmill/internal/objstore"
	"stackmill/internal/ordered"
	"stackmill/schema/storedir"
)

// Fetch implements storedir.Remote.
func (m *Cache) Fetch(files []storedir.File) error {
	return m.fetchTables(files, (*copyIndex).hasContent)
}

// FetchVerified implements storedir.Remote.
func (m *Cache) FetchVerified(files []storedir.File) error {
	return m.fetchTables(files, (*copyIndex).readsAs)
}

// fetchTables downloads the files that the cache lacks, or whose content is wrong according to has.
// It pins all files, so that they stay until the process ends.
func (m *Cache) fetchTables(files []storedir.File, has func(k *copyIndex, name, sum string) bool) (err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var fresh, there, missing []storedir.File
	for _, f := range files {
		switch info, err := os.Lstat(m.local(f.Path)); {
		case !isName(f.Path):
			continue
		case err == nil && info.Mode().IsRegular() && info.Size() == f.Bytes:
			there = append(there, f)
		default:
			missing = append(missing, f)
		}
		if !m.pins.pinned[f.Path] {
			fresh = append(fresh, f)
		}
	}
	defer func() {
		if err != nil {
			for _, f := range fresh {
				delete(m.pins.pinned, f.Path)
			}
		}
	}()
	if len(fresh)+len(missing) > 0 {
		if err := m.makeRoom(fresh, missing); err != nil {
			return err
		}
	}
	wrong, err := m.mismatched(there, has)
	if err != nil {
		return err
	}
	missing = append(missing, wrong...)
	return ordered.ForEach(m.ctx, len(missing), concurrency/2, // each reads parts side by side
		func(_ context.Context, i int) error { return m.fetch(missing[i]) })
}

// mismatched returns the cached files whose content is wrong, according to has.
func (m *Cache) mismatched(files []storedir.File, has func(k *copyIndex, name, sum string) bool) (list []storedir.File, err error) {
	is := make([]bool, len(files))
	err = ordered.ForEach(m.ctx, len(files), runtime.GOMAXPROCS(0), func(_ context.Context, i int) error {
		f := files[i]
		if is[i] = !has(m.copies, f.Path, f.Checksum); !is[i] {
			m.copies.markUsed(f.Path)
		}
		return nil
	})
	for i, f := range files {
		if is[i] {
			list = append(list, f)
		}
	}
	return list, err
}

// makeRoom evicts files to make room for missing ones, and pins fresh ones until the process
// ends.
func (m *Cache) makeRoom(fresh, missing []storedir.File) error {
	unlock, err := lock(m.sibling("lock"))
	if err != nil {
		return err
	}
	defer unlock()
	if err := m.pins.add(fresh); err != nil {
		return err
	}
	need := int64(0)
	for _, f := range missing {
		need += f.Bytes
	}
	if need == 0 {
		return nil
	}
	left, err := m.evict(need)
	if err == nil && left > 0 { // a long-lived server may pin files of replaced batches
		if err = m.pins.forget(m.isReplaced); err == nil {
			left, err = m.evict(need)
		}
	}
	if err == nil && left > 0 {
		err = fmt.Errorf("%s: the needed tables are %d bytes too large for the store's local cache of %d bytes (raise --cache-size, or choose experiments with --experiment)", m.at, left, m.size)
	}
	return err
}

// downloads is how often a file is downloaded before giving up, if its content differs each time.
const downloads = 3

// fetch downloads a table's file and compares it with its commit. If two downloads have the same
// wrong content, the object is damaged.
func (m *Cache) fetch(f storedir.File) error {
	o := objstore.Object{Address: m.at.Join(f.Path), Size: f.Bytes}
	var sums []string
	for range downloads {
		sum, err := m.download(f, o)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, objstore.ErrShort):
			return fmt.Errorf("%s: %w: it is shorter than its commit says", o.Address, storedir.ErrDamaged)
		case errors.Is(err, objstore.ErrChanged):
		case !errors.Is(err, storedir.ErrDamaged):
			return err
		case slices.Contains(sums, sum):
			return fmt.Errorf("%s: %w: it has checksum %s, but its commit says %s", o.Address, storedir.ErrDamaged, sum, f.Checksum)
		}
		sums = append(sums, sum)
	}
	return hosterr.New(fmt.Errorf("%s: %d downloads gave different contents (is a proxy in between? the same command later may succeed)", o.Address, downloads))
}

// download downloads a table's file. If its content is wrong, it returns an error and the checksum
// of the content.
func (m *Cache) download(f storedir.File, o objstore.Object) (sum string, err error) {
	err = m.writeFile(f.Path, func(to *os.File) error {
		if o, err = m.client.Download(m.ctx, o, to); err != nil {
			return err
		}
		h := xxhash.New()
		if _, err := io.Copy(h, io.NewSectionReader(to, 0, f.Bytes)); err != nil {
			return err
		}
		if sum = storedir.Checksum(h.Sum64()); sum != f.Checksum {
			return storedir.ErrDamaged
		}
		return nil
	})
	if err == nil {
		m.copies.note(f.Path, &o, sum)
	}
	return sum, err
}

// Verify implements storedir.Remote.
func (m *Cache) Verify() (files []string, err error) {
	if err := m.Pull(); err != nil {
		return nil, err
	}
	if files, err = m.verify(); err != nil {
		return nil, err
	}
	return files, m.Pull() // after the list, so that commits name all listed files
}

func (m *Cache) verify() (files []string, err error) {
	unlock, err := lock(m.sibling("lock"))
	if err != nil {
		return nil, err
	}
	defer unlock()
	m.mu.Lock()
	defer m.mu.Unlock()
	copies := map[string]bool{} // whether the cached file is a copy of the object
	err = m.client.List(m.ctx, m.at.Join(storedir.TablesDir), m.maxFiles(), func(o objstore.Object) error {
		if name, ok := m.relative(&o); ok {
			copies[name] = m.copies.isCopyOf(name, &o)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = m.files(func(file string, info fs.FileInfo) error {
		if copies[file] || m.isWriting(storedir.AttemptOf(file)) {
			return nil
		}
		return ignoreMissing(os.Remove(m.local(file)))
	})
	return slices.Sorted(maps.Keys(copies)), err
}

// files calls yield for each cached table file.
func (m *Cache) files(yield func(file string, info fs.FileInfo) error) error {
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

// isReplaced reports whether the cache has no commit of a table file's batch any more.
func (m *Cache) isReplaced(file string) bool {
	_, err := os.Lstat(m.local(storedir.CommitsDir + "/" + storedir.BatchOf(file) + commitSuffix))
	return errors.Is(err, fs.ErrNotExist)
}

// cachedFile is a candidate for eviction.
type cachedFile struct {
	path string
	size int64
	used time.Time
}

// evict removes the least recently used files that no process needs, until need more bytes fit into
// the cache. It returns how many bytes still do not fit. The caller holds the lock.
func (m *Cache) evict(need int64) (left int64, err error) {
	var all []cachedFile
	left = need - m.size
	pinned, err := m.pins.all()
	if err != nil {
		return 0, err
	}
	err = m.files(func(file string, info fs.FileInfo) error {
		left += info.Size()
		if !pinned[file] && !m.isWriting(storedir.AttemptOf(file)) {
			all = append(all, cachedFile{m.local(file), info.Size(), info.ModTime()})
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	slices.SortFunc(all, func(a, b cachedFile) int { return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.path, b.path)) })
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

// isWriting reports whether an attempt of this machine is still running.
func (m *Cache) isWriting(attempt string) bool {
	_, err := os.Lstat(m.local(storedir.StagingDir + "/" + attempt + ".lock"))
	return err == nil && !m.committed[attempt]
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
