// Package tables loads the tables of load objects: from memory, from a cache on
// disk that processes share, or anew from the files.
package tables

import (
	"cmp"
	"container/list"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"sync"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/sync/singleflight"
	"golang.org/x/sys/unix"

	"stackmill/stages/symbolize/debuginfo"
	"stackmill/stages/symbolize/symtab"
	"stackmill/stages/symbolize/symtab/object"
)

// defaultMemory is used when Options.MemoryLimit is 0.
const defaultMemory = 512 << 20

// Options say where a Loader looks and what it may keep.
type Options struct {
	CacheDir    string   // folder of the cache on disk; empty: none
	DebugDirs   []string // roots of separate debug files; nil: DefaultDebugDirs
	MemoryLimit int64    // bytes of tables kept in memory; 0: 512 MiB
}

// Loader loads tables. It is safe for concurrent use; an object is read once,
// however many ask for it at a time.
type Loader struct {
	options Options
	disk    disk
	flights singleflight.Group

	mu    sync.Mutex
	paths map[pathKey]identity
	kept  map[string]*list.Element // of *entry
	used  *list.List               // latest first
	bytes int64
}

type entry struct {
	key   string
	table sized
	bytes int64
}

// sized is a table of symbols, of call frame information, or of types and variables.
type sized interface{ Bytes() int64 }

// pathKey tells a file from what stood or will stand under its path. The folder
// counts because debug files are searched in it, and so do the recorded path and
// what stands for its root.
type pathKey struct {
	folder   string
	recorded string
	root     string
	dev, ino uint64
	size     int64
	modified unix.Timespec
}

// identity is what a file's table depends on.
type identity struct {
	key     string        // build-id or content, size, and the debug file
	content uint64        // hash of the file, 0 when it has a build-id
	notes   []symtab.Note // about debug files that do not fit
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
		options: o,
		disk:    disk{o.CacheDir},
		paths:   map[pathKey]identity{},
		kept:    map[string]*list.Element{},
		used:    list.New(),
	}
}

// Load returns the table of the load object in a file. The error is an
// *os.PathError, or wraps object.ErrNotELF or ErrUnreadable. The table is shared:
// it must not be changed.
func (l *Loader) Load(path string) (*symtab.Table, error) {
	return l.load(path, object.Places{})
}

func (l *Loader) load(path string, places object.Places) (*symtab.Table, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	at := pathKey{filepath.Dir(path), places.Recorded, places.Root, uint64(st.Dev), st.Ino, st.Size, st.Mtim}
	l.mu.Lock()
	id, known := l.paths[at]
	l.mu.Unlock()
	if known {
		if t, ok := l.lookup(id.key).(*symtab.Table); ok {
			return noted(t, id.notes), nil
		}
	}
	s, err := open(path, l.options.DebugDirs, places)
	if err != nil {
		return nil, err
	}
	defer s.close()
	l.mu.Lock()
	l.paths[at] = s.identity
	l.mu.Unlock()
	v, err, _ := l.flights.Do(s.key, func() (any, error) {
		if t := l.lookup(s.key); t != nil {
			return t, nil
		}
		t := l.disk.read(s.key)
		if t == nil {
			built, missing, err := s.build()
			if err != nil {
				return nil, err
			}
			t = built
			l.disk.write(s.key, missing, t)
		}
		t.Content = s.content
		l.keep(s.key, t)
		return t, nil
	})
	if err != nil {
		return nil, err
	}
	return noted(v.(*symtab.Table), s.notes), nil
}

// beside returns a table of a load object's file that is kept beside that of its
// symbols: from memory, or as get gives it. It is T's zero for a list of symbols.
func beside[T sized](l *Loader, path string, places object.Places, suffix string, get func(*source) (T, error)) (t T, err error) {
	s, err := open(path, l.options.DebugDirs, places)
	if err != nil {
		return t, err
	}
	defer s.close()
	if s.object == nil {
		return t, nil
	}
	kept := s.key + suffix
	v, err, _ := l.flights.Do(kept, func() (any, error) {
		if t := l.lookup(kept); t != nil {
			return t, nil
		}
		t, err := get(s)
		if err == nil {
			l.keep(kept, t)
		}
		return t, err
	})
	if err != nil {
		return t, err
	}
	return v.(T), nil
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

func (l *Loader) lookup(key string) sized {
	l.mu.Lock()
	defer l.mu.Unlock()
	e, ok := l.kept[key]
	if !ok {
		return nil
	}
	l.used.MoveToFront(e)
	return e.Value.(*entry).table
}

// keep adds a table and drops those used longest ago, but never the new one.
func (l *Loader) keep(key string, t sized) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, ok := l.kept[key]; ok {
		return
	}
	e := &entry{key, t, t.Bytes()}
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
	object, debug *object.File
	list          func() *symtab.Table // reads a list of symbols instead
}

// ErrUnreadable says that a file's content could not be read: it shrank or its
// device failed while it was mapped.
var ErrUnreadable = errors.New("the file became unreadable while it was read")

// guard turns a fault in mapped memory, or a panic over hostile input, into an
// error.
func guard(path string, f func()) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch r := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			err = fmt.Errorf("%s: %w", path, ErrUnreadable)
		default:
			err = fmt.Errorf("%s: %w: %v", path, object.ErrNotELF, r)
		}
	}()
	f()
	return nil
}

// open maps the files and identifies them.
func open(path string, dirs []string, places object.Places) (s *source, err error) {
	s = &source{}
	if text, read := readList(path); text != nil {
		sum := xxhash.Sum64(text)
		return &source{identity: identity{key: fmt.Sprintf("l%016x-%x", sum, len(text)), content: sum}, list: func() *symtab.Table { return read(text) }}, nil
	}
	fault := guard(path, func() {
		if s.object, err = object.Open(path); err == nil {
			s.object.Places = places
			s.debug, s.notes = object.FindDebug(s.object, dirs)
			s.key, s.content = identify(s.object)
			if s.debug != nil {
				key, _ := identify(s.debug)
				s.key += "-" + key
			}
		}
	})
	if err = cmp.Or(fault, err); err != nil {
		s.close()
		return nil, err
	}
	return s, nil
}

// identify names a file by its build-id, or else by the hash of its content, and
// its size.
func identify(f *object.File) (key string, content uint64) {
	id := f.BuildID()
	if id == "" {
		content = xxhash.Sum64(f.Bytes())
		id = fmt.Sprintf("x%016x", content)
	}
	if f.Packed {
		id += "-packed"
	}
	return fmt.Sprintf("%s-%x", id, len(f.Bytes())), content
}

func (s *source) build() (t *symtab.Table, missing []string, err error) {
	if s.list != nil {
		return s.list(), nil, nil
	}
	err = guard(s.object.Path, func() {
		t = symtab.Read(s.object, s.debug)
		missing = debuginfo.Add(t, s.object, s.debug)
	})
	return t, missing, err
}

func (s *source) close() {
	if s.object != nil {
		s.object.Close()
	}
	if s.debug != nil {
		s.debug.Close()
	}
}
