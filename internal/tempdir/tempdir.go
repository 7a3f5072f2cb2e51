// Package tempdir makes the program's temporary folders. Each is locked as long as its process
// lives, so that other processes can remove the folders of killed ones.
package tempdir

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	prefix   = "stackmill-"
	lockFile = "owner" // locked by the owner; it holds the name of the owner's machine
	// A folder of this age without a lock file is removed if it is empty: its process was killed
	// while making it.
	unlockedAge = time.Hour
)

// Dir is a private temporary folder of this process.
type Dir struct {
	Path string
	lock *os.File
}

// own are the folders of this process.
var own struct {
	sync.Mutex
	swept bool
	dirs  map[*Dir]bool
}

// Make creates a private folder in os.TempDir, named after its purpose. The first call of a
// process removes the folders of killed processes there.
func Make(purpose string) (*Dir, error) {
	own.Lock()
	defer own.Unlock()
	if !own.swept {
		own.swept, own.dirs = true, map[*Dir]bool{}
		sweep(os.TempDir())
	}
	path, err := os.MkdirTemp("", prefix+purpose+"-")
	if err != nil {
		return nil, err
	}
	d := &Dir{Path: path}
	if err := d.claim(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(path))
	}
	own.dirs[d] = true
	return d, nil
}

// claim locks the folder, then writes the machine's name into the lock file. Other processes remove
// a folder of this machine if they can lock it, which means that its owner is dead. A folder whose
// lock file could not be locked or written is never removed by others.
func (d *Dir) claim() error {
	lock, err := os.OpenFile(filepath.Join(d.Path, lockFile), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	d.lock = lock
	host, err := os.Hostname()
	if err != nil || syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return nil
	}
	_, _ = lock.WriteString(host)
	return nil
}

// Remove removes the folder with its content.
func (d *Dir) Remove() error {
	own.Lock()
	delete(own.dirs, d)
	own.Unlock()
	return d.remove()
}

func (d *Dir) remove() error {
	return errors.Join(os.RemoveAll(d.Path), d.lock.Close())
}

// RemoveAll removes all folders of this process, before it ends.
func RemoveAll() {
	own.Lock()
	defer own.Unlock()
	for d := range own.dirs {
		_ = d.remove() // the next process tries again
	}
	clear(own.dirs)
}

// File returns a file without a name, which disappears when it is closed or the process ends.
func File() (*os.File, error) {
	f, err := os.CreateTemp("", prefix+"file-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// sweep removes the folders of dead processes of this user on this machine.
func sweep(parent string) {
	dir, err := os.Open(parent)
	if err != nil {
		return
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	host, err := os.Hostname()
	if err != nil {
		return
	}
	for _, name := range names {
		if strings.HasPrefix(name, prefix) {
			removeDead(filepath.Join(parent, name), host)
		}
	}
}

// removeDead removes a folder if its owner is dead.
func removeDead(path, host string) {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() || int(info.Sys().(*syscall.Stat_t).Uid) != os.Geteuid() {
		return
	}
	lock, err := os.OpenFile(filepath.Join(path, lockFile), os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) && time.Since(info.ModTime()) > unlockedAge {
			_ = os.Remove(path) // fails unless it is empty
		}
		return
	}
	defer lock.Close()
	owner, err := io.ReadAll(io.LimitReader(lock, 1<<10))
	if err != nil || string(owner) != host || syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return
	}
	_ = os.RemoveAll(path) // the next process tries again
}
