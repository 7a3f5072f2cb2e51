package storedir

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cespare/xxhash/v2"

	"stackmill/internal/safefile"
)

// fileVersion tells versions of a commit file apart. Commits are immutable, but files may be
// damaged, restored from a backup, or replaced by other programs.
type fileVersion struct {
	stamp stamp
	sum   uint64 // xxhash64 of its content, or of the error of reading it
}

// stamp holds a file's attributes. settled says that they had not changed too recently when they
// were read: a file with the same attributes then has the same content.
type stamp struct {
	safefile.Stamp
	settled bool
}

func stampOf(info fs.FileInfo) stamp {
	s := safefile.StampOf(info)
	return stamp{s, s.Settled()}
}

// isUnchanged reports whether a batch's commit file is certainly still the version v.
func (v *fileVersion) isUnchanged(store, batch string) bool {
	if !v.stamp.settled {
		return false
	}
	info, err := os.Lstat(commitPath(store, batch))
	return err == nil && stampOf(info) == v.stamp
}

// rawCommit is an unparsed commit file.
type rawCommit struct {
	batch   string
	data    []byte
	version *fileVersion
	err     error // error of reading the file; wraps ErrDamaged if it is not a regular file
}

func readCommitFile(store, batch string) *rawCommit {
	f := &rawCommit{batch: batch, version: &fileVersion{}}
	f.data, f.version.stamp, f.err = readRegular(commitPath(store, batch))
	if f.err != nil {
		f.version.sum = xxhash.Sum64String("error: " + f.err.Error())
	} else {
		f.version.sum = xxhash.Sum64(f.data)
	}
	return f
}

// readCopy is readCommitFile, but in a cache it updates a copy that is not intact: only the remote
// file shows whether the commit is damaged.
func readCopy(store, batch string) (*rawCommit, error) {
	f := readCommitFile(store, batch)
	if !IsCache(store) || errors.Is(f.err, fs.ErrNotExist) || f.err == nil && IsIntact(batch, f.data) {
		return f, nil
	}
	if err := Sync(store, path.Join(CommitsDir, batch+commitSuffix)); err != nil {
		return nil, err
	}
	return readCommitFile(store, batch), nil
}

// readRegular reads a commit file and returns its stamp from before. The error wraps ErrDamaged if
// it is not a regular file.
func readRegular(path string) (data []byte, s stamp, err error) {
	data, info, err := readWhole(path, maxCommit)
	if errors.Is(err, ErrNotRegular) {
		return nil, s, errNoFile
	}
	if info != nil {
		s = stampOf(info)
	}
	return data, s, err
}

// errNoFile says that a commit file is not a regular file.
var errNoFile = fmt.Errorf("%w: %w", ErrDamaged, ErrNotRegular)

// parse parses the commit file; a damaged one as far as it is readable.
func (f *rawCommit) parse() *CommitFile {
	d := &CommitFile{Batch: f.batch, Err: f.err, version: f.version}
	if f.err == nil {
		d.Commit, d.Err = Decode(f.batch, f.data)
	}
	return d
}

// eachCommitFile reads the commit files of a store, in order of their names, and passes them to
// yield. It skips batches for which keep returns true. The error is ErrNoStore if there is no
// store.
func eachCommitFile(store string, keep func(batch string) bool, yield func(*rawCommit)) error {
	entries, err := os.ReadDir(filepath.Join(store, CommitsDir)) // sorted by name
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", store, ErrNoStore)
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		batch, ok := strings.CutSuffix(e.Name(), commitSuffix)
		if !ok || keep(batch) {
			continue
		}
		f := &rawCommit{batch: batch, version: &fileVersion{sum: xxhash.Sum64String("error: " + errNoFile.Error())}, err: errNoFile}
		if e.Type().IsRegular() || IsCache(store) { // opening changes some devices
			if f, err = readCopy(store, batch); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(f.err, fs.ErrNotExist): // replaced, and just removed
		case isResourceError(f.err):
			return f.err
		default:
			yield(f)
		}
	}
	return nil
}

// stateHash hashes the contents of all commit files of a store. Add them in the order of their
// names.
type stateHash struct{ *xxhash.Digest }

func newStateHash() stateHash { return stateHash{xxhash.New()} }

func (h stateHash) add(batch string, sum uint64) {
	fmt.Fprintf(h, "%d %s %016x\n", len(batch), batch, sum)
}

func (h stateHash) String() string { return Checksum(h.Sum64()) }

// Watcher follows the state of a store. It reads only commit files that have changed since the last
// call.
type Watcher struct {
	store  string
	folder stamp
	files  map[string]*fileVersion // by batch
	state  string
	looked time.Time     // when all files were last checked
	took   time.Duration // how long this check took
}

// patience limits the work of a Watcher: after checking all files, it waits patience times as long
// as that took before it does so again. It sees new, removed and renamed files at once, because
// they change the folder.
const patience = 20

// NewWatcher returns a Watcher of a store.
func NewWatcher(store string) *Watcher { return &Watcher{store: store} }

// State returns the state of the store, in the form of RawCommits.State. The error is ErrNoStore if
// there is no store.
func (w *Watcher) State() (string, error) {
	if err := Pull(w.store); err != nil {
		return "", err
	}
	began := time.Now()
	var folder stamp
	if info, err := os.Stat(filepath.Join(w.store, CommitsDir)); err == nil {
		folder = stampOf(info)
	}
	if folder.settled && folder == w.folder && began.Sub(w.looked) < patience*w.took {
		return w.state, nil
	}
	files := make(map[string]*fileVersion, len(w.files))
	err := eachCommitFile(w.store, func(batch string) bool {
		v := w.files[batch]
		if v == nil || !v.isUnchanged(w.store, batch) {
			return false
		}
		files[batch] = v
		return true
	}, func(f *rawCommit) { files[f.batch] = f.version })
	if err != nil {
		return "", err
	}
	h := newStateHash()
	for _, batch := range slices.Sorted(maps.Keys(files)) {
		h.add(batch, files[batch].sum)
	}
	w.folder, w.files, w.state, w.looked, w.took = folder, files, h.String(), time.Now(), time.Since(began)
	return w.state, nil
}
