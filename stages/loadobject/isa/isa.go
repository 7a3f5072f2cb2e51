// Package isa defines the supported instruction sets and their special registers. It imports
// no other package of this project, so that readers of recordings and of load objects can use
// it.
package isa

import (
	"debug/elf"
	"strings"
)

// Arch is an instruction set in one of its modes, 0 for an unsupported one.
type Arch uint8

// The instruction sets. Cache files contain these numbers, so they must not change.
const (
	AMD64 Arch = iota + 1 // x86 in 64-bit mode
	X86                   // x86 in 32-bit mode
	ARM64                 // A64
)

// Of returns the instruction set of an ELF file. A file of class 32 for x86-64 (x32) has code for
// 64-bit mode.
func Of(machine elf.Machine, class elf.Class) Arch {
	switch {
	case machine == elf.EM_X86_64:
		return AMD64
	case machine == elf.EM_386 && class == elf.ELFCLASS32:
		return X86
	case machine == elf.EM_AARCH64:
		return ARM64
	}
	return 0
}

// Named returns the instruction set of a process whose words have wordBits bits. machine is the
// name of the machine as uname -m prints it, on Linux or Solaris.
func Named(machine string, wordBits int) Arch {
	switch machine {
	case "x86_64", "i386", "i486", "i586", "i686", "i86pc":
		if wordBits == 32 {
			return X86
		}
		return AMD64
	case "aarch64":
		return ARM64
	}
	return 0
}

// Narrow reports whether a machine's kernel, and therefore every program on it, has words of 32
// bits. machine is the name that uname -m prints.
func Narrow(machine string) bool {
	switch machine {
	case "i386", "i486", "i586", "i686", "ppc", "ppcle", "mips", "riscv32", "parisc", "sparc", "m68k", "microblaze", "xtensa", "sh4":
		return true
	}
	return strings.HasPrefix(machine, "armv") && machine != "armv8b" && machine != "armv8l" // these two are 64-bit kernels, seen by 32-bit programs
}

// Step returns the alignment of instructions in bytes.
func (a Arch) Step() int {
	if a == ARM64 {
		return 4
	}
	return 1
}

// registers are the special registers, by DWARF number. The general registers are 0 to 15 on
// x86-64, 0 to 7 on 32-bit x86, 0 to 31 on A64. The program counter has the next number, also on
// A64, where DWARF has none for it.
var registers = [...]struct{ sp, fp, pc uint8 }{
	AMD64: {sp: 7, fp: 6, pc: 16},
	X86:   {sp: 4, fp: 5, pc: 8},
	ARM64: {sp: 31, fp: 29, pc: 32},
}

// LR is A64's link register, in which a call leaves the return address.
const LR = 30

// SP returns the number of the stack pointer.
func (a Arch) SP() uint8 { return registers[a].sp }

// FP returns the number of the frame pointer.
func (a Arch) FP() uint8 { return registers[a].fp }

// PC returns the number of the program counter.
func (a Arch) PC() uint8 { return registers[a].pc }
