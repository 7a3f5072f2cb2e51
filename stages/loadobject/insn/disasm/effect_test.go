package disasm

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/isa"
)

// effectText formats an effect as a line: operation, accesses, written registers, and the update of
// the base register.
func effectText(arch isa.Arch, e *insn.Effect) string {
	name := func(r insn.Register) string {
		switch {
		case r == insn.NoRegister:
			return "-"
		case arch == isa.AMD64:
			return names64[r]
		case arch == isa.X86:
			return names32[r]
		case r == 31:
			return "sp"
		}
		return fmt.Sprintf("x%d", r)
	}
	var s strings.Builder
	dest, source, second := name(e.Dest), name(e.Source), name(e.Second)
	switch e.Op {
	case insn.Move:
		fmt.Fprintf(&s, "%s=%s/%d", dest, source, e.Width)
	case insn.SetConst:
		fmt.Fprintf(&s, "%s=%#x/%d", dest, e.Value, e.Width)
	case insn.Load:
		fmt.Fprintf(&s, "%s=load/%d", dest, e.Width)
	case insn.Store:
		if e.Source == insn.NoRegister {
			source = fmt.Sprintf("$%#x", e.Value)
		}
		fmt.Fprintf(&s, "store %s", source)
	case insn.AddConst:
		fmt.Fprintf(&s, "%s=%s%+#x/%d", dest, source, e.Value, e.Width)
	case insn.AddRegister:
		fmt.Fprintf(&s, "%s=%s+%s*%d%+#x/%d", dest, source, second, e.Scale, e.Value, e.Width)
	case insn.MultiplyAdd:
		fmt.Fprintf(&s, "%s=%s+%s*%s*%d/%d", dest, name(e.Addend), source, second, e.Scale, e.Width)
	case insn.Choose:
		fmt.Fprintf(&s, "%s=%s?%s/%d", dest, source, second, e.Width)
	case insn.ThreadBase:
		fmt.Fprintf(&s, "%s=thread/%d", dest, e.Width)
	case insn.LoadPair:
		fmt.Fprintf(&s, "%s,%s=load/%d", dest, second, e.Width)
	case insn.StorePair:
		fmt.Fprintf(&s, "store %s,%s", source, second)
	case insn.Extend:
		fmt.Fprintf(&s, "%s=%s:%d/%d", dest, source, e.Value, e.Width)
	}
	for _, m := range e.Accesses {
		flags := ""
		for _, f := range []struct {
			set  bool
			text string
		}{{m.Load, "L"}, {m.Store, "S"}, {m.Implicit, "i"}, {m.Thread, "t"}, {m.Absolute, "a"}, {m.Inexact, "x"}, {m.Repeated, "r"},
			{m.Class == insn.Float, "F"}, {m.Class == insn.Vector, "V"}} {
			if f.set {
				flags += f.text
			}
		}
		fmt.Fprintf(&s, " %s%d[", flags, m.Size)
		if m.Base != insn.NoRegister {
			s.WriteString(name(m.Base))
		}
		if m.Index != insn.NoRegister {
			fmt.Fprintf(&s, "+%s*%d", name(m.Index), m.Scale)
		}
		fmt.Fprintf(&s, "%+#x]", m.Disp)
	}
	if e.Written != 0 {
		s.WriteString(" w")
		for r := range insn.Register(32) {
			if e.Written>>r&1 != 0 {
				s.WriteString(" " + name(r))
			}
		}
	}
	if e.Base != insn.NoRegister {
		fmt.Fprintf(&s, " %s%+d", name(e.Base), e.Update)
	}
	return strings.TrimSpace(s.String())
}

type effectCase struct{ name, code, want string }

func checkEffects(t *testing.T, arch isa.Arch, cases []effectCase) {
	t.Helper()
	for _, c := range cases {
		code := unhex(t, arch, c.code)
		e, err := Effects(arch, code, 0x401000)
		if got := effectText(arch, &e); err != nil || got != c.want || e.Len != len(code) {
			t.Errorf("%s: %q %v, want %q", c.name, got, err, c.want)
		}
	}
}

