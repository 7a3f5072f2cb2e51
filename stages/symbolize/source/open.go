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

// A recording names the files whose text is copied to the store. Its author may not be the person
// who ingests it, nor the person who reads the store. So a recording must not make stackmill copy a
// text that not everyone may read, neither by a path nor by a link in its archives. In a folder of
// sources that the user names, recorded names must not lead out of the folder, but links in it are
// trusted.

// The reasons why an existing file is not read.
var (
	ErrPrivate  = errors.New("not everyone may read it, or it describes this system, like files of /proc")
	ErrLeadsOut = errors.New("a link leads out of the recording")
)

// openPublic opens a file on this machine's disks that everyone may read. It opens each folder of
// the path in turn, so that nobody can replace a folder by a link meanwhile.
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

// openEntry opens an entry of the folder `at`, if everyone has the needed permission for it.
func openEntry(at int, name string, flags int, needed uint32) (int, error) {
	var st unix.Stat_t
	if err := unix.Fstatat(at, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return -1, err
	}
	// Check before opening: opening some devices has side effects.
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
	case st.Mode&needed == 0, slices.Contains(systemFileSystems, int64(disk.Type)):
		err = ErrPrivate
	default:
		return fd, nil
	}
	unix.Close(fd)
	return -1, err
}

// systemFileSystems are the types of file systems whose files describe this system or the process
// that reads them.
var systemFileSystems = []int64{unix.PROC_SUPER_MAGIC, unix.SYSFS_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC,
	unix.SECURITYFS_MAGIC, unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC, unix.DEVPTS_SUPER_MAGIC}

// openArchived opens a file in the archives of a recording. It does not follow links that lead out
// of the recording's folder.
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

// wrapRootError turns an error of os.Root that is not a system error into ErrLeadsOut: a link led
// out of the root.
func wrapRootError(path string, err error) error {
	if errno := syscall.Errno(0); errors.As(err, &errno) {
		return err
	}
	return fmt.Errorf("%s: %w", path, ErrLeadsOut)
}
