package mmap

import (
	"context"
	"io/fs"
	"sync"
	"sync/atomic"
	"syscall"

	"stackmill/internal/ordered"

	"golang.org/x/sys/unix"
)

// poolKey is the key of a context's pool.
type poolKey struct{}

// mappingPool has the open mappings of a WithPool context.
type mappingPool struct {
	mu   sync.Mutex
	open map[mappingKey]*mapping
}

// mappingKey identifies a mapping: the file, its size, and what cancels it.
type mappingKey struct {
	device, inode uint64
	size          int64
	done          <-chan struct{}
}

// WithPool returns a context in which concurrent users of a file share one mapping: pages that
// one has read cost the others no page faults.
func WithPool(ctx context.Context) context.Context {
	return context.WithValue(ctx, poolKey{}, &mappingPool{open: map[mappingKey]*mapping{}})
}

// pooled returns the mapping of an open file; create makes it if there is none.
func pooled(ctx context.Context, info fs.FileInfo, create func() (*mapping, error)) (*mapping, error) {
	s, _ := ctx.Value(poolKey{}).(*mappingPool)
	stat, ok := info.Sys().(*syscall.Stat_t)
	if s == nil || !ok {
		return create()
	}
	is := mappingKey{stat.Dev, stat.Ino, info.Size(), ctx.Done()}
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.open[is]; p != nil {
		p.users++
		return p, nil
	}
	p, err := create()
	if err == nil {
		p.pool, p.key, p.users = s, is, 1
		s.open[is] = p
	}
	return p, err
}

// mapping is a file in the address space.
type mapping struct {
	pool  *mappingPool // nil if it has one user
	key   mappingKey
	users int // under the pool's lock

	mu         sync.Mutex // release against revoke
	pages      []byte     // nil after release
	stopRevoke func() bool

	fetched []atomic.Bool // by step
	holes   []hole        // large ones
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

func newMapping(ctx context.Context, fd uintptr, size int64) (*mapping, error) {
	pages, err := unix.Mmap(int(fd), 0, int(size), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	p := &mapping{pages: pages, fetched: make([]atomic.Bool, (size+step-1)/step), holes: holesOf(fd, size)}
	p.stopRevoke = context.AfterFunc(ctx, p.revoke)
	return p, nil
}

// revoke turns further reading of the pages into page faults, which Guard turns into errors.
func (p *mapping) revoke() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pages != nil {
		// If that fails, the reader goes on to the end of the file.
		_ = unix.Mprotect(p.pages, unix.PROT_NONE)
	}
}

// release ends the mapping with its last user.
func (p *mapping) release() error {
	if p.pool != nil {
		p.pool.mu.Lock()
		p.users--
		last := p.users == 0
		if last {
			delete(p.pool.open, p.key)
		}
		p.pool.mu.Unlock()
		if !last {
			return nil
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	pages := p.pages
	p.pages = nil
	p.stopRevoke()
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

const (
	// step is how much fetch maps at a time.
	step = 4 << 20
	// large is the size of mappings that take a good part of a millisecond to unmap, which a
	// goroutine does.
	large = 4 << 20
)

// afterHole returns the end of the hole that an offset is in, or the offset.
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
