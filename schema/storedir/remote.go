package storedir

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Remote is where a store is of which a directory is the mirror: commits, and those files of
// tables that somebody has needed. What is written there is put here first. The mirror is a
// cache: what is in it is compared with what is there, or with the checksum of its commit, and
// brought again if it differs. An error other than those below is a fault.Fault, after which it
// is not known whether it was done.
type Remote interface {
	// Pull brings the mirror up to date with the commits.
	Pull() error
	// Sync brings what Push has put of that name, or below a folder, or a commit whose copy
	// is in doubt.
	Sync(name string) error
	// Verify removes files of tables from the mirror that are not copies of what is there now,
	// and returns those that are there, relative to the store.
	Verify() (files []string, err error)
	// Fetch brings files of tables that the mirror does not have, or that have changed since they
	// were last compared and are not what their commits say. They stay until the process ends.
	// The error wraps ErrDamaged if one is not there as it was written, and fs.ErrNotExist if
	// it is not there: its batch was replaced since Pull, or it is lost.
	Fetch(files []File) error
	// FetchVerified is Fetch that compares all content.
	FetchVerified(files []File) error
	// Commit puts the files of the mirror that a commit names, and then the commit, whose
	// file has that content. The error is ErrExists if there is another one of its name.
	Commit(c *Commit, content []byte) error
	// Remove removes the files of a batch, and then its commit.
	Remove(d *CommitFile) error
	// Age says for how long the youngest of some commits has been there, by the clock there.
	Age(batches []string) (time.Duration, error)
	// CollectGarbage removes files that no commit names and that no attempt can name any more. It
	// returns how many.
	CollectGarbage() (removed int, err error)
	// Push puts a file of the mirror in place of what is there.
	Push(file string) error
	// String is the store's address.
	String() string
}

// remote is a Remote and its mirror.
type remote struct {
	Remote
	store string
}

var (
	remotesMu sync.Mutex
	remotes   = map[string]*remote{} // by the absolute paths of their mirrors
)

// SetRemote says that a directory is the mirror of a store elsewhere, as long as the process
// lives.
func SetRemote(dir string, r Remote) {
	remotesMu.Lock()
	defer remotesMu.Unlock()
	remotes[dir] = &remote{r, dir}
}

// remoteOf returns where the store of a directory is; nil if it is there.
func remoteOf(store string) *remote {
	remotesMu.Lock()
	defer remotesMu.Unlock()
	if len(remotes) == 0 {
		return nil
	}
	absolute, err := filepath.Abs(store)
	if err != nil {
		return nil
	}
	return remotes[absolute]
}

// IsCache reports whether a directory is the mirror of a store elsewhere.
func IsCache(store string) bool { return remoteOf(store) != nil }

// RemoteAddress returns where a store is of which a directory is the mirror; empty if it is none.
func RemoteAddress(store string) string {
	if r := remoteOf(store); r != nil {
		return r.String()
	}
	return ""
}

// Pull looks for what was committed and removed elsewhere, if a directory is a mirror.
func Pull(store string) error {
	if r := remoteOf(store); r != nil {
		return r.Pull()
	}
	return nil
}

// Sync brings what others have left in a store besides commits, if a directory is a mirror.
func Sync(store, name string) error {
	if r := remoteOf(store); r != nil {
		return r.Sync(name)
	}
	return nil
}

// Verify compares the files of a mirror with what is there, if a directory is one, and
// returns what is there, relative to the store.
func Verify(store string) (files []string, err error) {
	if r := remoteOf(store); r != nil {
		return r.Verify()
	}
	return nil, nil
}

// CollectGarbage removes what attempts of other machines have left, if a directory is a mirror: no
// lock says there which of them live.
func CollectGarbage(store string) (removed int, err error) {
	if r := remoteOf(store); r != nil {
		return r.CollectGarbage()
	}
	return 0, nil
}

// Fetch brings the files of batches, if a directory is a mirror.
func Fetch(store string, files []File) error {
	if r := remoteOf(store); r != nil {
		return r.Fetch(files)
	}
	return nil
}

// FetchVerified is Fetch that compares the content of the files with their commits in any case.
func FetchVerified(store string, files []File) error {
	if r := remoteOf(store); r != nil {
		return r.FetchVerified(files)
	}
	return nil
}

// FetchAll brings all files of batches, if a directory is a mirror.
func FetchAll(store string, batches []Batch) error {
	r := remoteOf(store)
	if r == nil {
		return nil
	}
	var files []File
	for i := range batches {
		files = append(files, batches[i].Files...)
	}
	return r.Fetch(files)
}

// Push puts a file of a store where the store is, in place of what is there, if a directory is
// a mirror.
func Push(store, file string) error {
	if r := remoteOf(store); r != nil {
		return r.Push(file)
	}
	return nil
}

// DisplayName is how people call a store: its directory or, of a mirror, what it is the mirror of.
func DisplayName(store string) string {
	if r := remoteOf(store); r != nil {
		return r.String()
	}
	return store
}

// commit makes a batch exist elsewhere, and then in the mirror, in place of what was removed
// there since Pull. Files that a commit names stay there, whatever happens here.
func (r *remote) commit(c *Commit, temp string, content []byte) (made bool, err error) {
	if err := r.Commit(c, content); err != nil {
		return false, fmt.Errorf("commit %s: %w", c.Batch, err)
	}
	if err := os.Rename(temp, commitPath(r.store, c.Batch)); err != nil {
		return true, fmt.Errorf("commit %s: %w", c.Batch, err)
	}
	return true, nil
}
