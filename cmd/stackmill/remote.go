package main

import (
	"context"
	"os"

	"stackmill/bucket"
	"stackmill/mirror"
)

// reach sets the store that the verb is about. Of one on S3 that is a mirror: all that reads
// and writes stores does not know the difference.
func (a *app) reach(ctx context.Context, store string) error {
	a.store = store
	if !bucket.Is(store) {
		return nil
	}
	size, err := parseSize(a.cacheSize)
	if err != nil {
		return usageErrorf("--cache-size: %w", err)
	}
	cache := defaultCache()
	if cache == "" { // a container without a home
		cache = os.TempDir()
	}
	m, err := mirror.Open(ctx, store, mirror.Options{Cache: cache, Size: size})
	if err != nil {
		return err
	}
	a.store = m.Dir
	return nil
}
