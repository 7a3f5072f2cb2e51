package safefile

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Stamp has those attributes of a file that change with its content. A program that writes the file
// can set its size and modification time, but not its inode and change time.
type Stamp struct {
	Device, Inode           uint64
	Size, Modified, Changed int64 // bytes; ns since 1970
}

// StampOf returns the stamp of a file.
func StampOf(info os.FileInfo) (s Stamp) {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s = Stamp{uint64(st.Dev), st.Ino, st.Size, st.Mtim.Nano(), st.Ctim.Nano()}
	}
	return s
}

// Born returns when a file was created; zero if the file system does not keep that.
func Born(path string) time.Time {
	var st unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_BTIME, &st) != nil || st.Mask&unix.STATX_BTIME == 0 {
		return time.Time{}
	}
	return time.Unix(st.Btime.Sec, int64(st.Btime.Nsec))
}

// settled is how old a file's last change must be for its stamp to identify its content: clocks of
// file systems have steps of up to 2 s.
const settled = 3 * time.Second

// Settled reports whether the stamp identifies the file's content.
func (s Stamp) Settled() bool {
	return s.Changed > 0 && time.Since(time.Unix(0, s.Changed)) > settled
}
