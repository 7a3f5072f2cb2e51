package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync/atomic"
	"time"

	"stackmill/internal/hosterr"
	"stackmill/internal/objstore"
)

// sharedCache is a cache of load-object tables on S3, used for tables that the cache on disk lacks.
// It is optional: the first error is reported, and from then on the cache is not used.
type sharedCache struct {
	ctx    context.Context
	client *objstore.Client
	at     objstore.Address
	failed atomic.Bool
}

const (
	// maxTableBytes bounds the size of a table in the cache: larger ones are not read.
	maxTableBytes = 2 << 30
	// tableTimeout bounds the time to read or write a table, which could be computed from its load
	// object instead.
	tableTimeout = 30 * time.Second
)

// openSharedCache checks that the cache at an address can be read.
func openSharedCache(ctx context.Context, address string) (*sharedCache, error) {
	at, err := objstore.Parse(address)
	if err != nil {
		return nil, err
	}
	client, err := objstore.Shared()
	if err != nil {
		return nil, err
	}
	stop := errors.New("one is enough")
	err = client.List(ctx, at, maxObjects, func(objstore.Object) error { return stop })
	if err != nil && !errors.Is(err, stop) {
		return nil, hosterr.New(err)
	}
	return &sharedCache{ctx: ctx, client: client, at: at}, nil
}

// Get implements cache.Shared.
func (c *sharedCache) Get(name string) []byte {
	if c.failed.Load() {
		return nil
	}
	ctx, cancel := context.WithTimeout(c.ctx, tableTimeout)
	defer cancel()
	content, err := c.client.Read(ctx, c.at.Join(name), maxTableBytes)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			c.fail(err)
		}
		return nil
	}
	return content
}

// Put implements cache.Shared.
func (c *sharedCache) Put(name string, content []byte) {
	if c.failed.Load() {
		return
	}
	ctx, cancel := context.WithTimeout(c.ctx, tableTimeout)
	defer cancel()
	if err := c.client.Put(ctx, c.at.Join(name), content); err != nil {
		c.fail(err)
	}
}

// fail disables the cache, unless the ingest is ending.
func (c *sharedCache) fail(err error) {
	if c.ctx.Err() == nil && c.failed.CompareAndSwap(false, true) {
		objstore.Notify(fmt.Sprintf("the cache %s is not used any more: %v", c.at, err))
	}
}