func TestEffectsAMD64(t *testing.T) {
	checkEffects(t, isa.AMD64, []effectCase{
		{"mov %rsp,%rbp", "48 89 e5", "rbp=rsp/8 w rbp"},
		{"mov %eax,%r8d", "41 89 c0", "r8=rax/4 w r8"},
		{"mov %al,%cl", "88 c1", "rcx=rax/1 w rcx"},
		{"mov %ah,%cl", "88 e1", "w rcx"},
		{"mov %spl,%cl", "40 88 e1", "rcx=rsp/1 w rcx"},
		{"mov $-1,%rax", "48 c7 c0 ff ff ff ff", "rax=-0x1/8 w rax"},
		{"mov $-1,%eax", "b8 ff ff ff ff", "rax=0xffffffff/4 w rax"},
		{"movabs", "49 b8 88 77 66 55 44 33 22 11", "r8=0x1122334455667788/8 w r8"},
		{"mov $7,%ah", "b4 07", "w rax"},
		{"mov 8(%rax,%rcx,4),%rdx", "48 8b 54 88 08", "rdx=load/8 L8[rax+rcx*4+0x8] w rdx"},
		{"mov -8(%rbp),%eax", "8b 45 f8", "rax=load/4 L4[rbp-0x8] w rax"},
		{"mov (%r12),%al", "41 8a 04 24", "rax=load/1 L1[r12+0x0] w rax"},
		{"mov (%r13),%rax", "49 8b 45 00", "rax=load/8 L8[r13+0x0] w rax"},
		{"mov 16(,%r12,8),%rax", "4a 8b 04 e5 10 00 00 00", "rax=load/8 L8[+r12*8+0x10] w rax"},
		{"mov 0x10(%rip),%rax", "48 8b 05 10 00 00 00", "rax=load/8 La8[+0x401017] w rax"},
		{"mov %fs:0x28,%rax", "64 48 8b 04 25 28 00 00 00", "rax=load/8 Lt8[+0x28] w rax"},
		{"mov %fs:-4,%eax", "64 8b 04 25 fc ff ff ff", "rax=load/4 Lt4[-0x4] w rax"},
		{"mov %ecx,%fs:(%rax)", "64 89 08", "store rcx St4[rax+0x0]"},
		{"mov %rdi,-24(%rsp)", "48 89 7c 24 e8", "store rdi S8[rsp-0x18]"},
		{"movq $5,(%rax)", "48 c7 00 05 00 00 00", "store $0x5 S8[rax+0x0]"},
		{"mov %ah,(%rbx)", "88 23", "S1[rbx+0x0]"},
		{"movabs moffs", "a1 01 02 03 04 05 06 07 08", "rax=load/4 La4[+0x807060504030201] w rax"},
		{"movzbl (%rdi),%eax", "0f b6 07", "rax=load/4 L1[rdi+0x0] w rax"},
		{"movswq (%rdi),%rax", "48 0f bf 07", "rax=load/8 L2[rdi+0x0] w rax"},
		{"movslq %ecx,%rax", "48 63 c1", "rax=rcx:4/8 w rax"},
		{"cltq", "48 98", "rax=rax:4/8 w rax"},
		{"cwtl", "98", "rax=rax:2/4 w rax"},
		{"movzbl %dh,%eax", "0f b6 c6", "w rax"},
		{"movzbl %sil,%eax", "40 0f b6 c6", "rax=rsi:1/4 w rax"},
		{"lea 8(%rdi),%rax", "48 8d 47 08", "rax=rdi+0x8/8 w rax"},
		{"lea (%rdi,%rsi,8),%rax", "48 8d 04 f7", "rax=rdi+rsi*8+0x0/8 w rax"},
		{"lea 1(,%rsi,2),%eax", "8d 04 75 01 00 00 00", "rax=-+rsi*2+0x1/4 w rax"},
		{"lea -7(%rip),%rax", "48 8d 05 f9 ff ff ff", "rax=0x401000/8 w rax"},
		{"lea of 32 bits", "67 48 8d 04 37", "rax=rdi+rsi*1+0x0/4 w rax"},
		{"add $16,%rsp", "48 83 c4 10", "rsp=rsp+0x10/8 w rsp"},
		{"sub $-128,%rsp", "48 83 ec 80", "rsp=rsp+0x80/8 w rsp"},
		{"add %rcx,%rax", "48 01 c8", "rax=rax+rcx*1+0x0/8 w rax"},
		{"add (%rcx),%rax", "48 03 01", "rax=rax+-*1+0x0/8 L8[rcx+0x0] w rax"},
		{"add %eax,4(%rcx)", "01 41 04", "LS4[rcx+0x4]"},
		{"lock incl (%rdx)", "f0 ff 02", "LS4[rdx+0x0]"},
		{"inc %edx", "ff c2", "rdx=rdx+0x1/4 w rdx"},
		{"dec %r9", "49 ff c9", "r9=r9-0x1/8 w r9"},
		{"sub %rax,%rcx", "48 29 c1", "rcx=rcx+rax*-1+0x0/8 w rcx"},
		{"sub 8(%rax),%rcx", "48 2b 48 08", "rcx=rcx+-*-1+0x0/8 L8[rax+0x8] w rcx"},
		{"imul $24,8(%rax),%rcx", "48 6b 48 08 18", "rcx=-+-*24+0x0/8 L8[rax+0x8] w rcx"},
		{"sbb %rax,%rcx", "48 19 c1", "w rcx"},
		{"xor %eax,%eax", "31 c0", "rax=0x0/4 w rax"},
		{"xor %eax,%ecx", "31 c1", "w rcx"},
		{"cmpl $1,(%rax)", "83 38 01", "L4[rax+0x0]"},
		{"cmp %rax,%rcx", "48 39 c1", ""},
		{"testb $1,8(%rdi)", "f6 47 08 01", "L1[rdi+0x8]"},
		{"notq (%rdi)", "48 f7 17", "LS8[rdi+0x0]"},
		{"mulq 8(%rdi)", "48 f7 67 08", "L8[rdi+0x8] w rax rdx"},
		{"div %cl", "f6 f1", "w rax"},
		{"imul $3,(%rdi),%eax", "6b 07 03", "rax=-+-*3+0x0/4 L4[rdi+0x0] w rax"},
		{"cqto", "48 99", "w rdx"},
		{"cmove %rcx,%rax", "48 0f 44 c1", "rax=rcx?-/8 w rax"},
		{"cmove (%rcx),%rax", "48 0f 44 01", "rax=-?-/8 L8[rcx+0x0] w rax"},
		{"sete (%rax)", "0f 94 00", "S1[rax+0x0]"},
		{"sete %al", "0f 94 c0", "w rax"},
		{"xchg %rax,%r8", "49 90", "w rax r8"},
		{"xchg %eax,(%rcx)", "87 01", "LS4[rcx+0x0] w rax"},
		{"lock cmpxchg %rcx,(%rdx)", "f0 48 0f b1 0a", "LS8[rdx+0x0] w rax"},
		{"cmpxchg16b (%rsi)", "48 0f c7 0e", "LS16[rsi+0x0] w rax rdx"},
		{"lock xadd %eax,(%rdi)", "f0 0f c1 07", "LS4[rdi+0x0] w rax"},
		{"bt %eax,(%rdi)", "0f a3 07", "Lx4[rdi+0x0]"},
		{"bts $3,(%rdi)", "0f ba 2f 03", "LS4[rdi+0x0]"},
		{"btr %rax,8(%rdi)", "48 0f b3 47 08", "LSx8[rdi+0x8]"},
		{"bswap %r9d", "41 0f c9", "w r9"},

		{"push %rbp", "55", "store rbp Si8[rsp-0x8] w rsp rsp-8"},
		{"push $-1", "6a ff", "store $-0x1 Si8[rsp-0x8] w rsp rsp-8"},
		{"push 8(%rax)", "ff 70 08", "L8[rax+0x8] Si8[rsp-0x8] w rsp rsp-8"},
		{"pop %r12", "41 5c", "r12=load/8 Li8[rsp+0x0] w rsp r12 rsp+8"},
		{"pop %rsp", "5c", "rsp=load/8 Li8[rsp+0x0] w rsp"},
		{"pop 8(%rsp)", "8f 44 24 08", "Li8[rsp+0x0] S8[rsp+0x10] w rsp rsp+8"},
		{"pushf", "9c", "Si8[rsp-0x8] w rsp rsp-8"},
		{"leave", "c9", "rbp=load/8 Li8[rbp+0x0] w rbp rsp"},
		{"enter", "c8 10 00 00", "Si8[rsp-0x8] w rbp rsp"},
		{"call", "e8 00 00 00 00", "Si8[rsp-0x8]"},
		{"call *8(%rax)", "ff 50 08", "L8[rax+0x8] Si8[rsp-0x8]"},
		{"jmp *(%rax,%rdx,8)", "ff 24 d0", "L8[rax+rdx*8+0x0]"},
		{"ret", "c3", "Li8[rsp+0x0] w rsp rsp+8"},
		{"ret $16", "c2 10 00", "Li8[rsp+0x0] w rsp rsp+24"},
		{"syscall", "0f 05", "w rax rcx r11"},
		{"cpuid", "0f a2", "w rax rdx rcx rbx"},
		{"rdtsc", "0f 31", "w rax rdx"},
		{"movsb", "a4", "L1[rsi+0x0] S1[rdi+0x0] w rsi rdi"},
		{"rep stos %rax", "f3 48 ab", "Sr8[rdi+0x0] w rcx rdi"},
		{"stos %eax", "ab", "store rax S4[rdi+0x0] w rdi"},
		{"lods %fs:(%rsi),%al", "64 ac", "rax=load/1 Lt1[rsi+0x0] w rax rsi"},
		{"repnz scas", "f2 ae", "Lr1[rdi+0x0] w rcx rdi"},
		{"cmpsw", "66 a7", "L2[rsi+0x0] L2[rdi+0x0] w rsi rdi"},
		{"xlat", "d7", "rax=load/1 Lx1[rbx+0x0] w rax"},

		{"nopw", "66 0f 1f 44 00 00", ""},
		{"prefetcht0 (%rax)", "0f 18 08", ""},
		{"clflush (%rax)", "0f ae 38", ""},
		{"pause", "f3 90", ""},
		{"mfence", "0f ae f0", ""},
		{"endbr64", "f3 0f 1e fa", ""},
		{"rdfsbase %rax", "f3 48 0f ae c0", "rax=thread/8 w rax"},
		{"xsavec", "0f c7 64 24 40", "S0[rsp+0x40]"},

		{"movss (%rax),%xmm0", "f3 0f 10 00", "LF4[rax+0x0]"},
		{"movsd %xmm0,8(%rax)", "f2 0f 11 40 08", "SF8[rax+0x8]"},
		{"addsd (%rax,%rdx,8),%xmm1", "f2 0f 58 0c d0", "LF8[rax+rdx*8+0x0]"},
		{"movups (%rax),%xmm0", "0f 10 00", "LV16[rax+0x0]"},
		{"movdqa %xmm0,(%rax)", "66 0f 7f 00", "SV16[rax+0x0]"},
		{"movq (%rax),%mm0", "0f 6f 00", "LV8[rax+0x0]"},
		{"movq (%rax),%xmm0", "f3 0f 7e 00", "LV8[rax+0x0]"},
		{"movd (%rax),%xmm0", "66 0f 6e 00", "LV4[rax+0x0]"},
		{"movq %xmm0,%rax", "66 48 0f 7e c0", "w rax"},
		{"cvtsi2sdl (%rax),%xmm0", "f2 0f 2a 00", "L4[rax+0x0]"},
		{"cvttsd2si (%rax),%ecx", "f2 0f 2c 08", "LF8[rax+0x0] w rcx"},
		{"pmovmskb %xmm0,%eax", "66 0f d7 c0", "w rax"},
		{"movhps %xmm0,(%rax)", "0f 17 00", "SV8[rax+0x0]"},
		{"movnti %rcx,(%rax)", "48 0f c3 08", "store rcx S8[rax+0x0]"},
		{"flds (%rax)", "d9 00", "LF4[rax+0x0]"},
		{"fstpt (%rax)", "db 38", "SF10[rax+0x0]"},
		{"fildll (%rax)", "df 28", "L8[rax+0x0]"},
		{"fnstcw (%rax)", "d9 38", "S2[rax+0x0]"},
		{"fnstsw %ax", "df e0", "w rax"},
		{"vmovdqu (%rax),%ymm0", "c5 fe 6f 00", "LV32[rax+0x0]"},
		{"vaddsd (%r8,%r9,8),%xmm1,%xmm0", "c4 81 73 58 04 c8", "LF8[r8+r9*8+0x0]"},
		{"vaddps disp8*64(%rsp)", "62 f1 7c 48 58 44 24 01", "LV64[rsp+0x40]"},
		{"vaddps 4(%rsp){1to16}", "62 f1 7c 58 58 44 24 01", "LF4[rsp+0x4]"},
		{"vpaddq 8(%rsp){1to8}", "62 f1 fd 58 d4 44 24 01", "L8[rsp+0x8]"},
		{"vpcompressd %zmm0,4(%rax)", "62 f2 7d 48 8b 40 01", "SV64[rax+0x4]"},
		{"vgatherdps", "c4 e2 6d 92 04 88", "LxF4[rax+0x0]"},
		{"vpbroadcastd (%rax),%ymm0", "c4 e2 7d 58 00", "L4[rax+0x0]"},
		{"vextracti128 $1,%ymm0,(%rax)", "c4 e3 7d 39 00 01", "SV16[rax+0x0]"},
		{"kmovq (%rax),%k1", "c4 e1 f8 90 08", "L8[rax+0x0]"},
		{"kmovd %k1,%eax", "c5 fb 93 c1", "w rax"},
		{"andn (%rdi),%rcx,%rax", "c4 e2 f0 f2 07", "L8[rdi+0x0] w rax"},
		{"blsr %rdi,%rax", "c4 e2 f8 f3 cf", "w rax"},
		{"mulx %rdi,%rcx,%rax", "c4 e2 f3 f6 c7", "w rax rcx"},
		{"pextrw $1,%xmm0,%ecx", "66 0f c5 c8 01", "w rcx"},
		{"pcmpistri $0,(%rsi),%xmm0", "66 0f 3a 63 06 00", "LV16[rsi+0x0] w rcx"},
		{"crc32b (%rdi),%eax", "f2 0f 38 f0 07", "L1[rdi+0x0] w rax"},
		{"movbe (%rdi),%eax", "0f 38 f0 07", "L4[rdi+0x0] w rax"},
	})
}

