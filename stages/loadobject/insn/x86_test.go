package insn

import (
	"errors"
	"testing"

	"stackmill/stages/loadobject/isa"
)

// TestX86 has encodings of the Intel and AMD manuals. Every one is decoded with
// other instructions behind it, which it must leave alone.
func TestX86(t *testing.T) {
	const addr = 0x401000
	to := func(kind Kind, target uint64) Inst { return Inst{Kind: kind, HasTarget: true, Target: target} }
	via := func(kind Kind, slot uint64) Inst { return Inst{Kind: kind, HasSlot: true, Slot: slot} }
	is := func(kind Kind) Inst { return Inst{Kind: kind} }
	for _, c := range []struct {
		name string
		code string
		want Inst // without Len, which is that of code
	}{
		// Where golang.org/x/arch gives another length.
		{"endbr64", "f3 0f 1e fa", is(Other)},
		{"endbr32", "f3 0f 1e fb", is(Other)},
		{"vzeroupper", "c5 f8 77", is(Other)},
		{"vzeroall", "c5 fc 77", is(Other)},
		{"vzeroupper, long form", "c4 e1 78 77", is(Other)},
		{"rdpid %rax", "f3 0f c7 f8", is(Other)},
		{"adcx %rcx,%rax", "66 48 0f 38 f6 c1", is(Other)},
		{"adox %rcx,%rax", "f3 48 0f 38 f6 c1", is(Other)},
		{"rdsspq %rax", "f3 48 0f 1e c8", is(Other)},

		// Flow.
		{"call", "e8 00 01 00 00", to(Call, 0x401105)},
		{"call backwards", "e8 fb ff ff ff", to(Call, 0x401000)},
		{"call, relaxed from indirect", "67 e8 00 01 00 00", to(Call, 0x401106)},
		{"call of __tls_get_addr", "66 66 48 e8 00 01 00 00", to(Call, 0x401108)},
		{"bnd call", "f2 e8 00 01 00 00", to(Call, 0x401106)},
		{"call *slot(%rip)", "ff 15 c2 2f 00 00", via(Call, 0x403fc8)},
		{"call *slot", "ff 14 25 00 00 60 ff", via(Call, 0xffffffffff600000)},
		{"call *%fs:slot", "64 ff 14 25 10 00 00 00", is(Call)},
		{"call *%rax", "ff d0", is(Call)},
		{"call *%r12", "41 ff d4", is(Call)},
		{"call *8(%rax)", "ff 50 08", is(Call)},
		{"call *(%rax,%rbx,8)", "ff 14 d8", is(Call)},
		{"call *table(,%rax,8)", "ff 14 c5 00 10 40 00", is(Call)},
		{"call *slot(,%r12,1)", "42 ff 14 25 00 10 40 00", is(Call)},
		{"jmp *slot(%rip), bnd", "f2 ff 25 c5 2f 00 00", via(Jump, 0x403fcc)},
		{"notrack jmp *%rax", "3e ff e0", is(Jump)},
		{"jmp, short", "eb fe", to(Jump, addr)},
		{"jmp", "e9 fb ff ff ff", to(Jump, addr)},
		{"jne", "75 10", to(CondJump, 0x401012)},
		{"jae, long", "0f 83 00 00 00 80", to(CondJump, 0xffffffff80401006)},
		{"jrcxz", "e3 00", to(CondJump, 0x401002)},
		{"loop", "e2 fe", to(CondJump, addr)},
		{"xbegin", "c7 f8 10 00 00 00", to(CondJump, 0x401016)},
		{"ret", "c3", is(Return)},
		{"rep ret", "f3 c3", is(Return)},
		{"ret $8", "c2 08 00", is(Return)},
		{"iretq", "48 cf", is(Return)},
		{"syscall", "0f 05", is(Syscall)},
		{"int $0x80", "cd 80", is(Syscall)},
		{"int $3, long", "cd 03", is(Trap)},
		{"int3", "cc", is(Trap)},
		{"ud2", "0f 0b", is(Trap)},
		{"ud1", "67 0f b9 40 02", is(Trap)},
		{"hlt", "f4", is(Trap)},
		{"nop", "90", is(Nop)},
		{"xchg %r8,%rax", "49 90", is(Other)},
		{"pause", "f3 90", is(Other)},
		{"nop of 2", "66 90", is(Nop)},
		{"nop of 11", "66 66 2e 0f 1f 84 00 00 00 00 00", is(Nop)},
		{"longest nop", "66 66 66 66 66 66 2e 0f 1f 84 00 00 00 00 00", is(Nop)},

		// Immediates and addresses.
		{"mov $imm64", "48 b8 01 02 03 04 05 06 07 08", is(Other)},
		{"mov $imm32", "b8 01 02 03 04", is(Other)},
		{"mov $imm16", "66 b8 01 02", is(Other)},
		{"movabs moffs64", "a1 01 02 03 04 05 06 07 08", is(Other)},
		{"movabs moffs32", "67 a1 01 02 03 04", is(Other)},
		{"test $imm8", "f6 40 01 02", is(Other)},
		{"not byte", "f6 50 01", is(Other)},
		{"test $imm16", "66 f7 c0 01 02", is(Other)},
		{"add $imm32, REX.W over 66", "66 48 81 c0 01 02 03 04", is(Other)},
		{"enter", "c8 10 00 00", is(Other)},
		{"mov %cr0, ModRM.mod 0", "0f 20 05", is(Other)},
		{"insertq", "f2 0f 78 c1 02 03", is(Other)},
		{"3DNow pfadd", "0f 0f c1 9e", is(Other)},
		{"fwait", "9b", is(Other)},
		{"pop (%rax)", "8f 00", is(Other)},

		// Extensions.
		{"vaddps %ymm", "c5 fc 58 c1", is(Other)},
		{"vpblendd $imm8", "c4 e3 7d 02 c1 0f", is(Other)},
		{"vpbroadcastb", "c4 e2 7d 78 05 01 02 03 04", is(Other)},
		{"vpsrldq $imm8", "c5 f9 73 d8 08", is(Other)},
		{"mulx", "c4 e2 fb f6 c1", is(Other)},
		{"rorx $imm8", "c4 e3 fb f0 c1 03", is(Other)},
		{"vaddps %zmm", "62 f1 7c 48 58 c0", is(Other)},
		{"vaddps disp8*64(%rsp)", "62 f1 7c 48 58 44 24 01", is(Other)},
		{"vaddps disp32(%rip)", "62 f1 7c 48 58 05 01 02 03 04", is(Other)},
		{"vpternlogd $imm8", "62 f3 7d 48 25 c0 ff", is(Other)},
		{"vaddph", "62 f5 7c 48 58 c0", is(Other)},
		{"vfmadd132ph", "62 f6 7d 48 98 c0", is(Other)},
		{"kmovq", "c4 e1 fb 92 c0", is(Other)},
		{"XOP vprotb $imm8", "8f e8 78 c0 c1 05", is(Other)},
		{"XOP vphaddbw", "8f e9 78 c1 c1", is(Other)},
		{"XOP bextr $imm32", "8f ea 78 10 c1 01 02 03 04", is(Other)},
		{"sha256rnds2", "0f 38 cb ca", is(Other)},
		{"sha1rnds4 $imm8", "0f 3a cc ca 01", is(Other)},
		{"movbe", "48 0f 38 f0 08", is(Other)},
		{"crc32b", "f2 0f 38 f0 c1", is(Other)},
		{"rdfsbase", "f3 48 0f ae c0", is(Other)},
		{"xsavec", "0f c7 64 24 40", is(Other)},
		{"xsaveopt disp32", "0f ae b0 01 02 03 04", is(Other)},
		{"tzcnt", "f3 48 0f bc c1", is(Other)},
		{"hreset", "f3 0f 3a f0 c0 00", is(Other)},
		{"tileloadd", "c4 e2 7b 4b 04 23", is(Other)},
	} {
		checkX86(t, isa.AMD64, addr, c.name, c.code, c.want)
	}

	for _, c := range []struct {
		name string
		code string
		want Inst
	}{
		{"inc %eax", "40", is(Other)},
		{"call", "e8 fb ff ff ff", to(Call, addr)},
		{"call around 0", "e8 00 00 c0 ff", to(Call, 0x1005)},
		{"call *slot", "ff 15 0c a0 04 08", via(Call, 0x804a00c)},
		{"jmp *slot, high", "ff 25 00 f0 ff ff", via(Jump, 0xfffff000)},
		{"call *%gs:0x10", "65 ff 15 10 00 00 00", is(Call)},
		{"jmp *12(%ebx)", "ff a3 0c 00 00 00", is(Jump)},
		{"lcall", "9a 01 02 03 04 33 00", is(Call)},
		{"ljmp", "ea 01 02 03 04 33 00", is(Jump)},
		{"jmp, 16 bits", "66 e9 00 10", to(Jump, 0x2004)},
		{"bound", "62 48 10", is(Other)},
		{"lds", "c5 40 10", is(Other)},
		{"les", "c4 05 01 02 03 04", is(Other)},
		{"vaddps %ymm", "c5 fc 58 c1", is(Other)},
		{"vaddps %zmm", "62 f1 7c 48 58 c0", is(Other)},
		{"mov moffs", "a1 01 02 03 04", is(Other)},
		{"mov moffs16", "67 a1 01 02", is(Other)},
		{"mov disp16(%bx,%si)", "67 8b 80 01 02", is(Other)},
		{"mov disp8(%bp)", "67 8b 46 01", is(Other)},
		{"mov disp16", "67 8b 06 01 02", is(Other)},
		{"mov (%bx)", "67 8b 07", is(Other)},
		{"sysenter", "0f 34", is(Syscall)},
		{"aam", "d4 0a", is(Other)},
		{"into", "ce", is(Trap)},
	} {
		checkX86(t, isa.X86, addr, c.name, c.code, c.want)
	}
}

