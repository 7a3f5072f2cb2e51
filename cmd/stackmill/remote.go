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

// reach sets the store that the verb is about. Of one on S3 that is a mirror: all that reads
// and writes stores does not know the difference.
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
		return fmt.Errorf("%s: its mirror: %w", store, err)
	}
	m, err := s3cache.Open(ctx, store, s3cache.Options{Dir: cache, Size: size})
	if err != nil {
		return err
	}
	a.store = m.Dir
	return readableName(m.Dir)
}

// readableName returns an error if the SQL engine cannot name a directory: it takes only UTF-8.
// Without this, "check" would call every file of a sound store wrong.
func readableName(dir string) error {
	path, err := filepath.Abs(dir)
	if err == nil && !utf8.ValidString(path) {
		err = fmt.Errorf("the store %s: its path is not UTF-8, which the SQL engine cannot read (rename the folder, or name a link to it)", dir)
	}
	return err
}

// localCache is where a part is kept of what is on S3: also in a container without a home.
func localCache() string {
	return cmp.Or(defaultCache(), filepath.Join(os.TempDir(), fmt.Sprintf("stackmill.%d", os.Geteuid())))
}

// ownCache is localCache for use. In the folder for temporary files others may have made it first:
// there, it must be this user's own.
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
