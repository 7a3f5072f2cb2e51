package insn

import (
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"stackmill/stages/loadobject/isa"
)

// TestARM64 has encodings of the Arm Architecture Reference Manual.
func TestARM64(t *testing.T) {
	const addr = 0x401000
	for _, c := range []struct {
		name, code string
		kind       Kind
		target     uint64 // 0: none
	}{
		{"bl", "94000001", Call, 0x401004},
		{"bl backwards", "97ffffff", Call, 0x400ffc},
		{"bl, farthest back", "96000000", Call, 0xfffffffff8401000},
		{"b", "14000010", Jump, 0x401040},
		{"b.eq", "54000040", CondJump, 0x401008},
		{"bc.ne", "54000051", CondJump, 0x401008},
		{"cbz", "b4000043", CondJump, 0x401008},
		{"cbnz w", "35ffffe3", CondJump, 0x400ffc},
		{"tbz", "36180040", CondJump, 0x401008},
		{"tbnz x, bit 63", "b7ffffe0", CondJump, 0x400ffc},
		{"cbeq x18, #54", "f5db1af2", CondJump, 0x40135c},
		{"cbhge w6, w16", "7430e026", CondJump, 0x400c04},
		{"cbhi w3, w12", "74431976", CondJump, 0x40132c},
		{"br", "d61f0220", Jump, 0},
		{"braa", "d71f0a30", Jump, 0},
		{"braaz", "d61f0a3f", Jump, 0},
		{"blr", "d63f0100", Call, 0},
		{"blraaz", "d63f091f", Call, 0},
		{"blrab", "d73f0d09", Call, 0},
		{"ret", "d65f03c0", Return, 0},
		{"ret x1", "d65f0020", Return, 0},
		{"retaa", "d65f0bff", Return, 0},
		{"eret", "d69f03e0", Return, 0},
		{"svc", "d4000001", Syscall, 0},
		{"hvc", "d4000002", Other, 0},
		{"brk", "d4200000", Trap, 0},
		{"hlt", "d4400000", Trap, 0},
		{"udf", "00000000", Trap, 0},
		{"nop", "d503201f", Nop, 0},
		{"yield", "d503203f", Other, 0},
		{"bti c", "d503245f", Other, 0},
		{"paciasp", "d503233f", Other, 0},
		{"adrp", "90000090", Other, 0},
		{"ldr", "f9400a11", Other, 0},
		{"ldr literal", "58000040", Other, 0},
		{"mrs", "d53bd040", Other, 0},
		{"SVE add", "04e00000", Other, 0},
		{"SME zero", "c00800ff", Other, 0},
		{"casal", "c8e0fc41", Other, 0},
	} {
		want := Inst{Len: 4, Kind: c.kind, HasTarget: c.target != 0, Target: c.target}
		if got, err := Decode(isa.ARM64, unhex(t, isa.ARM64, c.code), addr); err != nil || got != want {
			t.Errorf("%s: %+v %v, want %+v", c.name, got, err, want)
		}
	}
	for code, want := range map[string]error{"02000000": ErrUndefined, "06000000": ErrUndefined, "00010000": ErrUndefined} {
		if got, err := Decode(isa.ARM64, unhex(t, isa.ARM64, code), addr); !errors.Is(err, want) {
			t.Errorf("%s: %+v %v, want %v", code, got, err, want)
		}
	}
}

// TestARM64Binaries compares A64 libraries with the objdump of a cross compiler.
func TestARM64Binaries(t *testing.T) {
	files, _ := filepath.Glob("/usr/aarch64-linux-gnu/lib/lib[cms]*.so.6")
	if _, err := exec.LookPath("aarch64-linux-gnu-objdump"); err != nil || len(files) == 0 {
		t.Skip("no A64 objdump and libraries (Debian: binutils-aarch64-linux-gnu, libstdc++6-arm64-cross)")
	}
	for _, file := range files {
		compareFile(t, file)
	}
}