func checkX86(t *testing.T, arch isa.Arch, addr uint64, name, code string, want Inst) {
	t.Helper()
	b := unhex(t, arch, code)
	want.Len = len(b)
	for _, behind := range []string{"", "c3 90 e8 01 02 03 04 ff 25 66 0f", "ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff"} {
		got, err := Decode(arch, append(b[:len(b):len(b)], unhex(t, arch, behind)...), addr)
		if err != nil || got != want {
			t.Errorf("%s: %+v %v, want %+v", name, got, err, want)
		}
	}
	if got, err := Decode(arch, b[:len(b)-1], addr); !errors.Is(err, ErrTruncated) {
		t.Errorf("%s without its last byte: %+v %v", name, got, err)
	}
}

func TestX86Undefined(t *testing.T) {
	for _, c := range []struct {
		arch       isa.Arch
		name, code string
		want       error
	}{
		{isa.AMD64, "push %es", "06 90 90 90", ErrUndefined},
		{isa.AMD64, "into", "ce 90 90 90", ErrUndefined},
		{isa.AMD64, "lcall", "9a 01 02 03 04 33 00", ErrUndefined},
		{isa.AMD64, "0f 04", "0f 04 90 90", ErrUndefined},
		{isa.AMD64, "group fe", "fe d0 90 90", ErrUndefined},
		{isa.AMD64, "group ff", "ff f8 90 90", ErrUndefined},
		{isa.AMD64, "group c7", "c7 c8 90 90 90 90", ErrUndefined},
		{isa.AMD64, "jmpe", "0f b8 c0 90 90 90", ErrUndefined},
		{isa.AMD64, "prefix 66 before VEX", "66 c5 f8 58 c0", ErrUndefined},
		{isa.AMD64, "REX before EVEX", "48 62 f1 7c 48 58 c0", ErrUndefined},
		{isa.AMD64, "VEX map 0", "c4 e0 78 58 c0", ErrUndefined},
		{isa.AMD64, "EVEX with a reserved bit", "62 f9 7c 48 58 c0", ErrUndefined},
		{isa.AMD64, "16 bytes", "66 66 66 66 66 66 66 2e 0f 1f 84 00 00 00 00 00", ErrUndefined},
		{isa.AMD64, "15 bytes that are not all", "66 66 66 66 66 66 66 2e 0f 1f 84 00 00 00 00", ErrUndefined},
		{isa.AMD64, "REX2", "d5 10 89 c8", ErrUndefined},
		{0, "no instruction set", "c3", ErrUndefined},
		{isa.AMD64, "only prefixes", "66 66 f2", ErrTruncated},
		{isa.AMD64, "nothing", "", ErrTruncated},
		{isa.X86, "EVEX with a reserved bit", "62 f1 78 48 58 c0", ErrUndefined},
	} {
		if got, err := Decode(c.arch, unhex(t, c.arch, c.code), 0); !errors.Is(err, c.want) {
			t.Errorf("%s: %+v %v", c.name, got, err)
		}
	}
}
