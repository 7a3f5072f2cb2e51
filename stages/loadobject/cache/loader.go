// Package cache loads the tables of load objects from memory, from a cache on
// disk that processes share, or from the objects' files.
//
// Start reading with Recording.Load (recording.go) and Loader.table, then source.identify, which
// makes the key; disk.go reads and writes the cache files.
package cache

import (
	"cmp"
	"container/list"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"golang.org/x/sync/singleflight"

	"stackmill/internal/hosterr"
	"stackmill/internal/safefile"
	"stackmill/stages/loadobject/dwarf"
	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/functions"
	"stackmill/stages/loadobject/symtab"
)

// defaultMemory is used when Options.MemoryLimit is 0.
const defaultMemory = 512 << 20

// Options configure a Loader.
type Options struct {
	CacheDir    string      // folder of the cache on disk; empty: none
	Shared      SharedCache // cache behind the one on disk; may be nil
	DebugDirs   []string    // roots of separate debug files; nil: DefaultDebugDirs
	MemoryLimit int64       // bytes of tables kept in memory; 0: 512 MiB
}

// Loader loads tables. It is safe for concurrent use; concurrent requests for an object read it
// once.
type Loader struct {
	options Options
	disk    disk
	hashes  hashCache
	claims  claims
	flights singleflight.Group

	mu     sync.Mutex
	paths  map[pathKey]identity
	tables map[string]*list.Element // the values are *entry
	recent *list.List               // the same values, most recently used first
	bytes  int64
}

type entry struct {
	key     string
	table   cachedTable
	missing []string // files that were not found
	bytes   int64
}

// cachedTable is a table of any kind: of symbols, variables, call frame information, or types.
type cachedTable interface{ Bytes() int64 }

// pathKey identifies a version of a file (another file may later have the same path), and the
// places where its related files are searched for.
type pathKey struct {
	search searchContext
	stamp  safefile.Stamp
}

// searchContext says where to search for files that belong to an object, such as debug files: the
// object's folder, its recorded path, and the folder that replaces the recorded machine's root.
type searchContext struct{ folder, recorded, root string }

// identity identifies a file's table.
type identity struct {
	key     string        // hash of the contents of the file and its related files
	content uint64        // hash of the file, 0 if it has a build-id
	notes   []symtab.Note // about debug files that do not match
	search  searchContext
}

// New makes a Loader.
func New(o Options) *Loader {
	if o.DebugDirs == nil {
		o.DebugDirs = DefaultDebugDirs()
	}
	o.MemoryLimit = cmp.Or(o.MemoryLimit, defaultMemory)
	return &Loader{
		options: o,
		disk:    disk{o.CacheDir, o.Shared, new(sync.Once)},
		hashes:  hashCache{dir: o.CacheDir},
		claims:  claims{disk: disk{dir: o.CacheDir}, first: map[string]string{}, notes: map[string][]symtab.Note{}},
		paths:   map[pathKey]identity{},
		tables:  map[string]*list.Element{},
		recent:  list.New(),
	}
}

// table returns the symbols of a load object, like Recording.Load, but without the notes that
// depend on earlier loads.
func (l *Loader) table(path string, search elf.SearchPaths) (t *symtab.Table, id identity, err error) {
	info, err := safefile.Stat(path)
	if err != nil {
		return nil, id, err
	}
	at := pathKey{contextOf(path, search), safefile.StampOf(info)}
	l.mu.Lock()
	id, known := l.paths[at]
	l.mu.Unlock()
	if known {
		for _, key := range []string{id.contextKey(""), id.key} {
			if e := l.lookup(key); e != nil {
				return e.table.(*symtab.Table), id, nil
			}
		}
	}
	s, err := l.open(path, search)
	if err != nil {
		return nil, id, err
	}
	defer s.close()
	l.mu.Lock()
	l.paths[at] = s.identity
	l.mu.Unlock()
	t, err = share(l, s, "", func() (t *symtab.Table, missing []string, err error) {
		if t, missing = l.disk.read(s.key); t == nil || s.appeared(missing) {
			if t, missing, err = s.build(); err != nil {
				return nil, nil, err
			}
			if !s.local() {
				l.disk.write(s.key, missing, t)
			}
		}
		t.Content, t.Key, t.Alone = s.content, s.key, s.local()
		return t, missing, nil
	})
	return t, s.identity, err
}

