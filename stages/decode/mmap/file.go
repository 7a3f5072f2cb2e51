// Package mmap maps recordings' files into memory.
package mmap

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
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

	path    string
	ctx     context.Context
	mapping *mapping // nil for an empty file, and after Unmap
}

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
	m.mapping, err = pooled(ctx, info, func() (*mapping, error) { return newMapping(ctx, f.Fd(), info.Size()) })
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	m.Data = m.mapping.pages
	return m, nil
}

// Unmap releases the mapping, which ends with its last user.
func (m *File) Unmap() error {
	at := m.mapping
	m.Data, m.mapping = nil, nil
	if at == nil {
		return nil
	}
	return at.release()
}

// Fetch maps the pages of the part that holds an offset, unless that was done, and returns the
// end of the part. Page faults take three times as long.
func (m *File) Fetch(at int) (end int) { return m.mapping.fetch(at) }

// EachPart calls read with the end of each part, in order, until it returns false, and fetches
// the next parts meanwhile.
func (m *File) EachPart(from int, read func(end int) bool) {
	if from >= len(m.Data) {
		return
	}
	first, last := from/step, (len(m.Data)-1)/step
	ordered.Map(1, last+1-first, func(_, n int, end *int) { *end = m.Fetch((first + n) * step) }, func(end *int) bool { return read(*end) })
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
		for n := range (end + step - 1) / step {
			m.mapping.fetched[n].Store(false)
		}
	}
}

// AfterHole returns the offset where data may begin: the end of the hole that the offset is in,
// or the offset itself. Reading a hole yields zeros, at the price of memory for each page.
func (m *File) AfterHole(at int) int {
	if m.mapping == nil {
		return at
	}
	return m.mapping.afterHole(at)
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
