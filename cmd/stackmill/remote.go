package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"unicode/utf8"

	"stackmill/internal/exit"
	"stackmill/internal/objstore"
	"stackmill/schema/s3cache"
)

// reach sets the store of the verb; for a store on S3, its local copy, which readers and writers
// treat like any store.
func (a *app) reach(ctx context.Context, store string) error {
	a.store = store
	switch {
	case store == "":
		return exit.Usagef("--store: no directory is given")
	case !objstore.Is(store):
		return readableName(store)
	}
	size, err := parseSize(a.cacheSize)
	if err != nil {
		return exit.Usagef("--cache-size: %w", err)
	}
	cache, err := ownCache()
	if err != nil {
		return fmt.Errorf("%s: its local copy: %w", store, err)
	}
	m, err := s3cache.Open(ctx, store, s3cache.Options{Dir: cache, Size: size})
	if err != nil {
		return err
	}
	a.store = m.Dir
	return readableName(m.Dir)
}

// readableName returns an error unless the path is UTF-8: the SQL engine cannot open others, and
// "check" would report every file of a sound store.
func readableName(dir string) error {
	path, err := filepath.Abs(dir)
	if err == nil && !utf8.ValidString(path) {
		err = fmt.Errorf("the store %s: its path is not UTF-8, which the SQL engine cannot read (rename the folder, or name a link to it)", dir)
	}
	return err
}

// localCache returns the folder for local copies of S3 objects, even in a container without a home
// directory.
func localCache() string {
	return cmp.Or(defaultCache(), filepath.Join(os.TempDir(), fmt.Sprintf("stackmill.%d", os.Geteuid())))
}

// ownCache creates localCache. If that is in the folder for temporary files, another user may have
// created it: it must belong to this user.
func ownCache() (string, error) {
	dir := localCache()
	if dir == defaultCache() {
		return dir, nil
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if stat, ok := info.Sys().(*syscall.Stat_t); !ok || !info.IsDir() || int(stat.Uid) != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return "", fmt.Errorf("%s: others can write there (set XDG_CACHE_HOME to a folder of your own)", dir)
	}
	return dir, nil
}
