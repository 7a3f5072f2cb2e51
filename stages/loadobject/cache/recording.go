package cache

import (
	"stackmill/internal/hosterr"
	"stackmill/stages/loadobject/cfi"
	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/loadobject/types"
)

// Recording loads the tables of one recording's load objects: their debug files
// are also looked for where the objects stood when it was made.
type Recording struct {
	loader *Loader
	places func(file string) elf.Places
	fault  hosterr.First
}

// Of returns a Loader's view for a recording. recorded returns the recorded path
// of a load object's file, empty if unknown; root is the folder that stands for
// the recorded machine's root, empty for this machine's.
func (l *Loader) Of(root string, recorded func(file string) string) *Recording {
	return &Recording{loader: l, places: func(file string) elf.Places { return elf.Places{Root: root, Recorded: recorded(file)} }}
}

// Fault is the error of the machine that kept a table from being loaded: what was
// made without the table must not be committed. Nil as a rule.
func (r *Recording) Fault() error { return r.fault.Err() }

// checked keeps the first fault.
func checked[T any](r *Recording, t T, err error) (T, error) {
	if err != nil && hosterr.Is(err) {
		r.fault.Add(err)
	}
	return t, err
}

// Load is Loader.Load for a file of the recording.
func (r *Recording) Load(file string) (*symtab.Table, error) {
	t, err := r.loader.load(file, r.places(file))
	return checked(r, t, err)
}

// Ahead loads the table of a file of the recording for a Load to come, which finds the
// same errors. It does nothing once tables take half of the memory that they may.
func (r *Recording) Ahead(file string) {
	if !r.loader.crowded() {
		_, _, _ = r.loader.table(file, r.places(file))
	}
}

// Frames is Loader.Frames for a file of the recording.
func (r *Recording) Frames(file string) (*cfi.Table, error) {
	t, err := r.loader.frames(file, r.places(file))
	return checked(r, t, err)
}

// Variables is Loader.Variables for a file of the recording.
func (r *Recording) Variables(file string) (*symtab.Variables, error) {
	v, err := r.loader.variables(file, r.places(file))
	return checked(r, v, err)
}

// Data is Loader.Data for a file of the recording.
func (r *Recording) Data(file string) (*types.Table, error) {
	t, err := r.loader.data(file, r.places(file))
	return checked(r, t, err)
}
