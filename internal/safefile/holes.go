package safefile

import (
	"os"

	"golang.org/x/sys/unix"
)

// IsHole reports whether n bytes of a file are a hole, which reads as zeros. It reads nothing.
func IsHole(f *os.File, from, n int64) bool {
	data, err := unix.Seek(int(f.Fd()), from, unix.SEEK_DATA)
	if err == unix.ENXIO { // only a hole follows, up to the end
		info, err := f.Stat()
		return err == nil && from+n <= info.Size()
	}
	return err == nil && data >= from+n
}
