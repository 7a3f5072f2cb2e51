// Package mapped maps recordings' files into memory.
package mapped

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

	path string
	ctx  context.Context
	at   *mapping // nil for an empty file, and once it was given up
}

// Open maps a file, which messages call name; an empty file has no data. When the
// context ends, so does whatever reads the data in a Guard: loops over records
// need not look at it.
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
	m.at, err = shelved(ctx, info, func() (*mapping, error) { return newMapping(ctx, f.Fd(), info.Size()) })
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	m.Data = m.at.pages
	return m, nil
}

// Unmap gives the mapping up, which ends with its last user.
func (m *File) Unmap() error {
	at := m.at
	m.Data, m.at = nil, nil
	if at == nil {
		return nil
	}
	return at.leave()
}

// Fetch makes the part of the file in which an offset lies ready for reading, unless that
// was done, and returns where the part ends. Page faults take three times as long.
func (m *File) Fetch(at int) (end int) { return m.at.fetch(at) }

// Each calls read for the parts of the file from an offset on, in their order, with where
// each ends, until it returns false. The next ones are made ready meanwhile.
func (m *File) Each(from int, read func(end int) bool) {
	if from >= len(m.Data) {
		return
	}
	first, last := from/step, (len(m.Data)-1)/step
	ordered.Map(1, last+1-first, func(_, n int, end *int) { *end = m.Fetch((first + n) * step) }, func(end *int) bool { return read(*end) })
}

// Release lets the system take back the file's pages, so that what was read
// does not count as this process's memory. They can still be read, at the price
// of a page fault. It is called for the whole file because a fault maps pages
// on both sides of the one that is read.
func (m *File) Release() { m.release(len(m.Data)) }

// ReleaseBefore is Release for the parts before the one in which an offset lies: the next ones
// may have been made ready.
func (m *File) ReleaseBefore(at int) { m.release(at / step * step) }

func (m *File) release(end int) {
	if end > 0 {
		// Only advice: if it fails, memory stays in use for longer.
		_ = unix.Madvise(m.Data[:end], unix.MADV_DONTNEED)
		for n := range (end + step - 1) / step {
			m.at.fetched[n].Store(false)
		}
	}
}

// AfterHole returns where data may begin from an offset on: where a hole ends that the offset
// is in, or the offset itself. Holes are read as zeros, at the price of memory for each page.
func (m *File) AfterHole(at int) int {
	if m.at == nil {
		return at
	}
	return m.at.afterHole(at)
}

// Guard runs f and turns a fault on a mapped page into an error: the file
// became shorter, or its disk failed, or the context ended.
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

// unreadable says what a page fault means. If the file still has its size, its disk
// failed, which says nothing about the recording.
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
