package storedir

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Remote is the object storage behind a local cache directory. The cache has all commits, and the
// table files that were needed. Files are written to the cache first, then to the storage. Cached
// files are compared with the storage, or with the checksum in their commit, and fetched again if
// they differ. Methods return host errors, except for the errors documented below. After a host
// error it is unknown whether the operation happened.
type Remote interface {
	// Pull makes the cached commits the same as the storage's.
	Pull() error
	// Sync updates the cached copies of a file that was pushed, of everything below a folder, or of
	// a commit whose copy may be damaged.
	Sync(name string) error
	// Verify removes cached table files that are not copies of current objects, and returns the
	// objects' paths, relative to the store.
	Verify() (files []string, err error)
	// Fetch downloads table files that the cache lacks, or whose copies have changed since they
	// were last verified and do not match their commits. All given files stay until the process
	// ends. The error wraps ErrDamaged if an object does not match its commit. It wraps
	// fs.ErrNotExist if an object does not exist: its batch was replaced since Pull, or it is lost.
	Fetch(files []File) error
	// FetchVerified is Fetch, but always reads and verifies the content of cached files.
	FetchVerified(files []File) error
	// Commit uploads the files of a commit, and then the commit file with that content. The error
	// is ErrExists if the storage has a commit of that name.
	Commit(c *Commit, content []byte) error
	// Remove removes the files of a batch, and then its commit.
	Remove(d *CommitFile) error
	// Age returns the age of the youngest of these commits, by the storage's clock.
	Age(batches []string) (time.Duration, error)
	// CollectGarbage removes files that no commit names, and that are so old that none ever will.
	// It returns how many.
	CollectGarbage() (removed int, err error)
	// Push uploads a cached file, and replaces the object if it exists.
	Push(file string) error
	// String returns the store's URL.
	String() string
}

// remote is a Remote with its cache directory.
type remote struct {
	Remote
	store string
}

var (
	remotesMu sync.Mutex
	remotes   = map[string]*remote{} // by absolute path of the cache
)

// SetRemote declares a directory to be the cache of a remote store, for the life of the process.
func SetRemote(dir string, r Remote) {
	remotesMu.Lock()
	defer remotesMu.Unlock()
	remotes[dir] = &remote{r, dir}
}

// remoteOf returns the remote store of a cache directory; nil for a local store.
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

// IsCache reports whether a directory is the cache of a remote store.
func IsCache(store string) bool { return remoteOf(store) != nil }

// RemoteAddress returns the URL of the store that is cached in dir, or "".
func RemoteAddress(store string) string {
	if r := remoteOf(store); r != nil {
		return r.String()
	}
	return ""
}

// Pull updates the commits of a cached store.
func Pull(store string) error {
	if r := remoteOf(store); r != nil {
		return r.Pull()
	}
	return nil
}

// Sync updates the cached copies of files other than tables: see Remote.
func Sync(store, name string) error {
	if r := remoteOf(store); r != nil {
		return r.Sync(name)
	}
	return nil
}

// Verify removes wrong table files of a cached store, and returns the paths of all remote ones.
func Verify(store string) (files []string, err error) {
	if r := remoteOf(store); r != nil {
		return r.Verify()
	}
	return nil, nil
}

// CollectGarbage removes files that failed attempts left in a remote store. See Remote: there are
// no locks that would show which attempts still run.
func CollectGarbage(store string) (removed int, err error) {
	if r := remoteOf(store); r != nil {
		return r.CollectGarbage()
	}
	return 0, nil
}

// Fetch downloads table files into a cached store: see Remote.
func Fetch(store string, files []File) error {
	if r := remoteOf(store); r != nil {
		return r.Fetch(files)
	}
	return nil
}

// FetchVerified is Fetch, but compares the content of all files with their commits.
func FetchVerified(store string, files []File) error {
	if r := remoteOf(store); r != nil {
		return r.FetchVerified(files)
	}
	return nil
}

// FetchAll downloads all files of batches of a cached store.
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

// Push uploads a file of a cached store.
func Push(store, file string) error {
	if r := remoteOf(store); r != nil {
		return r.Push(file)
	}
	return nil
}

// DisplayName returns the name of a store for messages: its directory or URL.
func DisplayName(store string) string {
	if r := remoteOf(store); r != nil {
		return r.String()
	}
	return store
}

// commit commits to the remote store, and then to the cache. After an error, the uploaded files
// stay.
func (r *remote) commit(c *Commit, temp string, content []byte) (made bool, err error) {
	if err := r.Commit(c, content); err != nil {
		return false, fmt.Errorf("commit %s: %w", c.Batch, err)
	}
	if err := os.Rename(temp, commitPath(r.store, c.Batch)); err != nil {
		return true, fmt.Errorf("commit %s: %w", c.Batch, err)
	}
	return true, nil
}
