package gprofng

import (
	"fmt"
	"os"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// mapped is a file mapped into memory.
type mapped struct {
	name string // for messages
	data []byte
}

// mapFileRead maps a file; an empty file has no data.
func mapFileRead(path, name string) (*mapped, error) {
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
	m := &mapped{name: name}
	if info.Size() == 0 {
		return m, nil
	}
	m.data, err = unix.Mmap(int(f.Fd()), 0, int(info.Size()), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	return m, nil
}

func (m *mapped) unmap() error {
	data := m.data
	m.data = nil
	if data == nil {
		return nil
	}
	return unix.Munmap(data)
}

// release lets the system take back the file's pages, so that what was read
// does not count as this process's memory. They can still be read, at the price
// of a page fault. It is called for the whole file because a fault maps pages
// on both sides of the one that is read.
func (m *mapped) release() {
	if len(m.data) > 0 {
		// Advice only: when it is refused, memory stays in use for longer.
		_ = unix.Madvise(m.data, unix.MADV_DONTNEED)
	}
}

// guard runs f and turns a fault on a mapped page into an error: the file
// became shorter, or its disk failed.
func (m *mapped) guard(f func()) (err error) {
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
			err = fmt.Errorf("%s became unreadable: %w", m.name, fault)
		}
	}()
	f()
	return nil
}
