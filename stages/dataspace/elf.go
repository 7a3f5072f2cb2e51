package dataspace

import (
	"debug/elf"
	"os"

	"stackmill/stages/infile"
)

// elfFile is an opened ELF file, which its user closes.
type elfFile struct {
	*elf.File
	file *os.File
}

func (f *elfFile) Close() { _ = f.file.Close() } // it was only read

// openELF opens a load object's file, which was recognized before.
func openELF(path string) (*elfFile, error) {
	file, _, err := infile.Open(path, infile.LoadObject)
	if err != nil {
		return nil, err
	}
	f, err := elf.NewFile(file)
	if err != nil {
		_ = file.Close() // it was only read
		return nil, err
	}
	return &elfFile{f, file}, nil
}
