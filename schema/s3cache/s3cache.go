// Package s3cache is the local cache of a store on S3-compatible storage: a directory that is
// itself a store, with all commits and the recently used table files.
//
//	s3://BUCKET/PREFIX/tables/<table>/<attempt>.parquet   immutable
//	s3://BUCKET/PREFIX/commits/<batch>.json               immutable, created by If-None-Match
//	s3://BUCKET/PREFIX/journal.json, plans/               hints and reports, replaced
//
//	DIR/store/                the cached store
//	DIR/uses/<random>         the table files that a process needs; locked while it lives
//	DIR/parts/<random>        unfinished downloads
//	DIR/known                 log of which object each cached file is a copy of
//	DIR/lock                  lock file, held during eviction
//
// Each attempt to write a batch has a name that no other attempt has, on any machine. It uploads
// the batch's files first and then the commit, which succeeds for exactly one attempt. An attempt
// that loses or is killed leaves files that no commit names. CollectGarbage removes such files once
// they are so old, by the storage's clock, that their attempt must have given up.
//
// Start reading with Open, then Cache.Pull (pull.go) and Cache.Fetch (fetch.go).
package s3cache

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"stackmill/internal/cachetag"
	"stackmill/internal/objstore"
	"stackmill/schema/storedir"
)

// Options configure a cache.
type Options struct {
	Dir  string // directory that contains all caches
	Size int64  // maximum bytes of table files in one cache
}

// OrphansVariable is the environment variable with the age from which on CollectGarbage removes
// files that no commit names. It must be the same on all machines that write a store.
const OrphansVariable = "STACKMILL_S3_ORPHANS"

const defaultOrphans = 24 * time.Hour

// Cache is the cache of one store.
type Cache struct {
	Dir       string // directory of the cached store
	at        objstore.Address
	client    *objstore.Client
	ctx       context.Context
	size      int64
	orphanAge time.Duration

	mu        sync.Mutex
	modified  map[string]time.Time // dates of commits by batch, by the storage's clock
	clock     serverClock
	copies    *copyIndex
	pins      *pinList
	committed map[string]bool // attempts that are committed: evict may remove their files
}

// concurrency is the number of concurrent requests.
const concurrency = 16

// Open makes a directory the cache of the store at an address, for the life of the process.
// Canceling the context ends reads, but not commits.
func Open(ctx context.Context, address string, o Options) (*Cache, error) {
	at, err := objstore.Parse(address)
	if err != nil {
		return nil, err
	}
	m := &Cache{at: at, ctx: ctx, committed: map[string]bool{}, size: o.Size, orphanAge: defaultOrphans}
	if text := os.Getenv(OrphansVariable); text != "" {
		if m.orphanAge, err = time.ParseDuration(text); err != nil || m.orphanAge <= 0 {
			return nil, fmt.Errorf("%s: %q is not a duration (write 24h)", OrphansVariable, text)
		}
	}
	if m.client, err = objstore.Shared(); err != nil {
		return nil, err
	}
	base, err := filepath.Abs(filepath.Join(o.Dir, "stores", fmt.Sprintf("%016x", xxhash.Sum64String(m.client.Endpoint()+"\n"+at.String()))))
	if err != nil {
		return nil, err
	}
	m.Dir = filepath.Join(base, "store")
	for _, dir := range []string{m.Dir, m.sibling("uses"), m.sibling("parts")} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("%s: its local copy: %w", at, err)
		}
	}
	cachetag.Put(o.Dir)
	m.removeOldParts()
	if m.pins, err = newPinList(m.sibling("uses")); err != nil {
		return nil, fmt.Errorf("%s: its local copy: %w", at, err)
	}
	if m.copies, err = openCopyIndex(m.Dir, m.sibling("known")); err != nil {
		return nil, fmt.Errorf("%s: its local copy: %w", at, err)
	}
	storedir.SetRemote(m.Dir, m)
	return m, nil
}

// Requests returns the number of requests so far.
func (m *Cache) Requests() objstore.Requests { return m.client.Requests() }

func (m *Cache) String() string { return m.at.String() }

// sibling returns a path next to the cached store.
func (m *Cache) sibling(name string) string { return filepath.Join(filepath.Dir(m.Dir), name) }

// local returns the path of a store's file in the cache.
func (m *Cache) local(file string) string { return filepath.Join(m.Dir, filepath.FromSlash(file)) }

// maxPartAge is the age at which an unfinished download is abandoned.
const maxPartAge = 24 * time.Hour

// removeOldParts removes unfinished downloads of killed processes.
func (m *Cache) removeOldParts() {
	entries, _ := os.ReadDir(m.sibling("parts")) // if it cannot be read, the next process tries again
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > maxPartAge {
			_ = os.Remove(filepath.Join(m.sibling("parts"), e.Name())) // the next process tries again
		}
	}
}

// writeFile writes a cached file completely or not at all.
func (m *Cache) writeFile(file string, write func(f *os.File) error) error {
	temp := filepath.Join(m.sibling("parts"), fmt.Sprintf("%016x", rand.Uint64()))
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o666)
	if err != nil {
		return err
	}
	err = errors.Join(write(f), f.Close())
	if err == nil {
		err = os.MkdirAll(filepath.Dir(m.local(file)), 0o777)
	}
	if err == nil {
		err = os.Rename(temp, m.local(file))
	}
	if err != nil {
		err = errors.Join(err, os.Remove(temp))
	}
	return err
}

// relative returns the path of an object relative to the store; false if it cannot be a store's
// file.
func (m *Cache) relative(o *objstore.Object) (name string, ok bool) {
	name, ok = strings.CutPrefix(o.Key, m.at.Key)
	if m.at.Key != "" && ok {
		name, ok = strings.CutPrefix(name, "/")
	}
	return name, ok && isName(name)
}

// isName reports whether a name is acceptable for a file of the store: it maps to exactly one
// object, and to exactly one file, which is within the cache.
func isName(name string) bool {
	return path.Clean(name) == name && filepath.IsLocal(filepath.FromSlash(name)) && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) &&
		!slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return len(part) > maxName })
}

// maxName is the maximum length of a file name in bytes.
const maxName = 255
