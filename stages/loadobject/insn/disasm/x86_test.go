package disasm

import (
	"errors"
	"testing"

	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/isa"
)

// TestX86 decodes encodings of the Intel and AMD manuals, each followed by other instructions, which
// must not matter.
func TestX86(t *testing.T) {
	const addr = 0x401000
	to := func(kind insn.Kind, target uint64) insn.Inst {
		return insn.Inst{Kind: kind, HasTarget: true, Target: target}
	}
	via := func(kind insn.Kind, slot uint64) insn.Inst { return insn.Inst{Kind: kind, HasSlot: true, Slot: slot} }
	is := func(kind insn.Kind) insn.Inst { return insn.Inst{Kind: kind} }
	for _, c := range []struct {
		name string
		code string
		want insn.Inst // without Len, which is the length of code
	}{
		// golang.org/x/arch returns another length.
		{"endbr64", "f3 0f 1e fa", is(insn.Other)},
		{"endbr32", "f3 0f 1e fb", is(insn.Other)},
		{"vzeroupper", "c5 f8 77", is(insn.Other)},
		{"vzeroall", "c5 fc 77", is(insn.Other)},
		{"vzeroupper, long form", "c4 e1 78 77", is(insn.Other)},
		{"rdpid %rax", "f3 0f c7 f8", is(insn.Other)},
		{"adcx %rcx,%rax", "66 48 0f 38 f6 c1", is(insn.Other)},
		{"adox %rcx,%rax", "f3 48 0f 38 f6 c1", is(insn.Other)},
		{"rdsspq %rax", "f3 48 0f 1e c8", is(insn.Other)},

		// Flow.
		{"call", "e8 00 01 00 00", to(insn.Call, 0x401105)},
		{"call backwards", "e8 fb ff ff ff", to(insn.Call, 0x401000)},
		{"call, relaxed from indirect", "67 e8 00 01 00 00", to(insn.Call, 0x401106)},
		{"call of __tls_get_addr", "66 66 48 e8 00 01 00 00", to(insn.Call, 0x401108)},
		{"bnd call", "f2 e8 00 01 00 00", to(insn.Call, 0x401106)},
		{"call *slot(%rip)", "ff 15 c2 2f 00 00", via(insn.Call, 0x403fc8)},
		{"call *slot", "ff 14 25 00 00 60 ff", via(insn.Call, 0xffffffffff600000)},
		{"call *%fs:slot", "64 ff 14 25 10 00 00 00", is(insn.Call)},
		{"call *%rax", "ff d0", is(insn.Call)},
		{"call *%r12", "41 ff d4", is(insn.Call)},
		{"call *8(%rax)", "ff 50 08", is(insn.Call)},
		{"call *(%rax,%rbx,8)", "ff 14 d8", is(insn.Call)},
		{"call *table(,%rax,8)", "ff 14 c5 00 10 40 00", is(insn.Call)},
		{"call *slot(,%r12,1)", "42 ff 14 25 00 10 40 00", is(insn.Call)},
		{"jmp *slot(%rip), bnd", "f2 ff 25 c5 2f 00 00", via(insn.Jump, 0x403fcc)},
		{"notrack jmp *%rax", "3e ff e0", is(insn.Jump)},
		{"jmp, short", "eb fe", to(insn.Jump, addr)},
		{"jmp", "e9 fb ff ff ff", to(insn.Jump, addr)},
		{"jne", "75 10", to(insn.CondJump, 0x401012)},
		{"jae, long", "0f 83 00 00 00 80", to(insn.CondJump, 0xffffffff80401006)},
		{"jrcxz", "e3 00", to(insn.CondJump, 0x401002)},
		{"loop", "e2 fe", to(insn.CondJump, addr)},
		{"xbegin", "c7 f8 10 00 00 00", to(insn.CondJump, 0x401016)},
		{"ret", "c3", is(insn.Return)},
		{"rep ret", "f3 c3", is(insn.Return)},
		{"ret $8", "c2 08 00", is(insn.Return)},
		{"iretq", "48 cf", is(insn.Return)},
		{"syscall", "0f 05", is(insn.Syscall)},
		{"int $0x80", "cd 80", is(insn.Syscall)},
		{"int $3, long", "cd 03", is(insn.Trap)},
		{"int3", "cc", is(insn.Trap)},
		{"ud2", "0f 0b", is(insn.Trap)},
		{"ud1", "67 0f b9 40 02", is(insn.Trap)},
		{"hlt", "f4", is(insn.Trap)},
		{"nop", "90", is(insn.Nop)},
		{"xchg %r8,%rax", "49 90", is(insn.Other)},
		{"pause", "f3 90", is(insn.Other)},
		{"nop of 2", "66 90", is(insn.Nop)},
		{"nop of 11", "66 66 2e 0f 1f 84 00 00 00 00 00", is(insn.Nop)},
		{"longest nop", "66 66 66 66 66 66 2e 0f 1f 84 00 00 00 00 00", is(insn.Nop)},

		// Immediates and addresses.
		{"mov $imm64", "48 b8 01 02 03 04 05 06 07 08", is(insn.Other)},
		{"mov $imm32", "b8 01 02 03 04", is(insn.Other)},
		{"mov $imm16", "66 b8 01 02", is(insn.Other)},
		{"movabs moffs64", "a1 01 02 03 04 05 06 07 08", is(insn.Other)},
		{"movabs moffs32", "67 a1 01 02 03 04", is(insn.Other)},
		{"test $imm8", "f6 40 01 02", is(insn.Other)},
		{"not byte", "f6 50 01", is(insn.Other)},
		{"test $imm16", "66 f7 c0 01 02", is(insn.Other)},
		{"add $imm32, REX.W over 66", "66 48 81 c0 01 02 03 04", is(insn.Other)},
		{"enter", "c8 10 00 00", is(insn.Other)},
		{"mov %cr0, ModRM.mod 0", "0f 20 05", is(insn.Other)},
		{"insertq", "f2 0f 78 c1 02 03", is(insn.Other)},
		{"3DNow pfadd", "0f 0f c1 9e", is(insn.Other)},
		{"fwait", "9b", is(insn.Other)},
		{"pop (%rax)", "8f 00", is(insn.Other)},

		// Extensions.
		{"vaddps %ymm", "c5 fc 58 c1", is(insn.Other)},
		{"vpblendd $imm8", "c4 e3 7d 02 c1 0f", is(insn.Other)},
		{"vpbroadcastb", "c4 e2 7d 78 05 01 02 03 04", is(insn.Other)},
		{"vpsrldq $imm8", "c5 f9 73 d8 08", is(insn.Other)},
		{"mulx", "c4 e2 fb f6 c1", is(insn.Other)},
		{"rorx $imm8", "c4 e3 fb f0 c1 03", is(insn.Other)},
		{"vaddps %zmm", "62 f1 7c 48 58 c0", is(insn.Other)},
		{"vaddps disp8*64(%rsp)", "62 f1 7c 48 58 44 24 01", is(insn.Other)},
		{"vaddps disp32(%rip)", "62 f1 7c 48 58 05 01 02 03 04", is(insn.Other)},
		{"vpternlogd $imm8", "62 f3 7d 48 25 c0 ff", is(insn.Other)},
		{"vaddph", "62 f5 7c 48 58 c0", is(insn.Other)},
		{"vfmadd132ph", "62 f6 7d 48 98 c0", is(insn.Other)},
		{"kmovq", "c4 e1 fb 92 c0", is(insn.Other)},
		{"XOP vprotb $imm8", "8f e8 78 c0 c1 05", is(insn.Other)},
		{"XOP vphaddbw", "8f e9 78 c1 c1", is(insn.Other)},
		{"XOP bextr $imm32", "8f ea 78 10 c1 01 02 03 04", is(insn.Other)},
		{"sha256rnds2", "0f 38 cb ca", is(insn.Other)},
		{"sha1rnds4 $imm8", "0f 3a cc ca 01", is(insn.Other)},
		{"movbe", "48 0f 38 f0 08", is(insn.Other)},
		{"crc32b", "f2 0f 38 f0 c1", is(insn.Other)},
		{"rdfsbase", "f3 48 0f ae c0", is(insn.Other)},
		{"xsavec", "0f c7 64 24 40", is(insn.Other)},
		{"xsaveopt disp32", "0f ae b0 01 02 03 04", is(insn.Other)},
		{"tzcnt", "f3 48 0f bc c1", is(insn.Other)},
		{"hreset", "f3 0f 3a f0 c0 00", is(insn.Other)},
		{"tileloadd", "c4 e2 7b 4b 04 23", is(insn.Other)},
	} {
		checkX86(t, isa.AMD64, addr, c.name, c.code, c.want)
	}

	for _, c := range []struct {
		name string
		code string
		want insn.Inst
	}{
		{"inc %eax", "40", is(insn.Other)},
		{"call", "e8 fb ff ff ff", to(insn.Call, addr)},
		{"call around 0", "e8 00 00 c0 ff", to(insn.Call, 0x1005)},
		{"call *slot", "ff 15 0c a0 04 08", via(insn.Call, 0x804a00c)},
		{"jmp *slot, high", "ff 25 00 f0 ff ff", via(insn.Jump, 0xfffff000)},
		{"call *%gs:0x10", "65 ff 15 10 00 00 00", is(insn.Call)},
		{"jmp *12(%ebx)", "ff a3 0c 00 00 00", is(insn.Jump)},
		{"lcall", "9a 01 02 03 04 33 00", is(insn.Call)},
		{"ljmp", "ea 01 02 03 04 33 00", is(insn.Jump)},
		{"jmp, 16 bits", "66 e9 00 10", to(insn.Jump, 0x2004)},
		{"bound", "62 48 10", is(insn.Other)},
		{"lds", "c5 40 10", is(insn.Other)},
		{"les", "c4 05 01 02 03 04", is(insn.Other)},
		{"vaddps %ymm", "c5 fc 58 c1", is(insn.Other)},
		{"vaddps %zmm", "62 f1 7c 48 58 c0", is(insn.Other)},
		{"mov moffs", "a1 01 02 03 04", is(insn.Other)},
		{"mov moffs16", "67 a1 01 02", is(insn.Other)},
		{"mov disp16(%bx,%si)", "67 8b 80 01 02", is(insn.Other)},
		{"mov disp8(%bp)", "67 8b 46 01", is(insn.Other)},
		{"mov disp16", "67 8b 06 01 02", is(insn.Other)},
		{"mov (%bx)", "67 8b 07", is(insn.Other)},
		{"sysenter", "0f 34", is(insn.Syscall)},
		{"aam", "d4 0a", is(insn.Other)},
		{"into", "ce", is(insn.Trap)},
	} {
		checkX86(t, isa.X86, addr, c.name, c.code, c.want)
	}
}

