package storedir

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"os"
	"sync"

	"stackmill/internal/ordered"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/sys/unix"
)

// footerEnd is the number of bytes after the metadata in a Parquet file: the metadata's length and
// the magic.
const footerEnd = 8

// tails are buffers for the last bytes of files, which mostly include all of the metadata.
var tails = sync.Pool{New: func() any { b := make([]byte, 16<<10); return &b }}

// FooterChecksum returns the checksum of the metadata at the end of a Parquet file. The error wraps
// ErrDamaged if the file has no metadata.
func FooterChecksum(file io.ReaderAt, size int64) (string, error) {
	buffer := tails.Get().(*[]byte)
	defer tails.Put(buffer)
	end := (*buffer)[:min(size, int64(len(*buffer)))]
	if _, err := file.ReadAt(end, size-int64(len(end))); err != nil {
		return "", err
	}
	if len(end) < footerEnd {
		return "", fmt.Errorf("%w: it is too short", ErrDamaged)
	}
	n := footerEnd + int64(binary.LittleEndian.Uint32(end[len(end)-footerEnd:]))
	if n > size {
		return "", fmt.Errorf("%w: its footer says that the metadata has %d bytes, but the whole file has %d", ErrDamaged, n, size)
	}
	h := xxhash.New()
	if rest := n - int64(len(end)); rest > 0 {
		if _, err := io.Copy(h, io.NewSectionReader(file, size-n, rest)); err != nil {
			return "", err
		}
		n -= rest
	}
	_, _ = h.Write(end[int64(len(end))-n:])
	return Checksum(h.Sum64()), nil
}

// atOnce is how many files are opened concurrently, since each may take a round trip to a file
// server.
const atOnce = 16

// damagedFooters returns those files of the folder dir that must not be read, by path, with the
// reason: a file is missing, is not regular, or has another footer than its commit says.
func damagedFooters(root *os.Root, dir string, files []File) map[string]error {
	unfit := map[string]error{}
	fail := func(err error) map[string]error {
		for _, f := range files {
			unfit[f.Path] = inStore(f.Path, err)
		}
		return unfit
	}
	d, err := root.Open(dir)
	if err != nil {
		return fail(err)
	}
	defer d.Close()
	var mu sync.Mutex
	fd := int(d.Fd())
	_ = ordered.ForEach(context.Background(), len(files), atOnce, func(_ context.Context, i int) error {
		if err := footerIn(fd, files[i]); err != nil {
			mu.Lock()
			defer mu.Unlock()
			unfit[files[i].Path] = err
		}
		return nil // all of them are compared
	})
	return unfit
}

// footerIn returns an error if the footer of a file in an open folder is not as its commit says.
func footerIn(folder int, f File) error {
	_, base := cutBase(f.Path)
	fd, err := unix.Openat(folder, base, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err == unix.ELOOP || err == unix.ENXIO || err == unix.ENODEV {
		return fmt.Errorf("%s: %w", f.Path, ErrNotRegular)
	}
	if err != nil {
		return &fs.PathError{Op: "open", Path: f.Path, Err: err}
	}
	file := descriptor(fd)
	defer func() { _ = unix.Close(fd) }() // it was only read
	var info unix.Stat_t
	if err := unix.Fstat(fd, &info); err != nil {
		return &fs.PathError{Op: "stat", Path: f.Path, Err: err}
	}
	if info.Mode&unix.S_IFMT != unix.S_IFREG {
		return fmt.Errorf("%s: %w", f.Path, ErrNotRegular)
	}
	sum, err := FooterChecksum(file, info.Size)
	if err == nil && sum != f.Footer {
		err = fmt.Errorf("%w: its metadata has checksum %s, but its commit says %s", ErrDamaged, sum, f.Footer)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	return nil
}

// descriptor is an open file. For thousands of files, os.File would take several times as long.
type descriptor int

// ReadAt implements io.ReaderAt.
func (d descriptor) ReadAt(p []byte, offset int64) (n int, err error) {
	for n < len(p) {
		k, err := unix.Pread(int(d), p[n:], offset+int64(n))
		switch {
		case err == unix.EINTR:
		case err != nil:
			return n, err
		case k == 0:
			return n, io.ErrUnexpectedEOF
		}
		n += max(k, 0)
	}
	return n, nil
}
