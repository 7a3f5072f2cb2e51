package elf_test

import (
	debugelf "debug/elf"
	"testing"

	"stackmill/stages/loadobject/elf"
	"stackmill/stages/loadobject/elf/elftest"
)

// Sections that overlap are decompressed, all together, to no more than a multiple of the file's
// size, whatever their headers say.
func TestBombs(t *testing.T) {
	const size = 24 << 20
	zeros := append(header(debugelf.COMPRESS_ZSTD, size), zstdded(t, make([]byte, size))...)
	blank := append(zeros, make([]byte, 1<<18)...)
	b := elftest.File{Sections: []elftest.Section{{Name: ".debug_info", Flags: debugelf.SHF_COMPRESSED, Data: blank}}}.Bytes()
	f, err := elf.New("test", b)
	if err != nil {
		t.Fatal(err)
	}
	s := *f.Section(".debug_info")
	total := 0
	for range 100 {
		if c, err := f.Data(&s); err == nil {
			total += len(c)
		}
	}
	if most := 32*len(b) + 64<<20; total == 0 || total > most {
		t.Errorf("%d bytes of a file of %d", total, len(b))
	}
	// A section that failed does not use up the others' budget.
	s.Offset += 1
	for range 100 {
		if _, err := f.Data(&s); err == nil {
			t.Error("damaged content was read")
		}
	}
}
