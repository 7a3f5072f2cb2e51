package elf

import (
	"debug/elf"
	"errors"
)

// Variable is a symbol of data.
type Variable struct {
	Address, Size uint64 // link-time; bytes
	Name          string
}

var errNames = errors.New("symbol names are longer than the file; the rest is left out")

// Variables returns the symbols of data of all symbol tables. What is returned
// with an error can be used.
func (f *File) Variables() (list []Variable, err error) {
	left := 1<<20 + 8*len(f.data) // string tables share tails: each name could be all of one
	for i := range f.Sections {
		s := &f.Sections[i]
		link := f.ByIndex(int(s.Link))
		if s.Type != elf.SHT_SYMTAB && s.Type != elf.SHT_DYNSYM || link == nil {
			continue
		}
		data, derr := f.Data(s)
		names, nerr := f.Data(link)
		err = errors.Join(err, derr, nerr)
		for b := data; ; {
			v, info, section, rest := f.symbol(b, names)
			if rest == nil {
				break
			}
			b = rest
			if elf.ST_TYPE(info) != elf.STT_OBJECT || section == elf.SHN_UNDEF || v.Size == 0 || v.Address+v.Size < v.Address {
				continue
			}
			if left -= len(v.Name); left < 0 {
				return list, errors.Join(err, errNames)
			}
			list = append(list, v)
		}
	}
	return list, err
}

// symbol reads the first symbol of a table; rest is nil at the end. Only the
// names of data are read.
func (f *File) symbol(b, names []byte) (v Variable, info byte, section elf.SectionIndex, rest []byte) {
	u := f.Order
	switch {
	case f.Class == elf.ELFCLASS32 && len(b) >= 16:
		v.Address, v.Size = uint64(u.Uint32(b[4:])), uint64(u.Uint32(b[8:]))
		info, section, rest = b[12], elf.SectionIndex(u.Uint16(b[14:])), b[16:]
	case f.Class == elf.ELFCLASS64 && len(b) >= 24:
		v.Address, v.Size = u.Uint64(b[8:]), u.Uint64(b[16:])
		info, section, rest = b[4], elf.SectionIndex(u.Uint16(b[6:])), b[24:]
	default:
		return v, 0, 0, nil
	}
	if elf.ST_TYPE(info) == elf.STT_OBJECT {
		v.Name = String(names, uint64(u.Uint32(b)))
	}
	return v, info, section, rest
}
