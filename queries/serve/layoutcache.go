package serve

import (
	"context"
	"sync"
	"time"
)

// maxLayouts limits the bytes of the layouts that a snapshot keeps.
const maxLayouts = 256 << 20

// layout is a tree in drawing order with its description. Requests share it, so it must not change.
type layout interface{ bytes() int64 }

// layoutCache keeps the most recently used layouts, because each zoom and each search is a request of its own. If a
// layout is being made, other requests for it wait.
type layoutCache struct {
	mu      sync.Mutex
	entries map[string]*layoutEntry
	size    int64 // bytes of complete layouts
}

type layoutEntry struct {
	ready  chan struct{} // closed when layout or err is set
	layout layout
	err    error
	used   time.Time
}

// get returns the layout with a key. If there is none, it calls work to make one, even if ctx is canceled meanwhile:
// other requests may wait for it.
func (c *layoutCache) get(ctx context.Context, limit time.Duration, key string, work func(context.Context) (layout, error)) (layout, error) {
	c.mu.Lock()
	e := c.entries[key]
	if e == nil {
		e = &layoutEntry{ready: make(chan struct{})}
		if c.entries == nil {
			c.entries = map[string]*layoutEntry{}
		}
		c.entries[key] = e
		go c.make(context.WithoutCancel(ctx), limit, key, e, work)
	}
	e.used = time.Now()
	c.mu.Unlock()
	select {
	case <-e.ready:
		return e.layout, e.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// make makes a layout. It does not keep an error, so that the next request tries again.
func (c *layoutCache) make(ctx context.Context, limit time.Duration, key string, e *layoutEntry, work func(context.Context) (layout, error)) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	e.layout, e.err = recoverPanic(func() (layout, error) { return work(ctx) })
	e.err = timeoutError(ctx, limit, e.err)
	close(e.ready)
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.err != nil {
		delete(c.entries, key)
		return
	}
	c.size += e.layout.bytes()
	for c.size > maxLayouts {
		c.evict()
	}
}

// evict forgets the least recently used layout.
func (c *layoutCache) evict() {
	oldest := ""
	for key, e := range c.entries {
		select {
		case <-e.ready:
			if oldest == "" || e.used.Before(c.entries[oldest].used) {
				oldest = key
			}
		default: // it is being made
		}
	}
	c.size -= c.entries[oldest].layout.bytes()
	delete(c.entries, oldest)
}

// layout implements sessionSource.
func (p *lease) layout(ctx context.Context, key string, work func(context.Context) (layout, error)) (layout, error) {
	return p.layouts.get(ctx, p.Timeout, key, work)
}

// layout implements sessionSource. A process that answers one call keeps nothing.
func (s directSource) layout(ctx context.Context, _ string, work func(context.Context) (layout, error)) (layout, error) {
	return work(ctx)
}
