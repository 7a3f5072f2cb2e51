// Package s3cache keeps a store of S3-compatible storage: a local directory, which is a store
// like any other, has its commits, and those files of its tables that were needed lately.
//
//	s3://BUCKET/PREFIX/tables/<table>/<attempt>.parquet   immutable
//	s3://BUCKET/PREFIX/commits/<batch>.json               immutable, created by If-None-Match
//	s3://BUCKET/PREFIX/journal.json, plans/               hints and reports, replaced
//
//	DIR/store/                the mirror
//	DIR/uses/<random>         what a process has open, locked as long as it lives
//	DIR/parts/<random>        what is being brought
//	DIR/known                 of which object each file of the mirror is a copy
//	DIR/lock                  held while files are chosen to be removed
//
// An attempt to write a batch has a name that no other has, on any machine: its files are put
// first, then the commit, which succeeds for one. What loses, or is killed before, leaves
// files that no commit names. Collect removes them when they are too old for an attempt to
// name them any more, by the clock of the storage: attempts give up before.
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

// Options say how much a mirror may take.
type Options struct {
	Dir  string // directory of mirrors
	Size int64  // bytes of the files of tables in one
}

// OrphansVariable is an environment variable: how old a file is that no commit names when it
// is removed. It must be the same for all who write a store.
const OrphansVariable = "STACKMILL_S3_ORPHANS"

const defaultOrphans = 24 * time.Hour

// Cache is that of one store.
type Cache struct {
	Dir       string // of the store
	at        objstore.Address
	client    *objstore.Client
	ctx       context.Context
	size      int64
	orphanAge time.Duration

	mu        sync.Mutex
	modified  map[string]time.Time // when commits came to be, by their names, by the server's clock
	clock     serverClock
	copies    *copyIndex
	pins      *pinList
	committed map[string]bool // attempts that are committed: their files may go
}

// concurrency is how many objects are read or written at once.
const concurrency = 16

// Open makes a directory the mirror of the store at an address, as long as the process lives.
// The context ends what reads; what commits goes on.
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
			return nil, fmt.Errorf("%s: its mirror: %w", at, err)
		}
	}
	cachetag.Put(o.Dir)
	m.removeOldParts()
	if m.pins, err = newPinList(m.sibling("uses")); err != nil {
		return nil, fmt.Errorf("%s: its mirror: %w", at, err)
	}
	if m.copies, err = openCopyIndex(m.Dir, m.sibling("known")); err != nil {
		return nil, fmt.Errorf("%s: its mirror: %w", at, err)
	}
	storedir.SetRemote(m.Dir, m)
	return m, nil
}

// Requests are those sent so far.
func (m *Cache) Requests() objstore.Requests { return m.client.Requests() }

func (m *Cache) String() string { return m.at.String() }

// sibling is a path next to the mirror.
func (m *Cache) sibling(name string) string { return filepath.Join(filepath.Dir(m.Dir), name) }

// local is the path of a file of the store in the mirror.
func (m *Cache) local(file string) string { return filepath.Join(m.Dir, filepath.FromSlash(file)) }

// maxPartAge is how old a part is that nobody brings any more.
const maxPartAge = 24 * time.Hour

// removeOldParts removes what killed processes have brought in part.
func (m *Cache) removeOldParts() {
	entries, _ := os.ReadDir(m.sibling("parts")) // nothing to do
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > maxPartAge {
			_ = os.Remove(filepath.Join(m.sibling("parts"), e.Name())) // the next process does
		}
	}
}

// writeFile makes a file of the mirror, whole or not at all, of what write writes.
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

// relative is what an object is called in the store; false if no file of it can be called so.
func (m *Cache) relative(o *objstore.Object) (name string, ok bool) {
	name, ok = strings.CutPrefix(o.Key, m.at.Key)
	if m.at.Key != "" && ok {
		name, ok = strings.CutPrefix(name, "/")
	}
	return name, ok && isName(name)
}

// isName reports whether a file of a store can have a name, which is then that of one object
// and one file: it leads nowhere else.
func isName(name string) bool {
	return path.Clean(name) == name && filepath.IsLocal(filepath.FromSlash(name)) && utf8.ValidString(name) &&
		!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) &&
		!slices.ContainsFunc(strings.Split(name, "/"), func(part string) bool { return len(part) > maxName })
}

// maxName is how many bytes a file's name may have.
const maxName = 255
