package cache

import (
	"stackmill/internal/hosterr"
	"stackmill/stages/loadobject/cfi"
	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/loadobject/types"
)

// Recording loads the tables of one recording's load objects. It also looks for debug files next
// to the objects' recorded paths.
type Recording struct {
	loader  *Loader
	search  func(file string) elf.SearchPaths
	hostErr hosterr.First
}

// Of returns a Loader's view for a recording. recorded returns the recorded path
// of a load object's file, empty if unknown; root is the folder that takes the place of
// the recorded machine's root, empty for this machine's.
func (l *Loader) Of(root string, recorded func(file string) string) *Recording {
	return &Recording{loader: l, search: func(file string) elf.SearchPaths { return elf.SearchPaths{Root: root, Recorded: recorded(file)} }}
}

// HostErr returns the first host error that prevented a table from being loaded, if any. Results
// that lack the table must not be committed.
func (r *Recording) HostErr() error { return r.hostErr.Err() }

// recordHostErr keeps the first host error.
func recordHostErr[T any](r *Recording, t T, err error) (T, error) {
	if err != nil && hosterr.Is(err) {
		r.hostErr.Add(err)
	}
	return t, err
}

// Load is Loader.Load for a file of the recording.
func (r *Recording) Load(file string) (*symtab.Table, error) {
	t, err := r.loader.load(file, r.search(file))
	return recordHostErr(r, t, err)
}

// Prefetch loads the table of a file of the recording for a later Load, which finds the
// same errors. It does nothing once tables take half of the memory limit.
func (r *Recording) Prefetch(file string) {
	if !r.loader.halfFull() {
		_, _, _ = r.loader.table(file, r.search(file))
	}
}

// Frames is Loader.Frames for a file of the recording.
func (r *Recording) Frames(file string) (*cfi.Table, error) {
	t, err := r.loader.frames(file, r.search(file))
	return recordHostErr(r, t, err)
}

// Variables is Loader.Variables for a file of the recording.
func (r *Recording) Variables(file string) (*symtab.Variables, error) {
	v, err := r.loader.variables(file, r.search(file))
	return recordHostErr(r, v, err)
}

// Data is Loader.Data for a file of the recording.
func (r *Recording) Data(file string) (*types.Table, error) {
	t, err := r.loader.data(file, r.search(file))
	return recordHostErr(r, t, err)
}
