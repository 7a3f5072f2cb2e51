package isa

import (
	"debug/elf"
	"testing"
)

func TestOf(t *testing.T) {
	for _, c := range []struct {
		machine elf.Machine
		class   elf.Class
		want    Arch
	}{
		{elf.EM_X86_64, elf.ELFCLASS64, AMD64},
		{elf.EM_X86_64, elf.ELFCLASS32, AMD64},
		{elf.EM_386, elf.ELFCLASS32, X86},
		{elf.EM_386, elf.ELFCLASS64, 0},
		{elf.EM_AARCH64, elf.ELFCLASS64, ARM64},
		{elf.EM_SPARCV9, elf.ELFCLASS64, 0},
	} {
		if got := Of(c.machine, c.class); got != c.want {
			t.Errorf("%v %v: %v", c.machine, c.class, got)
		}
	}
}

func TestNamed(t *testing.T) {
	for _, c := range []struct {
		machine string
		bits    int
		want    Arch
	}{
		{"x86_64", 64, AMD64},
		{"x86_64", 32, X86}, // a 32-bit process of a 64-bit kernel
		{"i686", 32, X86},
		{"i86pc", 64, AMD64}, // Solaris
		{"aarch64", 64, ARM64},
		{"sun4v", 64, 0},
		{"", 64, 0},
	} {
		if got := Named(c.machine, c.bits); got != c.want {
			t.Errorf("%q, %d bits: %v", c.machine, c.bits, got)
		}
	}
}
