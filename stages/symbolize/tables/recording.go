package tables

import (
	"stackmill/stages/symbolize/datatype"
	"stackmill/stages/symbolize/symtab"
	"stackmill/stages/symbolize/symtab/object"
	"stackmill/stages/unwind/cfi"
)

// Recording loads the tables of one recording's load objects: their debug files
// are also looked for where the objects stood when it was made.
type Recording struct {
	loader *Loader
	places func(file string) object.Places
}

// Of returns a Loader's view for a recording. recorded tells the recorded path of
// a load object's file, empty when it does not know; root is the folder that
// stands for the recorded machine's root, empty for this machine's.
func (l *Loader) Of(root string, recorded func(file string) string) *Recording {
	return &Recording{l, func(file string) object.Places { return object.Places{Root: root, Recorded: recorded(file)} }}
}

// Load is the Loader's.
func (r *Recording) Load(file string) (*symtab.Table, error) {
	return r.loader.load(file, r.places(file))
}

// Frames is the Loader's.
func (r *Recording) Frames(file string) (*cfi.Table, error) {
	return r.loader.frames(file, r.places(file))
}

// Data is the Loader's.
func (r *Recording) Data(file string) (*datatype.Table, error) {
	return r.loader.data(file, r.places(file))
}
