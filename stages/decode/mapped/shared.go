package mapped

import (
	"context"
	"io/fs"
	"sync"
	"sync/atomic"
	"syscall"

	"stackmill/internal/ordered"

	"golang.org/x/sys/unix"
)

// sharedKey is the key of a context's shelf.
type sharedKey struct{}

// shelf has the mappings of a context of Shared.
type shelf struct {
	mu   sync.Mutex
	have map[identity]*mapping
}

// identity is what tells mappings apart: the file, its size, and what ends them.
type identity struct {
	device, inode uint64
	size          int64
	done          <-chan struct{}
}

// Shared returns a context in which a file is mapped once at a time, however many have
// opened it: what one of them has read costs the others no page faults.
func Shared(ctx context.Context) context.Context {
	return context.WithValue(ctx, sharedKey{}, &shelf{have: map[identity]*mapping{}})
}

// shelved returns the mapping of an open file, which make makes if there is none.
func shelved(ctx context.Context, info fs.FileInfo, make func() (*mapping, error)) (*mapping, error) {
	s, _ := ctx.Value(sharedKey{}).(*shelf)
	stat, ok := info.Sys().(*syscall.Stat_t)
	if s == nil || !ok {
		return make()
	}
	is := identity{stat.Dev, stat.Ino, info.Size(), ctx.Done()}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.have[is]; p != nil {
		p.users++
		return p, nil
	}
	p, err := make()
	if err == nil {
		p.shelf, p.is, p.users = s, is, 1
		s.have[is] = p
	}
	return p, err
}

// mapping is a part of the address space in which a file can be read.
type mapping struct {
	shelf *shelf // nil if it has one user
	is    identity
	users int // under the shelf's lock

	mu     sync.Mutex // end against revoke
	pages  []byte     // nil once it has ended
	forget func() bool

	fetched []atomic.Bool // by step
	holes   []hole        // large ones
}

// hole is a part of a file that takes no space on its disk.
type hole struct{ from, end int }

// Of a file so many holes are looked for, of at least this size.
const (
	mostHoles = 64
	leastHole = 1 << 20
)

// holesOf finds the large holes of an open file; none if the file system does not know them.
func holesOf(fd uintptr, size int64) (holes []hole) {
	if size < leastHole {
		return nil
	}
	for at, n := int64(0), 0; n < mostHoles; n++ {
		from, err := unix.Seek(int(fd), at, unix.SEEK_HOLE)
		if err != nil || from >= size {
			break
		}
		if at, err = unix.Seek(int(fd), from, unix.SEEK_DATA); err != nil { // there is none after it
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

func newMapping(ctx context.Context, fd uintptr, size int64) (*mapping, error) {
	pages, err := unix.Mmap(int(fd), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	p := &mapping{pages: pages, fetched: make([]atomic.Bool, (size+step-1)/step), holes: holesOf(fd, size)}
	p.forget = context.AfterFunc(ctx, p.revoke)
	return p, nil
}

// revoke makes each further reading of the pages a page fault, which Guard turns into an
// error.
func (p *mapping) revoke() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pages != nil {
		// If that fails, the reader goes on to the end of the file.
		_ = unix.Mprotect(p.pages, unix.PROT_NONE)
	}
}

// leave ends the mapping with its last user.
func (p *mapping) leave() error {
	if p.shelf != nil {
		p.shelf.mu.Lock()
		p.users--
		last := p.users == 0
		if last {
			delete(p.shelf.have, p.is)
		}
		p.shelf.mu.Unlock()
		if !last {
			return nil
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	pages := p.pages
	p.pages = nil
	p.forget()
	if len(pages) >= large {
		ordered.Start(func() (none struct{}, err error) { unmap(pages); return none, nil })
		return nil
	}
	return unix.Munmap(pages)
}

// unmap ends a large mapping in steps: until one has ended, all who change what is mapped
// wait.
func unmap(pages []byte) {
	for from := 0; from < len(pages); from += step {
		_ = unix.Madvise(pages[from:min(from+step, len(pages))], unix.MADV_DONTNEED) // only advice
	}
	_ = unix.Munmap(pages) // it cannot fail
}

const (
	// step is how much is fetched at a time.
	step = 4 << 20
	// large is the size of mappings whose end takes a good part of a millisecond, for which
	// nobody waits.
	large = 4 << 20
)

// afterHole returns where the hole ends that an offset is in, or the offset.
func (p *mapping) afterHole(at int) int {
	for _, h := range p.holes {
		if h.from <= at && at < h.end {
			return h.end
		}
	}
	return at
}

// fetch maps the pages of the step that an offset is in, and returns its end.
func (p *mapping) fetch(at int) (end int) {
	n := at / step
	end = min((n+1)*step, len(p.pages))
	if p.afterHole(n*step) < end && !p.fetched[n].Swap(true) {
		// Only advice: what is not mapped costs a page fault.
		_ = unix.Madvise(p.pages[n*step:end], unix.MADV_POPULATE_READ)
	}
	return end
}