// halfFull reports whether tables take half of the memory limit: then prefetching stops.
func (l *Loader) halfFull() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bytes > l.options.MemoryLimit/2
}

// loadTable returns a load object's table of kind T, from memory or from get. The kind is not
// symbols: see Loader.table. For a list of symbols it returns T's zero value.
func loadTable[T cachedTable](r *Recording, path, suffix string, get func(*source) (T, []string, error)) (t T, err error) {
	defer func() { r.recordHostErr(err) }()
	s, err := r.loader.open(path, r.search(path))
	if err != nil {
		return t, err
	}
	defer s.close()
	if s.object == nil {
		return t, nil
	}
	return share(r.loader, s, suffix, func() (T, []string, error) { return get(s) })
}

// share returns a table from memory or from get, which also returns the names of missing files.
// Concurrent requests call get once. The key does not cover the contents of `.dwo` files: a table
// that was built with such files is shared only among requests with the same search context.
func share[T cachedTable](l *Loader, s *source, suffix string, get func() (T, []string, error)) (t T, err error) {
	for _, key := range []string{s.key + suffix, s.contextKey(suffix)} {
		v, err, _ := l.flights.Do(key, func() (any, error) {
			for _, k := range []string{s.contextKey(suffix), key} {
				if e := l.lookup(k); e != nil && !s.appeared(e.missing) {
					return sharedTable{e.table, s.search, k == s.contextKey(suffix)}, nil
				}
			}
			t, missing, err := get()
			if err != nil {
				return nil, err
			}
			local := s.local()
			if local {
				l.keep(s.contextKey(suffix), t, missing)
			} else {
				l.keep(key, t, missing)
			}
			return sharedTable{t, s.search, local}, nil
		})
		if err != nil {
			return t, err
		}
		if m := v.(sharedTable); !m.local || m.search == s.search {
			return m.table.(T), nil
		}
	}
	panic("a context key was shared by two contexts")
}

// sharedTable is a table that may be used for one search context only (local), or for all.
type sharedTable struct {
	table  cachedTable
	search searchContext
	local  bool
}

// contextKey returns the key of a table that may be used for this search context only.
func (id *identity) contextKey(suffix string) string {
	return fmt.Sprintf("%s%s %q", id.key, suffix, id.search)
}

func contextOf(path string, search elf.SearchPaths) searchContext {
	return searchContext{filepath.Dir(path), search.Recorded, search.Root}
}

// withNotes returns the table with notes on this file: about debug files that do not match, and
// about another program with the same build-id.
func (l *Loader) withNotes(t *symtab.Table, id identity) *symtab.Table {
	return addNotes(t, append(slices.Clip(id.notes), l.claims.check(id.key, t, func(key string) *symtab.Table {
		if e := l.lookup(key); e != nil {
			return e.table.(*symtab.Table)
		}
		t, _ := l.disk.read(key)
		return t
	})...))
}

// addNotes returns a copy of the table with further notes.
func addNotes(t *symtab.Table, notes []symtab.Note) *symtab.Table {
	if len(notes) == 0 {
		return t
	}
	c := *t
	c.Notes = append(slices.Clip(c.Notes), notes...)
	return &c
}

func (l *Loader) lookup(key string) *entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.tables[key]
	if !ok {
		return nil
	}
	l.recent.MoveToFront(e)
	return e.Value.(*entry)
}

