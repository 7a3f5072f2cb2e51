// Package cache loads the tables of load objects: from memory, from a cache on
// disk that processes share, or anew from the files.
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

// Options are where a Loader looks and what it may keep.
type Options struct {
	CacheDir    string   // folder of the cache on disk; empty: none
	Shared      Shared   // behind that, if there is one; may be nil
	DebugDirs   []string // roots of separate debug files; nil: DefaultDebugDirs
	MemoryLimit int64    // bytes of tables kept in memory; 0: 512 MiB
}

// Loader loads tables. It is safe for concurrent use; an object is read once,
// however many ask for it at a time.
type Loader struct {
	options  Options
	disk     disk
	contents contents
	claims   claims
	flights  singleflight.Group

	mu    sync.Mutex
	paths map[pathKey]identity
	kept  map[string]*list.Element // of *entry
	used  *list.List               // latest first
	bytes int64
}

type entry struct {
	key     string
	table   sized
	missing []string // files that were looked for in vain
	bytes   int64
}

// sized is a table of symbols, of call frame information, or of types and variables.
type sized interface{ Bytes() int64 }

// pathKey distinguishes a file from earlier and later ones of the same path, and
// by where files that belong to it are looked for.
type pathKey struct {
	context context
	stamp   safefile.Stamp
}

// context is what leads to the files that belong to an object: its folder, where
// it was recorded, and what stands for the root there.
type context struct{ folder, recorded, root string }

// identity is what a file's table depends on.
type identity struct {
	key     string        // hash of the contents of the file and those that belong to it
	content uint64        // hash of the file, 0 when it has a build-id
	notes   []symtab.Note // about debug files that do not fit
	context context
}

// New makes a Loader.
func New(o Options) *Loader {
	if o.DebugDirs == nil {
		o.DebugDirs = DefaultDebugDirs()
	}
	if o.MemoryLimit == 0 {
		o.MemoryLimit = defaultMemory
	}
	return &Loader{
		options:  o,
		disk:     disk{o.CacheDir, o.Shared, new(sync.Once)},
		contents: contents{dir: o.CacheDir, known: map[safefile.Stamp]content{}},
		claims:   claims{disk: disk{dir: o.CacheDir}, first: map[string]string{}, notes: map[string][]symtab.Note{}},
		paths:    map[pathKey]identity{},
		kept:     map[string]*list.Element{},
		used:     list.New(),
	}
}

// Load returns the table of the load object in a file. The error wraps an
// *os.PathError or infile's, elf.ErrNotELF or elf.ErrUnreadable. The table is shared:
// it must not be changed.
func (l *Loader) Load(path string) (*symtab.Table, error) {
	return l.load(path, elf.Places{})
}

func (l *Loader) load(path string, places elf.Places) (*symtab.Table, error) {
	t, id, err := l.table(path, places)
	if err != nil {
		return nil, err
	}
	return l.noted(t, id), nil
}

// table is load without the notes, which depend on what was loaded before.
func (l *Loader) table(path string, places elf.Places) (t *symtab.Table, id identity, err error) {
	info, err := safefile.Stat(path)
	if err != nil {
		return nil, id, err
	}
	at := pathKey{contextOf(path, places), safefile.StampOf(info)}
	l.mu.Lock()
	id, known := l.paths[at]
	l.mu.Unlock()
	if known {
		for _, key := range []string{id.own(""), id.key} {
			if e := l.lookup(key); e != nil {
				return e.table.(*symtab.Table), id, nil
			}
		}
	}
	s, err := l.open(path, places)
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

// crowded reports whether there is no room for tables that nobody has asked for yet.
func (l *Loader) crowded() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.bytes > l.options.MemoryLimit/2
}

// beside returns another table of a load object's file than that of its symbols:
// from memory, or as get makes it. It is T's zero value for a list of symbols.
func beside[T sized](l *Loader, path string, places elf.Places, suffix string, get func(*source) (T, []string, error)) (t T, err error) {
	s, err := l.open(path, places)
	if err != nil {
		return t, err
	}
	defer s.close()
	if s.object == nil {
		return t, nil
	}
	return share(l, s, suffix, func() (T, []string, error) { return get(s) })
}

// share returns a table from memory, or as get makes it with the files that it
// lacks, once for all who ask at a time. Tables made with `.dwo` files, whose
// contents are not in the key, are shared only by those who find the same ones.
func share[T sized](l *Loader, s *source, suffix string, get func() (T, []string, error)) (t T, err error) {
	for _, key := range []string{s.key + suffix, s.own(suffix)} {
		v, err, _ := l.flights.Do(key, func() (any, error) {
			for _, k := range []string{s.own(suffix), key} {
				if e := l.lookup(k); e != nil && !s.appeared(e.missing) {
					return made{e.table, s.context, k == s.own(suffix)}, nil
				}
			}
			t, missing, err := get()
			if err != nil {
				return nil, err
			}
			local := s.local()
			if local {
				l.keep(s.own(suffix), t, missing)
			} else {
				l.keep(key, t, missing)
			}
			return made{t, s.context, local}, nil
		})
		if err != nil {
			return t, err
		}
		if m := v.(made); !m.local || m.context == s.context {
			return m.table.(T), nil
		}
	}
	panic("own tables are of one context")
}

