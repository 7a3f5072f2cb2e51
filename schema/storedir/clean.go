package storedir

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stackmill/schema"
)

// Keep is the default time for which replaced files stay for their readers.
const Keep = time.Hour

// Clean removes what killed processes left in a store. The next Clean tries again what cannot be
// removed.
func Clean(store string) {
	root := filepath.Join(store, StagingDir)
	for _, name := range abandoned(root, "") {
		if s, err := takeOver(filepath.Join(root, name)); err == nil {
			removeAttempt(store, s)
		}
	}
	CleanScratch(store)
}

// CleanScratch removes scratch folders of killed processes from a directory.
func CleanScratch(dir string) {
	for _, name := range abandoned(dir, ScratchPrefix) {
		if s, err := takeOver(filepath.Join(dir, name)); err == nil {
			s.Remove()
		}
	}
}

// abandoned returns the names of scratch folders in root. It does not check whether they are in
// use.
func abandoned(root, prefix string) (names []string) {
	entries, _ := os.ReadDir(root) // if it cannot be read there is nothing to do
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), unlinkedPrefix) {
			continue
		}
		if name := strings.TrimSuffix(e.Name(), lockSuffix); strings.HasPrefix(name, prefix) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// unlinkedPrefix begins the names that NFS gives to files that are removed while they are open.
const unlinkedPrefix = ".nfs"

// removeAttempt removes the files of an attempt, unless the attempt was committed.
func removeAttempt(store string, s *Scratch) {
	attempt := filepath.Base(s.Dir)
	c, err := ReadCommit(store, BatchOf(attempt))
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !c.has(attempt):
		for _, t := range schema.Tables {
			if !stillNamed(s.lock) { // another machine was faster
				s.Abandon()
				return
			}
			if removeFile(store, FilePath(t.Name, attempt)) != nil {
				s.Abandon()
				return
			}
		}
	case err != nil && !errors.Is(err, ErrDamaged): // it may be committed
		s.Abandon()
		return
	}
	s.Remove()
}

// FilePath returns the path of an attempt's file of a table, relative to the store.
func FilePath(table, attempt string) string {
	return path.Join(TablesDir, table, attempt+fileSuffix)
}

// AttemptOf returns the attempt that a table's file belongs to.
func AttemptOf(file string) string { return strings.TrimSuffix(path.Base(file), fileSuffix) }

// BatchOf returns the batch that an attempt, or an attempt's file, belongs to.
func BatchOf(attempt string) string {
	batch, _, _ := strings.Cut(AttemptOf(attempt), "-")
	return batch
}

// IsFile reports whether a file has a path that is valid for its table and batch. Commits, catalogs
// and lists may name other paths, but those must never be opened, written or removed.
func IsFile(f File, batch string) bool {
	attempt := AttemptOf(f.Path)
	added, of := strings.CutPrefix(attempt, batch)
	return of && batch != "" && !strings.Contains(batch, "/") && attemptPattern().MatchString(added) && fileTables[f.Table] && f.Path == FilePath(f.Table, attempt)
}

// has reports whether the commit has the attempt's files.
func (c *Commit) has(attempt string) bool {
	return slices.ContainsFunc(c.Files, func(f File) bool { return path.Base(f.Path) == attempt+fileSuffix })
}
