package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"

	"stackmill/bucket"
	"stackmill/mirror"
)

// reach sets the store that the verb is about. Of one on S3 that is a mirror: all that reads
// and writes stores does not know the difference.
func (a *app) reach(ctx context.Context, store string) error {
	a.store = store
	switch {
	case store == "":
		return usageErrorf("--store: no directory is given")
	case !bucket.Is(store):
		return nil
	}
	size, err := parseSize(a.cacheSize)
	if err != nil {
		return usageErrorf("--cache-size: %w", err)
	}
	m, err := mirror.Open(ctx, store, mirror.Options{Cache: localCache(), Size: size})
	if err != nil {
		return err
	}
	a.store = m.Dir
	return nil
}

// localCache is where a part is kept of what is on S3: also in a container without a home.
func localCache() string { return cmp.Or(defaultCache(), filepath.Join(os.TempDir(), "stackmill")) }
