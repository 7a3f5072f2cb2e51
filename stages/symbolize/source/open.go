package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"stackmill/internal/safefile"
)

// A recording names the files whose text is kept with it, and who made it need
// not be who reads it, or who reads the store. So it must not lead to a text that
// is not everyone's: neither by a path nor by a link in its archives. Where the
// user says that sources are, only the recorded names are not trusted: they stay
// in that folder, whose links are the user's own.

// Why a file that is there is not read.
var (
	ErrPrivate  = errors.New("not everyone may read it")
	ErrLeadsOut = errors.New("a link leads out of the recording")
)

// openPublic opens a file that everyone may read, on this machine's disks. Each
// folder is opened by itself: a link that is put in the place of one meanwhile is
// not followed.
func openPublic(path string) (*os.File, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	at, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: "/", Err: err}
	}
	names := strings.Split(strings.Trim(real, "/"), "/")
	for i, name := range names {
		flags, needed := unix.O_PATH|unix.O_DIRECTORY, uint32(unix.S_IXOTH)
		if i == len(names)-1 {
			flags, needed = unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, unix.S_IROTH
		}
		next, err := openEntry(at, name, flags, needed)
		unix.Close(at)
		if err != nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
		at = next
	}
	return os.NewFile(uintptr(at), path), nil
}

// openEntry opens an entry of a folder for which everyone has the needed permission.
func openEntry(at int, name string, flags int, needed uint32) (int, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return -1, err
	}
	// Opening is enough to change some devices.
	if flags&unix.O_PATH == 0 && st.Mode&unix.S_IFMT != unix.S_IFREG {
		return -1, safefile.ErrNotRegular
	}
	if st.Mode&needed == 0 {
		return -1, ErrPrivate
	}
	fd, err := unix.Openat(at, name, flags|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	var disk unix.Statfs_t
	err = errors.Join(unix.Fstat(fd, &st), unix.Fstatfs(fd, &disk))
	switch {
	case err != nil:
	case st.Mode&needed == 0:
		err = ErrPrivate
	case slices.Contains(systemFileSystems, int64(disk.Type)):
		err = fmt.Errorf("it describes this system: %w", ErrPrivate)
	default:
		return fd, nil
	}
	unix.Close(fd)
	return -1, err
}

// systemFileSystems are file systems whose files are not sources, but describe the
// processes that read them.
var systemFileSystems = []int64{unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC,
	unix.SECURITYFS_MAGIC, unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC, unix.DEVPTS_SUPER_MAGIC}

// openArchived opens a file in the archives of a recording, which is the folder
// around them: links in it must not lead out of it.
func openArchived(path string) (*os.File, error) {
	archives := filepath.Dir(path)
	root, err := os.OpenRoot(filepath.Dir(archives))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	name := filepath.Join(filepath.Base(archives), filepath.Base(path))
	info, err := root.Stat(name)
	if err != nil {
		return nil, wrapRootError(path, err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: %w", path, safefile.ErrNotRegular)
	}
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, wrapRootError(path, err)
	}
	return f, nil
}

// wrapRootError names the error of a root that a link leads out of, which is none of
// the system's.
func wrapRootError(path string, err error) error {
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		return err
	}
	return fmt.Errorf("%s: %w", path, ErrLeadsOut)
}
