package queries

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"stackmill/schema/storedir"
)

// fileListing is what a store's directory contains, whatever its commits say.
type fileListing struct {
	files    []string // relative to the store, with slashes
	attempts storedir.Attempts
}

// listFiles lists the files of a store and the attempts to write batches, whose files may be
// incomplete.
func listFiles(store string) (*fileListing, error) {
	inv := &fileListing{}
	err := fs.WalkDir(os.DirFS(store), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist) && name != ".": // just removed
			return nil
		case err != nil:
			return err
		case d.IsDir() && (name == storedir.StagingDir || strings.HasPrefix(name, storedir.ScratchPrefix)):
			return fs.SkipDir
		case !d.IsDir():
			inv.files = append(inv.files, name)
		}
		return nil
	})
	if info, serr := os.Stat(filepath.Join(store, storedir.CommitsDir)); errors.Is(err, fs.ErrNotExist) || err == nil && (serr != nil || !info.IsDir()) {
		return nil, storedir.ErrNoStore
	}
	inv.attempts = storedir.FindAttempts(store)
	return inv, err
}

// checkExtraFiles reports the files that no commit names.
func (p *CheckReport) checkExtraFiles(store string, c *storedir.Contents, inv *fileListing) {
	known, open := named(c)
	exists := func(name string) bool {
		_, err := os.Lstat(filepath.Join(store, name))
		return err == nil
	}
	for _, name := range inv.files {
		dir, _, below := strings.Cut(name, "/")
		switch attempt := storedir.AttemptOf(name); {
		case known[name], inv.attempts.Living[attempt]:
		case dir == storedir.TablesDir && open[storedir.BatchOf(name)]:
		case dir == storedir.TablesDir && slices.Contains(inv.attempts.Abandoned, storedir.StagingDir+"/"+attempt):
			p.note(name, "was left by a killed ingest: the next one removes it")
		case !exists(name): // of an attempt that was just abandoned
		case below && (dir == storedir.TablesDir || dir == storedir.CommitsDir):
			p.add(name, "is in no commit of the store")
			p.extra = append(p.extra, name)
		case strings.HasPrefix(name, CatalogFile), name == storedir.JournalFile, strings.HasPrefix(name, storedir.ScratchPrefix):
		default:
			p.note(name, "is not part of the store")
		}
	}
	for _, name := range inv.attempts.Abandoned {
		p.note(name, "was left by a killed program: the next ingest removes it")
	}
}

// named returns the files that commits name, the commits' own included, and the batches whose files
// are unknown because their commits cannot be read.
func named(c *storedir.Contents) (files, open map[string]bool) {
	files, open = map[string]bool{}, map[string]bool{}
	add := func(d storedir.CommitFile) {
		files[d.Path()] = true
		for _, f := range d.Files {
			files[path.Clean(f.Path)] = true
		}
		if d.Err != nil {
			open[d.Batch] = true
		}
	}
	for _, b := range c.Batches {
		add(storedir.CommitFile{Commit: b.Commit, Batch: b.Batch})
	}
	for _, x := range c.Metadata {
		add(storedir.CommitFile{Commit: x, Batch: x.Batch})
	}
	for _, d := range c.Damaged {
		add(d)
	}
	for _, r := range c.Replaced {
		add(r.CommitFile)
	}
	return files, open
}