func TestEffectsX86(t *testing.T) {
	checkEffects(t, isa.X86, []effectCase{
		{"mov %esp,%ebp", "89 e5", "ebp=esp/4 w ebp"},
		{"mov 0x804a00c,%eax", "a1 0c a0 04 08", "eax=load/4 La4[+0x804a00c] w eax"},
		{"mov -4(%ebx,%esi,4),%ecx", "8b 4c b3 fc", "ecx=load/4 L4[ebx+esi*4-0x4] w ecx"},
		{"mov %gs:0x14,%eax", "65 a1 14 00 00 00", "eax=load/4 Lt4[+0x14] w eax"},
		{"mov 0x1234(%bx,%si),%ax", "67 66 8b 80 34 12", "eax=load/2 L2[ebx+esi*1+0x1234] w eax"},
		{"inc %edx", "42", "edx=edx+0x1/4 w edx"},
		{"push %ebx", "53", "store ebx Si4[esp-0x4] w esp esp-4"},
		{"pusha", "60", "Si32[esp-0x20] w esp esp-32"},
		{"popa", "61", "Li32[esp+0x0] w eax ecx edx ebx esp ebp esi edi esp+32"},
		{"call", "e8 00 00 00 00", "Si4[esp-0x4]"},
		{"ret", "c3", "Li4[esp+0x0] w esp esp+4"},
		{"mov 0xfffff000,%eax", "8b 05 00 f0 ff ff", "eax=load/4 La4[+0xfffff000] w eax"},
		{"cvtsi2sd (%eax),%xmm0", "f2 0f 2a 00", "L4[eax+0x0]"},
	})
}

func TestEffectsErrors(t *testing.T) {
	for _, arch := range []isa.Arch{isa.AMD64, isa.X86, isa.ARM64} {
		if _, err := Effects(arch, nil, 0); !errors.Is(err, insn.ErrTruncated) {
			t.Errorf("%d: %v", arch, err)
		}
	}
	if _, err := Effects(isa.AMD64, []byte{0x06}, 0); !errors.Is(err, insn.ErrUndefined) {
		t.Error(err)
	}
	if _, err := Effects(0, []byte{0x90}, 0); !errors.Is(err, insn.ErrUndefined) {
		t.Error(err)
	}
}
