// Package mapped maps recordings' files into memory.
package mapped

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"stackmill/fault"
	"stackmill/stages/infile"
)

// File is a file mapped into memory.
type File struct {
	Name     string // for messages
	Data     []byte
	Modified time.Time

	path string
	ctx  context.Context

	mu     sync.Mutex // Unmap against revoke
	pages  []byte     // the mapping, nil once it has ended
	forget func() bool
}

// Open maps a file, which messages call name; an empty file has no data. When the
// context ends, so does whatever reads the data in a Guard: loops over records
// need not look at it.
func Open(ctx context.Context, path, name string) (*File, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	f, info, err := infile.Open(path, infile.Recording)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m := &File{Name: name, Modified: info.ModTime(), path: path, ctx: ctx}
	if info.Size() == 0 {
		return m, nil
	}
	m.Data, err = unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	m.pages = m.Data
	m.forget = context.AfterFunc(ctx, m.revoke)
	return m, nil
}

// revoke makes each further reading of the data a page fault, which Guard turns
// into an error.
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
	m.Data, m.pages = nil, nil
	if pages == nil {
		return nil
	}
	m.forget()
	return unix.Munmap(pages)
}

// Release lets the system take back the file's pages, so that what was read
// does not count as this process's memory. They can still be read, at the price
// of a page fault. It is called for the whole file because a fault maps pages
// on both sides of the one that is read.
func (m *File) Release() {
	if len(m.Data) > 0 {
		// Only advice: if it fails, memory stays in use for longer.
		_ = unix.Madvise(m.Data, unix.MADV_DONTNEED)
	}
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
		return fault.New(context.Cause(m.ctx))
	}
	err := fmt.Errorf("%s became unreadable: %w", m.Name, pageFault)
	if info, serr := os.Stat(m.path); serr == nil && info.Size() < int64(len(m.Data)) {
		return err
	}
	return fault.New(err)
}
