package storedir

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"stackmill/internal/lazyregexp"
	"stackmill/schema"
)

// Attempts lists the scratch folders of a store, by their paths relative to it, with slashes.
type Attempts struct {
	Living    map[string]bool // names of folders in use
	Abandoned []string
}

// FindAttempts returns the scratch folders of a store, in use or abandoned.
func FindAttempts(store string) Attempts {
	a := Attempts{Living: map[string]bool{}}
	for _, x := range []struct{ dir, prefix string }{{StagingDir, ""}, {".", ScratchPrefix}} {
		for _, name := range abandoned(filepath.Join(store, x.dir), x.prefix) {
			relative := filepath.ToSlash(filepath.Join(x.dir, name))
			if isAlive(filepath.Join(store, x.dir, name)) {
				a.Living[name] = true
			} else {
				a.Abandoned = append(a.Abandoned, relative)
			}
		}
	}
	return a
}

// RemoveOrphan removes a file that no commit names, unless it is being written or was just
// committed.
func RemoveOrphan(store, file string) (removed bool, err error) {
	path := filepath.Join(store, filepath.FromSlash(file))
	if info, err := os.Lstat(path); err != nil || info.IsDir() {
		return false, ignoreMissing(err)
	}
	if strings.HasPrefix(file, TablesDir+"/") {
		if err := makeDir(filepath.Join(store, StagingDir)); err != nil {
			return false, err
		}
		s, err := takeOver(filepath.Join(store, StagingDir, AttemptOf(file)))
		if errors.Is(err, errTaken) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		defer s.Remove()
		if c, err := ReadCommit(store, BatchOf(file)); !errors.Is(err, fs.ErrNotExist) && (err != nil || c.has(AttemptOf(file))) {
			return false, nil
		}
	}
	err = os.Remove(path)
	return err == nil, ignoreMissing(err)
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// MarkForReingest hides the experiments of a damaged batch until they are ingested again. The
// batch's files stay, because they may be all that is left. It returns the experiments' ids, if
// they are known. names has the experiments' names by id, in case the commit is unreadable.
func MarkForReingest(store, batch string, names map[string]string) (ids []string, err error) {
	c, err := ReadContents(store)
	if err != nil {
		return nil, err
	}
	damaged, ok := c.commits[batch]
	if !ok { // another process has just removed it
		return nil, nil
	}
	experiments := damaged.Experiments
	if stem, n := splitName(batch); len(experiments) == 0 && len(stem) == len(noChecksum) { // the batch of one experiment
		experiments = []Entry{{ExperimentID: stem, Generation: n, Experiment: names[stem]}}
	}
	if len(experiments) == 0 {
		for _, id := range slices.Sorted(maps.Keys(names)) {
			experiments = append(experiments, Entry{ExperimentID: id, Experiment: names[id]})
		}
	}
	out := Commit{StoreVersion: schema.StoreVersion, Ingested: time.Now().UTC().Truncate(time.Second), Replaces: []string{batch}, Files: []File{}}
	for _, e := range experiments {
		l := c.Latest(e.ExperimentID)
		if l.Batch != "" && l.Batch != batch && l.Rows != batch { // another commit has replaced it meanwhile
			continue
		}
		again := e.tombstone(Reingest)
		if len(damaged.Files) == 0 && precedence(&e) > 0 { // deletions stay
			again.Status, again.Was = e.Status, e.Was
		} else {
			ids = append(ids, e.ExperimentID)
		}
		again.Generation = c.NextGeneration(e.ExperimentID)
		out.Experiments = append(out.Experiments, again)
	}
	if out.Batch = c.NewBatchName(out.Experiments); len(ids) == 0 {
		out.Batch = newName(tombstonePrefix)
	}
	attempt, err := NewAttempt(store, out.Batch)
	if err != nil {
		return nil, err
	}
	defer attempt.Remove()
	if _, err = WriteCommit(store, attempt, out); errors.Is(err, ErrExists) {
		err = nil
	}
	return ids, err
}

// RestoreCommitName renames an intact commit file whose name is not that of its batch (own). If
// there is a file of that name, this one is a copy, and stays. own is empty if the file is not such
// a commit.
func RestoreCommitName(store, batch string) (own string, restored bool, err error) {
	if IsCache(store) {
		return "", false, nil // its experiments are deleted instead
	}
	path := commitPath(store, batch)
	data, err := ReadFile(path, maxCommit)
	if errors.Is(err, ErrNotRegular) {
		return "", false, nil
	}
	if err != nil {
		return "", false, ignoreMissing(err)
	}
	var c Commit
	if json.Unmarshal(data, &c) != nil || c.Batch == batch || !IsBatch(c.Batch) {
		return "", false, nil
	}
	if _, err := Decode(c.Batch, data); err != nil {
		return "", false, nil
	}
	if err := create(path, commitPath(store, c.Batch)); err != nil {
		if errors.Is(err, fs.ErrExist) {
			err = nil
		}
		return c.Batch, false, err
	}
	err = errors.Join(ignoreMissing(os.Remove(path)), SyncDir(filepath.Join(store, CommitsDir)))
	return c.Batch, err == nil, err
}

var batchPattern = lazyregexp.New(`^[bfl]?[0-9a-f]{16}(\.[1-9][0-9]*)?$`)

// IsBatch reports whether a name has the form of a batch's name.
func IsBatch(name string) bool { return batchPattern().MatchString(name) }