// made is a table, with the context that it is for.
type made struct {
	table   sized
	context context
	local   bool
}

// own is the key of a table for this context only.
func (id *identity) own(suffix string) string {
	return fmt.Sprintf("%s%s %q", id.key, suffix, id.context)
}

func contextOf(path string, places elf.Places) context {
	return context{filepath.Dir(path), places.Recorded, places.Root}
}

// noted returns the table with the notes on this file: on debug files that do not
// fit, and on a build-id that other files have too.
func (l *Loader) noted(t *symtab.Table, id identity) *symtab.Table {
	return noted(t, append(slices.Clip(id.notes), l.claims.check(id.key, t, func(key string) *symtab.Table {
		if e := l.lookup(key); e != nil {
			return e.table.(*symtab.Table)
		}
		t, _ := l.disk.read(key)
		return t
	})...))
}

// noted returns the table with further notes.
func noted(t *symtab.Table, notes []symtab.Note) *symtab.Table {
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
	e, ok := l.kept[key]
	if !ok {
		return nil
	}
	l.used.MoveToFront(e)
	return e.Value.(*entry)
}

// keep adds a table and drops those used longest ago, but never the new one.
func (l *Loader) keep(key string, t sized, missing []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if old, ok := l.kept[key]; ok { // it lacked a file that is there now
		l.bytes -= l.used.Remove(old).(*entry).bytes
	}
	e := &entry{key, t, missing, t.Bytes()}
	l.kept[key] = l.used.PushFront(e)
	l.bytes += e.bytes
	for l.bytes > l.options.MemoryLimit && l.used.Len() > 1 {
		old := l.used.Remove(l.used.Back()).(*entry)
		delete(l.kept, old.key)
		l.bytes -= old.bytes
	}
}

// source is an opened load object with its debug file.
type source struct {
	identity
	object, debug *elf.File
	list          func() (*symtab.Table, error) // makes the table of a list of symbols instead
}

// open maps the files and identifies them.
func open(path string, dirs []string, places elf.Places) (*source, error) {
	return openWith(&contents{}, path, dirs, places)
}

func (l *Loader) open(path string, places elf.Places) (*source, error) {
	return openWith(&l.contents, path, l.options.DebugDirs, places)
}

func openWith(c *contents, path string, dirs []string, places elf.Places) (s *source, err error) {
	s = &source{identity: identity{context: contextOf(path, places)}}
	l, err := openList(c, path)
	if err != nil {
		return nil, err
	}
	if l != nil {
		s.key, s.content = fmt.Sprintf("l%x", l.digest), l.short
		s.list = func() (*symtab.Table, error) { return l.table(c) }
		return s, nil
	}
	failed := elf.Guard(path, func() {
		if s.object, err = elf.Open(path); err == nil {
			s.object.Places = places
			s.debug, s.notes = elf.FindDebug(s.object, dirs)
			s.key, s.content = s.identify(c)
			err = s.fault()
		}
	})
	if err = cmp.Or(failed, err); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// identify names what a table is made of: the contents of the file, its debug
// file, what dwz moved out of them, and the packages of split debug information.
func (s *source) identify(c *contents) (key string, short uint64) {
	h := sha256.New()
	add := func(role string, f *elf.File) content {
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
		for _, file := range s.object.Packages(s.debug) {
			if p, err := s.object.OpenBeside(file); err == nil {
				add("package", p)
				p.Close()
			}
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)), short
}

// fault is an error of the machine that kept a file from being read.
func (s *source) fault() error {
	for _, f := range []*elf.File{s.object, s.debug} {
		if f != nil && f.Fault != nil {
			return hosterr.New(f.Fault)
		}
	}
	return nil
}

// local reports whether what was read depends on files that are not in the key.
func (s *source) local() bool {
	return s.object != nil && s.object.Beside || s.debug != nil && s.debug.Beside
}

// appeared reports whether files that were missing are there now.
func (s *source) appeared(missing []string) bool {
	if len(missing) == 0 {
		return false
	}
	folders := s.object.Folders()
	if s.debug != nil {
		folders = append(folders, s.debug.Folders()...)
	}
	return appeared(missing, append(folders, s.object.Places.Dirs...))
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
	return t, missing, cmp.Or(err, s.fault())
}

func (s *source) close() {
	if s.object != nil {
		s.object.Close()
	}
	if s.debug != nil {
		s.debug.Close()
	}
}
