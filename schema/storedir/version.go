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
	"syscall"
	"time"

	"github.com/cespare/xxhash/v2"
)

// fileVersion tells one version of a commit file from others. Commits are immutable, but files
// get damaged, are restored from a backup, or are replaced by somebody.
type fileVersion struct {
	stamp stamp
	sum   uint64 // xxhash64 of its content, or of the error of reading it
}

// stamp is what the file system says of a file. Two versions of a file with the same stamp were
// written within one tick of its clock.
type stamp struct {
	device, inode  uint64
	size           int64
	written, state syscall.Timespec // when its content and its inode changed
	settled        bool             // the last change is longer ago than a tick
}

// tick is longer than the unit of the times of any file system in use.
const tick = 2 * time.Second

func stampOf(info fs.FileInfo) stamp {
	s := stamp{size: info.Size()}
	if of, ok := info.Sys().(*syscall.Stat_t); ok {
		s.device, s.inode, s.written, s.state = of.Dev, of.Ino, of.Mtim, of.Ctim
		s.settled = time.Since(time.Unix(of.Ctim.Unix())) > tick
	}
	return s
}

// isUnchanged reports whether a batch's commit file surely is the version that was read.
func (v *fileVersion) isUnchanged(store, batch string) bool {
	if !v.stamp.settled {
		return false
	}
	info, err := os.Lstat(commitPath(store, batch))
	return err == nil && stampOf(info) == v.stamp
}

// rawCommit is a commit file that was read.
type rawCommit struct {
	batch   string
	data    []byte
	version *fileVersion
	err     error // of reading it; wraps ErrDamaged if it is no regular file
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

// readCopy is readCommitFile of a store that may be a mirror. A copy that is not intact is
// compared with what is there: the commit is damaged if that is.
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

// readRegular is readWhole of a commit file, and returns what the file system said of it before.
// The error wraps ErrDamaged if it is no regular file, or a link.
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

// errNoFile says that something else is in the place of a commit file.
var errNoFile = fmt.Errorf("%w: %w", ErrDamaged, ErrNotRegular)

// parse returns the commit, with what can be read of it if it is damaged.
func (f *rawCommit) parse() *CommitFile {
	d := &CommitFile{Batch: f.batch, Err: f.err, version: f.version}
	if f.err == nil {
		d.Commit, d.Err = Decode(f.batch, f.data)
	}
	return d
}

// eachCommitFile reads the commit files of a store, in the order of their names, and passes
// them to yield, except for those batches whose files keep reports as known. The error is
// ErrNoStore if there is no store.
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
		if e.Type().IsRegular() || IsCache(store) { // to open alone changes some devices
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

// stateHash makes the hash that stands for all commit files of a store, which are added in the
// order of their names.
type stateHash struct{ *xxhash.Digest }

func newStateHash() stateHash { return stateHash{xxhash.New()} }

func (h stateHash) add(batch string, sum uint64) {
	fmt.Fprintf(h, "%d %s %016x\n", len(batch), batch, sum)
}

func (h stateHash) String() string { return Checksum(h.Sum64()) }

// Watcher follows the state of a store. It reads the commit files that have changed since it
// looked last, and no others.
type Watcher struct {
	store  string
	folder stamp
	files  map[string]*fileVersion // by batch
	state  string
	looked time.Time     // when it looked at each file
	took   time.Duration // to look at each
}

// patience bounds the time that a Watch spends: it looks at each file only after this many
// times the time that that took. What comes, goes or is renamed changes the folder, and is
// seen at once.
const patience = 20

// NewWatcher returns a Watch of a store, at which it has not looked yet.
func NewWatcher(store string) *Watcher { return &Watcher{store: store} }

// State returns the state of the store as Glance.State. The error is ErrNoStore if there is no
// store.
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
