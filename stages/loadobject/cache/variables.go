package cache

import (
	"cmp"
	"fmt"

	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/symtab"
)

// Variables returns the symbols of data of the load object in a file. They are
// kept in memory only: reading them takes no longer than a cache file would. The
// errors are those of Load; a list of symbols gives elf.ErrNotELF. The result is
// shared.
func (l *Loader) Variables(path string) (*symtab.Variables, error) {
	return l.variables(path, elf.Places{})
}

func (l *Loader) variables(path string, places elf.Places) (*symtab.Variables, error) {
	v, err := beside(l, path, places, ".variables", func(s *source) (v *symtab.Variables, missing []string, err error) {
		err = elf.Guard(path, func() { v = symtab.ReadVariables(s.object) })
		return v, nil, cmp.Or(err, s.fault())
	})
	if v == nil && err == nil {
		err = fmt.Errorf("%s: wrong magic number: %w", path, elf.ErrNotELF)
	}
	return v, err
}
