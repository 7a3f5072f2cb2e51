package cache

import (
	"cmp"
	"fmt"

	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/symtab"
)

// Variables returns the data symbols of the load object in a file. They are cached in
// memory only, since reading them takes no longer than reading a cache file. It returns the
// same errors as Load, and elf.ErrNotELF for a list of symbols. The result is shared.
func (r *Recording) Variables(path string) (*symtab.Variables, error) {
	v, err := loadTable(r, path, ".variables", func(s *source) (v *symtab.Variables, missing []string, err error) {
		err = elf.Guard(path, func() { v = symtab.ReadVariables(s.object) })
		return v, nil, cmp.Or(err, s.hostErr())
	})
	if v == nil && err == nil {
		err = fmt.Errorf("%s: wrong magic number: %w", path, elf.ErrNotELF)
	}
	return v, err
}
