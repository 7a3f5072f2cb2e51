package cache

import (
	"stackmill/internal/hosterr"
	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/symtab"
)

// Recording loads the tables of one recording's load objects. It also looks for debug files next
// to the objects' recorded paths.
type Recording struct {
	loader  *Loader
	search  func(file string) elf.SearchPaths
	hostErr hosterr.First
}

// Of returns a view of the Loader for one recording. recorded returns the recorded path of a load
// object's file, empty if unknown. root is the folder that replaces the recorded machine's root,
// empty on the same machine.
func (l *Loader) Of(root string, recorded func(file string) string) *Recording {
	return &Recording{loader: l, search: func(file string) elf.SearchPaths { return elf.SearchPaths{Root: root, Recorded: recorded(file)} }}
}

// Local returns a view of the Loader for this machine's files.
func (l *Loader) Local() *Recording { return l.Of("", func(string) string { return "" }) }

// HostErr returns the first host error that prevented a table from being loaded, if any. Results
// that lack the table must not be committed.
func (r *Recording) HostErr() error { return r.hostErr.Err() }

// recordHostErr keeps the first host error.
func (r *Recording) recordHostErr(err error) {
	if err != nil && hosterr.Is(err) {
		r.hostErr.Add(err)
	}
}

// Load returns the symbols of the load object in a file. The error wraps an *os.PathError, an
// error of package safefile, elf.ErrNotELF or elf.ErrUnreadable. The table is shared and must not
// be changed.
func (r *Recording) Load(file string) (*symtab.Table, error) {
	t, id, err := r.loader.table(file, r.search(file))
	if err != nil {
		r.recordHostErr(err)
		return nil, err
	}
	return r.loader.withNotes(t, id), nil
}

// Prefetch loads a file's table for a later Load, which returns the same errors. It does nothing
// once tables take half of the memory limit.
func (r *Recording) Prefetch(file string) {
	if !r.loader.halfFull() {
		_, _, _ = r.loader.table(file, r.search(file))
	}
}
