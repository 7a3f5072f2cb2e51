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
	Name     string // for messages
	Data     []byte
	Modified time.Time

	path  string
	ctx   context.Context
	holes []hole // large ones

	mu         sync.Mutex // Unmap against revoke
	pages      []byte     // nil for an empty file, and after Unmap
	stopRevoke func() bool
}

const (
	// step is how much is fetched at a time.
	step = 4 << 20
	// large is the size of mappings that take a good part of a millisecond to unmap, which a
	// goroutine does.
	large = 4 << 20
)

// Open maps a file, which messages call name; an empty file has no data. When the context is
// canceled, reading data within Guard ends: loops over records need not check it.
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
		// If that fails, the reader goes on to the end of the file.
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

// unmap ends a large mapping step by step: each step blocks everybody who changes mappings.
func unmap(pages []byte) {
	for from := 0; from < len(pages); from += step {
		_ = unix.Madvise(pages[from:min(from+step, len(pages))], unix.MADV_DONTNEED) // only advice
	}
	_ = unix.Munmap(pages) // it cannot fail
}

// fetch maps the pages of a part, and returns its end: page faults take three times as long.
func (m *File) fetch(part int) (end int) {
	end = min((part+1)*step, len(m.Data))
	if m.AfterHole(part*step) < end {
		// Only advice: what is not mapped costs a page fault.
		_ = unix.Madvise(m.Data[part*step:end], unix.MADV_POPULATE_READ)
	}
	return end
}

// EachPart calls read with the end of each part, in order, until it returns false, and fetches
// the next parts meanwhile.
func (m *File) EachPart(from int, read func(end int) bool) {
	if from >= len(m.Data) {
		return
	}
	first, last := from/step, (len(m.Data)-1)/step
	ordered.Map(1, last+1-first, func(_, n int, end *int) { *end = m.fetch(first + n) }, func(end *int) bool { return read(*end) })
}

// Release lets the system reclaim the file's pages, so that they do not count as this process's
// memory. Reading them again costs page faults. It releases the whole file because a fault maps
// pages on both sides of the one that is read.
func (m *File) Release() { m.release(len(m.Data)) }

// ReleaseBefore releases the parts before the one that holds an offset: the following ones may be
// prefetched.
func (m *File) ReleaseBefore(at int) { m.release(at / step * step) }

func (m *File) release(end int) {
	if end > 0 {
		// Only advice: if it fails, memory stays in use for longer.
		_ = unix.Madvise(m.Data[:end], unix.MADV_DONTNEED)
	}
}

// AfterHole returns the offset where data may begin: the end of the hole that the offset is in,
// or the offset itself. Reading a hole yields zeros, at the price of memory for each page.
func (m *File) AfterHole(at int) int {
	for _, h := range m.holes {
		if h.from <= at && at < h.end {
			return h.end
		}
	}
	return at
}

// hole is a part of a file without disk blocks.
type hole struct{ from, end int }

// The number of holes that are found in a file, and their minimum size.
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
		if at, err = unix.Seek(int(fd), from, unix.SEEK_DATA); err != nil { // no data after it
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

// Guard runs f and turns a fault on a mapped page into an error: the file became shorter, its
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

// unreadable returns the error for a page fault. If the file still has its size, its disk failed,
// which is an error of the host.
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
