package disasm

import (
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/isa"
)

// TestARM64 decodes encodings of the Arm Architecture Reference Manual.
func TestARM64(t *testing.T) {
	const addr = 0x401000
	for _, c := range []struct {
		name, code string
		kind       insn.Kind
		target     uint64 // 0: none
	}{
		{"bl", "94000001", insn.Call, 0x401004},
		{"bl backwards", "97ffffff", insn.Call, 0x400ffc},
		{"bl, farthest back", "96000000", insn.Call, 0xfffffffff8401000},
		{"b", "14000010", insn.Jump, 0x401040},
		{"b.eq", "54000040", insn.CondJump, 0x401008},
		{"bc.ne", "54000051", insn.CondJump, 0x401008},
		{"cbz", "b4000043", insn.CondJump, 0x401008},
		{"cbnz w", "35ffffe3", insn.CondJump, 0x400ffc},
		{"tbz", "36180040", insn.CondJump, 0x401008},
		{"tbnz x, bit 63", "b7ffffe0", insn.CondJump, 0x400ffc},
		{"cbeq x18, #54", "f5db1af2", insn.CondJump, 0x40135c},
		{"cbhge w6, w16", "7430e026", insn.CondJump, 0x400c04},
		{"cbhi w3, w12", "74431976", insn.CondJump, 0x40132c},
		{"br", "d61f0220", insn.Jump, 0},
		{"braa", "d71f0a30", insn.Jump, 0},
		{"braaz", "d61f0a3f", insn.Jump, 0},
		{"blr", "d63f0100", insn.Call, 0},
		{"blraaz", "d63f091f", insn.Call, 0},
		{"blrab", "d73f0d09", insn.Call, 0},
		{"ret", "d65f03c0", insn.Return, 0},
		{"ret x1", "d65f0020", insn.Return, 0},
		{"retaa", "d65f0bff", insn.Return, 0},
		{"eret", "d69f03e0", insn.Return, 0},
		{"svc", "d4000001", insn.Syscall, 0},
		{"hvc", "d4000002", insn.Other, 0},
		{"brk", "d4200000", insn.Trap, 0},
		{"hlt", "d4400000", insn.Trap, 0},
		{"udf", "00000000", insn.Trap, 0},
		{"nop", "d503201f", insn.Nop, 0},
		{"yield", "d503203f", insn.Other, 0},
		{"bti c", "d503245f", insn.Other, 0},
		{"paciasp", "d503233f", insn.Other, 0},
		{"adrp", "90000090", insn.Other, 0},
		{"ldr", "f9400a11", insn.Other, 0},
		{"ldr literal", "58000040", insn.Other, 0},
		{"mrs", "d53bd040", insn.Other, 0},
		{"SVE add", "04e00000", insn.Other, 0},
		{"SME zero", "c00800ff", insn.Other, 0},
		{"casal", "c8e0fc41", insn.Other, 0},
	} {
		want := insn.Inst{Len: 4, Kind: c.kind, HasTarget: c.target != 0, Target: c.target}
		if got, err := Decode(isa.ARM64, unhex(t, isa.ARM64, c.code), addr); err != nil || got != want {
			t.Errorf("%s: %+v %v, want %+v", c.name, got, err, want)
		}
	}
	for code, want := range map[string]error{"02000000": insn.ErrUndefined, "06000000": insn.ErrUndefined, "00010000": insn.ErrUndefined} {
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
