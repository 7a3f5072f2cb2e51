package linkage

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"stackmill/stages/loadobject/isa"
)

// The caller's frame begins above what the instructions of a table have pushed, however
// control gets there.
func TestDepths(t *testing.T) {
	type depth struct {
		address uint64
		bytes   int32
	}
	for _, tt := range []struct {
		name string
		arch isa.Arch
		code string
		want []depth
	}{
		{"lazy", isa.AMD64, "ff35ca2f0000 ff25cc2f0000 0f1f4000" + // push; jmp *linker; nop
			"ff25ca2f0000 6800000000 e9e0ffffff", // jmp *slot; push $0; jmp head
			[]depth{{0x1000, 16}, {0x1006, 24}, {0x100c, 8}, {0x101b, 16}}},
		{"mold", isa.AMD64, "f30f1efa 4153 ff355c240000 ff255e240000 cccccccccccccccccccccccccccc" + // endbr64; push %r11; push; jmp *linker
			"f30f1efa 41bb00000000 ff2548240000", // endbr64; mov $0,%r11d; jmp *slot
			[]depth{{0x1000, 8}, {0x1006, 16}, {0x100c, 24}, {0x1012, 8}}},
		{"retpoline", isa.AMD64, "e80b000000 f390 0fae e8 ebf9 cccccccc" + // call 10; pause; lfence; jmp
			"4c891c24 c3 cccccccccccccccccccccc" + // 10: mov %r11,(%rsp); ret
			"4c8b1d31120000 e9d4ffffff cccccccc", // mov slot,%r11; jmp 0
			[]depth{{0x1000, 8}, {0x1010, 16}, {0x1015, 8}}},
		{"A64", isa.ARM64, "f07bbfa9 90000090 11324299 10620a91 20021fd6 1f2003d5 1f2003d5 1f2003d5" + // stp x16, x30, [sp, #-16]!; ...
			"100000b0 110240f9 10020091 20021fd6", // adrp; ldr; add; br
			[]depth{{0x1000, 0}, {0x1004, 16}, {0x1014, 0}}},
		{"empty", isa.AMD64, "", nil},
		{"garbage", isa.AMD64, "0606", []depth{{0x1000, -1}}},
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(tt.code, " ", ""))
		if err != nil {
			t.Fatal(tt.name, err)
		}
		var got []depth
		for _, d := range Depths(tt.arch, code, 0x1000) {
			got = append(got, depth{d.Address, d.Bytes})
		}
		if !slices.Equal(tt.want, got) {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}

func FuzzDepths(f *testing.F) {
	f.Add([]byte("\xff\x35\x00\x00\x00\x00\xe8\xf5\xff\xff\xff\xeb\xfe"))
	f.Fuzz(func(t *testing.T, code []byte) {
		for arch := isa.AMD64; arch <= isa.ARM64; arch++ {
			last := uint64(0)
			for _, d := range Depths(arch, code, 0x1000) {
				if d.Address <= last || d.Address >= 0x1000+uint64(len(code)) {
					t.Fatalf("%+v after %#x", d, last)
				}
				last = d.Address
			}
		}
	})
}
