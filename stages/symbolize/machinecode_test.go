package symbolize

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/isa"
	"stackmill/stages/loadobject/symtab"
)

func TestCode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prog")
	content := make([]byte, 0x1180) // ends in the middle of the second function
	for i := range content {
		content[i] = byte(i / 0x100)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	table := tableOf("aa", symtab.Function{Name: "first"}, symtab.Function{Name: "cut"}, symtab.Function{Name: "behind"})
	table.Arch = isa.ARM64
	gone := tableOf("bb", symtab.Function{Name: "gone"})
	gone.Arch = isa.AMD64
	r, rec := recording(tableMap{path: table, "/gone": gone})
	rec.Arch, rec.WordBits = "x86_64", 64
	made := decode.MapEvent{Path: "made", Address: 0x90000, Size: 2, Modes: 5, Code: &decode.Code{Function: "made", Bytes: []byte{0x90, 0xc3}}}
	pr := process(r, text(path, 0x10000), text("/gone", 0x20000), made)

	for pc, want := range map[uint64]struct {
		code []byte
		arch isa.Arch
	}{
		0x10010: {bytes.Repeat([]byte{0x10}, 0x100), isa.ARM64},
		0x10110: {bytes.Repeat([]byte{0x11}, 0x80), isa.ARM64},
		0x10210: {nil, isa.ARM64},
		0x20010: {nil, isa.AMD64},
		0x90001: {[]byte{0x90, 0xc3}, isa.AMD64},
	} {
		l := *r.Program.Location(pr.Resolve(pc, 0).Location)
		code, arch := r.Code(l.Function)
		if !bytes.Equal(code, want.code) || arch != want.arch {
			t.Errorf("code at %#x: % x for instruction set %d, want % x for %d", pc, code, arch, want.code, want.arch)
		}
	}
	if r.Finish(); len(r.open) > 0 {
		t.Error("a file is still open")
	}
}