// keep stores a table in memory. It drops the least recently used tables, but never the new one.
func (l *Loader) keep(key string, t cachedTable, missing []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if old, ok := l.tables[key]; ok { // rebuilt because a missing file appeared
		l.bytes -= l.recent.Remove(old).(*entry).bytes
	}
	e := &entry{key, t, missing, t.Bytes()}
	l.tables[key] = l.recent.PushFront(e)
	l.bytes += e.bytes
	for l.bytes > l.options.MemoryLimit && l.recent.Len() > 1 {
		old := l.recent.Remove(l.recent.Back()).(*entry)
		delete(l.tables, old.key)
		l.bytes -= old.bytes
	}
}

// source is an opened load object with its debug file, or a list of symbols.
type source struct {
	identity
	object, debug *elf.File
	list          func() (*symtab.Table, error) // builds the table of a list of symbols
}

// open maps the files and identifies them.
func (l *Loader) open(path string, search elf.SearchPaths) (s *source, err error) {
	c := &l.hashes
	s = &source{identity: identity{search: contextOf(path, search)}}
	symbols, err := openList(c, path)
	if err != nil {
		return nil, err
	}
	if symbols != nil {
		s.key, s.content = fmt.Sprintf("l%x", symbols.hash.digest), symbols.hash.short
		s.list = func() (*symtab.Table, error) { return symbols.table(c) }
		return s, nil
	}
	failed := elf.Guard(path, func() {
		if s.object, err = elf.Open(path); err == nil {
			s.object.Search = search
			s.debug, s.notes = elf.FindDebug(s.object, l.options.DebugDirs)
			s.key, s.content = s.identify(c)
			err = s.hostErr()
		}
	})
	if err = cmp.Or(failed, err); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// identify hashes the inputs of a table: the contents of the file, its debug
// file, their supplementary files, and the packages of split debug information.
func (s *source) identify(c *hashCache) (key string, short uint64) {
	h := sha256.New()
	add := func(role string, f *elf.File) fileHash {
		x := c.of(f)
		fmt.Fprintf(h, "%s %t %x\n", role, f.Packed, x.digest)
		return x
	}
	short = add("object", s.object).short
	if s.debug != nil {
		add("debug", s.debug)
	}
	for _, f := range []*elf.File{s.object, s.debug} {
		if f == nil || !dwarf.Has(f) {
			continue
		}
		if supplement, err := f.Supplement(); err == nil && supplement != nil {
			add("alternate", supplement)
			supplement.Close()
		}
	}
	if dwarf.Has(s.object) || s.debug != nil && dwarf.Has(s.debug) {
		for _, file := range s.object.DWPPaths(s.debug) {
			if p, err := s.object.OpenRelated(file); err == nil {
				add("package", p)
				p.Close()
			}
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)), short
}

// hostErr returns the host error that prevented a file from being read, if any.
func (s *source) hostErr() error {
	for _, f := range []*elf.File{s.object, s.debug} {
		if f != nil && f.HostErr != nil {
			return hosterr.New(f.HostErr)
		}
	}
	return nil
}

// local reports whether the tables depend on `.dwo` files, whose contents the key does not cover.
func (s *source) local() bool {
	return s.object != nil && s.object.UsedDWO || s.debug != nil && s.debug.UsedDWO
}

// appeared reports whether a missing file exists now.
func (s *source) appeared(missing []string) bool {
	if len(missing) == 0 {
		return false
	}
	folders := s.object.Folders()
	if s.debug != nil {
		folders = append(folders, s.debug.Folders()...)
	}
	return appeared(missing, append(folders, s.object.Search.Dirs...))
}

func (s *source) build() (t *symtab.Table, missing []string, err error) {
	if s.list != nil {
		t, err = s.list()
		return t, nil, err
	}
	err = elf.Guard(s.object.Path, func() {
		draft := symtab.Read(s.object, s.debug)
		missing = functions.Add(draft, s.object, s.debug)
		t = draft.Finish()
	})
	return t, missing, cmp.Or(err, s.hostErr())
}

func (s *source) close() {
	if s.object != nil {
		s.object.Close()
	}
	if s.debug != nil {
		s.debug.Close()
	}
}