func checkX86(t *testing.T, arch isa.Arch, addr uint64, name, code string, want insn.Inst) {
	t.Helper()
	b := unhex(t, arch, code)
	want.Len = len(b)
	for _, behind := range []string{"", "c3 90 e8 01 02 03 04 ff 25 66 0f", "ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff"} {
		got, err := Decode(arch, append(b[:len(b):len(b)], unhex(t, arch, behind)...), addr)
		if err != nil || got != want {
			t.Errorf("%s: %+v %v, want %+v", name, got, err, want)
		}
	}
	if got, err := Decode(arch, b[:len(b)-1], addr); !errors.Is(err, insn.ErrTruncated) {
		t.Errorf("%s without its last byte: %+v %v", name, got, err)
	}
}

func TestX86Undefined(t *testing.T) {
	for _, c := range []struct {
		arch       isa.Arch
		name, code string
		want       error
	}{
		{isa.AMD64, "push %es", "06 90 90 90", insn.ErrUndefined},
		{isa.AMD64, "into", "ce 90 90 90", insn.ErrUndefined},
		{isa.AMD64, "lcall", "9a 01 02 03 04 33 00", insn.ErrUndefined},
		{isa.AMD64, "0f 04", "0f 04 90 90", insn.ErrUndefined},
		{isa.AMD64, "group fe", "fe d0 90 90", insn.ErrUndefined},
		{isa.AMD64, "group ff", "ff f8 90 90", insn.ErrUndefined},
		{isa.AMD64, "group c7", "c7 c8 90 90 90 90", insn.ErrUndefined},
		{isa.AMD64, "jmpe", "0f b8 c0 90 90 90", insn.ErrUndefined},
		{isa.AMD64, "prefix 66 before VEX", "66 c5 f8 58 c0", insn.ErrUndefined},
		{isa.AMD64, "REX before EVEX", "48 62 f1 7c 48 58 c0", insn.ErrUndefined},
		{isa.AMD64, "VEX map 0", "c4 e0 78 58 c0", insn.ErrUndefined},
		{isa.AMD64, "EVEX with a reserved bit", "62 f9 7c 48 58 c0", insn.ErrUndefined},
		{isa.AMD64, "16 bytes", "66 66 66 66 66 66 66 2e 0f 1f 84 00 00 00 00 00", insn.ErrUndefined},
		{isa.AMD64, "15 bytes that are not all", "66 66 66 66 66 66 66 2e 0f 1f 84 00 00 00 00", insn.ErrUndefined},
		{isa.AMD64, "REX2", "d5 10 89 c8", insn.ErrUndefined},
		{0, "no instruction set", "c3", insn.ErrUndefined},
		{isa.AMD64, "only prefixes", "66 66 f2", insn.ErrTruncated},
		{isa.AMD64, "nothing", "", insn.ErrTruncated},
		{isa.X86, "EVEX with a reserved bit", "62 f1 78 48 58 c0", insn.ErrUndefined},
	} {
		if got, err := Decode(c.arch, unhex(t, c.arch, c.code), 0); !errors.Is(err, c.want) {
			t.Errorf("%s: %+v %v", c.name, got, err)
		}
	}
}
