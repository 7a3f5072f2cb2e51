// Package mmap maps recordings' files into memory.
package mmap

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"stackmill/internal/hosterr"
	"stackmill/internal/ordered"
	"stackmill/internal/safefile"
)

// File is a file mapped into memory.
type File struct {
	Name     string // as messages call the file
	Data     []byte
	Modified time.Time

	path  string
	ctx   context.Context
	holes []hole // holes of at least leastHole bytes

	mu         sync.Mutex // protects pages: revoke may run at any time
	pages      []byte     // nil for an empty file, and after Unmap
	stopRevoke func() bool
}

const (
	// step is the number of bytes that are fetched or released at a time: the size of a part.
	step = 4 << 20
	// large is the minimum size of a mapping that a separate goroutine unmaps, because this takes a
	// good part of a millisecond.
	large = 4 << 20
)

// Open maps the file at path; messages call it name. An empty file has no data. When the context is
// canceled, reading data within Guard fails, so that loops over records need not check the context.
func Open(ctx context.Context, path, name string) (*File, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	f, info, err := safefile.Open(path, safefile.Recording)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := &File{Name: name, Modified: info.ModTime(), path: path, ctx: ctx}
	if info.Size() == 0 {
		return m, nil
	}
	m.pages, err = unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	m.Data, m.holes = m.pages, holesOf(f.Fd(), info.Size())
	m.stopRevoke = context.AfterFunc(ctx, m.revoke)
	return m, nil
}

// revoke turns further reading of the pages into page faults, which Guard turns into errors.
func (m *File) revoke() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.pages != nil {
		// If this fails, the reader continues to the end of the file.
		_ = unix.Mprotect(m.pages, unix.PROT_NONE)
	}
}

// Unmap ends the mapping.
func (m *File) Unmap() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	pages := m.pages
	if pages == nil {
		return nil
	}
	m.Data, m.pages = nil, nil
	m.stopRevoke()
	if len(pages) >= large {
		ordered.Start(func() (none struct{}, err error) { unmap(pages); return none, nil })
		return nil
	}
	return unix.Munmap(pages)
}

// unmap ends a large mapping in steps, because each step blocks all threads that change mappings.
func unmap(pages []byte) {
	for from := 0; from < len(pages); from += step {
		_ = unix.Madvise(pages[from:min(from+step, len(pages))], unix.MADV_DONTNEED) // only advice
	}
	_ = unix.Munmap(pages) // it cannot fail
}

// fetch maps all pages of a part with one system call (page faults take three times as long), and
// returns the end of the part.
func (m *File) fetch(part int) (end int) {
	end = min((part+1)*step, len(m.Data))
	if m.AfterHole(part*step) < end {
		// Failure is harmless: a page that is not mapped costs a page fault.
		_ = unix.Madvise(m.Data[part*step:end], unix.MADV_POPULATE_READ)
	}
	return end
}

// EachPart calls read with the end of each part, in order, until read returns false. Meanwhile it
// fetches the next parts.
func (m *File) EachPart(from int, read func(end int) bool) {
	if from >= len(m.Data) {
		return
	}
	first, last := from/step, (len(m.Data)-1)/step
	ordered.Map(1, last+1-first, func(_, n int, end *int) { *end = m.fetch(first + n) }, func(end *int) bool { return read(*end) })
}

// Release lets the system reclaim the file's pages, so that they do not count as this process's
// memory. Reading them again costs page faults. It releases all pages because a fault also maps
// neighbors of the page that is read.
func (m *File) Release() { m.release(len(m.Data)) }

// ReleaseBefore releases the parts before the part that contains at. Later parts may just have been
// prefetched.
func (m *File) ReleaseBefore(at int) { m.release(at / step * step) }

func (m *File) release(end int) {
	if end > 0 {
		// Failure is harmless: memory stays in use for longer.
		_ = unix.Madvise(m.Data[:end], unix.MADV_DONTNEED)
	}
}

// AfterHole returns the first offset from `at` on that may have data: the end of a hole in which
// `at` lies, or `at` itself. Reading a hole yields zeros, but costs memory for each page.
func (m *File) AfterHole(at int) int {
	for _, h := range m.holes {
		if h.from <= at && at < h.end {
			return h.end
		}
	}
	return at
}

// hole is a range of a file without disk blocks.
type hole struct{ from, end int }

// The maximum number of holes that are looked up in a file, and their minimum size.
const (
	mostHoles = 64
	leastHole = 1 << 20
)

// holesOf finds the large holes of an open file; none if the file system does not support that.
func holesOf(fd uintptr, size int64) (holes []hole) {
	if size < leastHole {
		return nil
	}
	for at, n := int64(0), 0; n < mostHoles; n++ {
		from, err := unix.Seek(int(fd), at, unix.SEEK_HOLE)
		if err != nil || from >= size {
			break
		}
		if at, err = unix.Seek(int(fd), from, unix.SEEK_DATA); err != nil { // there is no more data
			at = size
		}
		if at-from >= leastHole {
			holes = append(holes, hole{int(from), int(at)})
		}
		if at >= size {
			break
		}
	}
	return holes
}

// Guard runs f and turns a page fault in a mapped file into an error: the file became shorter, its
// disk failed, or the context was canceled.
func (m *File) Guard(f func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			pageFault, ok := r.(interface {
				error
				Addr() uintptr
			})
			if !ok {
				panic(r)
			}
			err = m.unreadable(pageFault)
		}
	}()
	f()
	return nil
}

// unreadable returns the error for a page fault. If the file still has its size, its disk failed:
// that is a host error.
func (m *File) unreadable(pageFault error) error {
	if m.ctx.Err() != nil {
		return hosterr.New(context.Cause(m.ctx))
	}
	err := fmt.Errorf("%s became unreadable: %w", m.Name, pageFault)
	if info, serr := os.Stat(m.path); serr == nil && info.Size() < int64(len(m.Data)) {
		return err
	}
	return hosterr.New(err)
}
