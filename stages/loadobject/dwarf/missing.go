package dwarf

import (
	"errors"
	"io/fs"

	"stackmill/stages/loadobject/elf"
)

// shared opens the file that dwz moved entries and strings to; nil when there is
// none.
func (a *adder) shared() *elf.File {
	f, err := a.source.Alternate()
	if err != nil {
		a.fail(a.source, err)
	}
	if at := (*fs.PathError)(nil); errors.As(err, &at) && errors.Is(err, fs.ErrNotExist) {
		a.absent = at.Path
	}
	return f
}

// missing returns the files that would have told more. Those that tell of many
// units come first, since who looks for them again looks for the first ones.
func (a *adder) missing() (files []string) {
	if a.absent != "" {
		files = append(files, a.absent)
	}
	if len(a.split.missing) > 0 {
		files = append(files, a.split.noPack...)
	}
	return append(files, a.split.missing...)
}
