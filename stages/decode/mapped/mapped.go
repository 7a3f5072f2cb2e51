// Package mapped maps recordings' files into memory.
package mapped

import (
	"fmt"
	"os"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"
)

// File is a file mapped into memory.
type File struct {
	Name     string // for messages
	Data     []byte
	Modified time.Time
}

// Open maps a file, which messages call name; an empty file has no data.
func Open(path, name string) (*File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	m := &File{Name: name, Modified: info.ModTime()}
	if info.Size() == 0 {
		return m, nil
	}
	m.Data, err = unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	return m, nil
}

// Unmap ends the mapping.
func (m *File) Unmap() error {
	data := m.Data
	m.Data = nil
	if data == nil {
		return nil
	}
	return unix.Munmap(data)
}

// Release lets the system take back the file's pages, so that what was read
// does not count as this process's memory. They can still be read, at the price
// of a page fault. It is called for the whole file because a fault maps pages
// on both sides of the one that is read.
func (m *File) Release() {
	if len(m.Data) > 0 {
		// Advice only: when it is refused, memory stays in use for longer.
		_ = unix.Madvise(m.Data, unix.MADV_DONTNEED)
	}
}

// Guard runs f and turns a fault on a mapped page into an error: the file
// became shorter, or its disk failed.
func (m *File) Guard(f func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if r := recover(); r != nil {
			fault, ok := r.(interface {
				error
				Addr() uintptr
			})
			if !ok {
				panic(r)
			}
			err = fmt.Errorf("%s became unreadable: %w", m.Name, fault)
		}
	}()
	f()
	return nil
}
