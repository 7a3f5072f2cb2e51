package dataspace

import (
	"encoding/hex"
	"strings"
	"testing"

	"stackmill/stages/loadobject/isa"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/loadobject/types"
)

// The bits that an access uses or changes follow from masks, shifts and immediates around it. The
// instructions of a case are one function, which contains the access.
func TestUsedBits(t *testing.T) {
	const (
		all  = 0
		kept = -1 // nothing, but to be written back
	)
	for _, x := range []struct {
		name string
		arch isa.Arch
		code string
		n    int
		want int64
	}{
		{"test of a bit", isa.AMD64, "f60704 7401 c3 c3", 0, 0x4},                         // testb $4,(%rdi); je; ret; ret
		{"or of a constant", isa.AMD64, "800f10 c3", 0, 0x10},                             // orb $0x10,(%rdi); ret
		{"and of a constant", isa.AMD64, "8027e1 c3", 0, 0x1e},                            // andb $0xe1,(%rdi); ret
		{"exclusive or", isa.AMD64, "8137 00f00000 c3", 0, 0xf000},                        // xorl $0xf000,(%rdi); ret
		{"sum", isa.AMD64, "8107 00000100 c3", 0, 0xffff0000},                             // addl $0x10000,(%rdi); ret
		{"bit number", isa.AMD64, "0fba2f05 c3", 0, 0x20},                                 // btsl $5,(%rdi); ret
		{"returned shifts with sign", isa.AMD64, "8b07 c1e014 c1f81b c3", 0, 0xf80},       // mov (%rdi),%eax; shl $20,%eax; sar $27,%eax; ret
		{"returned extension of a byte", isa.AMD64, "8b07 c1e808 0fb6c0 c3", 0, 0xff00},   // mov (%rdi),%eax; shr $8,%eax; movzbl %al,%eax; ret
		{"returned second byte of a register", isa.AMD64, "8b07 0fb6c4 c3", 0, 0xff00},    // mov (%rdi),%eax; movzbl %ah,%eax; ret
		{"returned carry of a shift", isa.AMD64, "8b07 c1e805 7201 c3 c3", 0, 0xfffffff0}, // mov (%rdi),%eax; shr $5,%eax; jc; ret: 4, and what is returned
		{"load of a change", isa.AMD64, "8b07 8d4820 81e1e0ff0000 251f00ffff 09c8 8907 c3", 0, 0xffe0},
		{"store of a change", isa.AMD64, "8b07 8d4820 81e1e0ff0000 251f00ffff 09c8 8907 c3", 5, 0xffe0},
		// mov (%rdi),%eax; xor %eax,%esi; and $0x700,%esi; xor %esi,(%rdi); ret
		{"change by exclusive or", isa.AMD64, "8b07 31c6 81e600070000 3137 c3", 3, 0x700},
		{"load of that", isa.AMD64, "8b07 31c6 81e600070000 31f0 8907 c3", 0, 0x700},
		// movzbl 0x8(%rdi),%eax; mov %al,0x8(%rdi); ret
		{"written back", isa.AMD64, "0fb64708 884708 c3", 0, kept},
		{"writing back", isa.AMD64, "0fb64708 884708 c3", 1, kept},
		// mov (%rdi),%eax; mov %eax,(%rsi); ret
		{"copied elsewhere", isa.AMD64, "8b07 8906 c3", 0, 0xffffffff},
		// cmovne of two ways to set a bit: mov (%rdi),%eax; mov %eax,%edx; or $2,%eax; and $-3,%edx; test %esi,%esi; cmove %edx,%eax; mov %eax,(%rdi); ret
		{"chosen", isa.AMD64, "8b07 89c2 83c802 83e2fd 85f6 0f44c2 8907 c3", 6, 0x2},
		{"not followed", isa.AMD64, "0fc107 c3", 0, all}, // xadd %eax,(%rdi); ret
		// ldr w1,[x0]; bfi w1,w2,#5,#11; str w1,[x0]; ret
		{"inserted field", isa.ARM64, "010040b9 41281b33 010000b9 c0035fd6", 0, 0xffe0},
		{"store of that", isa.ARM64, "010040b9 41281b33 010000b9 c0035fd6", 2, 0xffe0},
		// ldr w0,[x0]; ubfx w0,w0,#5,#11; ret
		{"returned extracted field", isa.ARM64, "000040b9 003c0553 c0035fd6", 0, 0xffe0},
		// ldr w1,[x0]; tbz w1,#3,.+8; ret; ret
		{"branch by a bit", isa.ARM64, "010040b9 41001836 c0035fd6 c0035fd6", 0, 0x8},
		// ldrb w1,[x0]; and w1,w1,#0xffffffe1; orr w1,w1,w2,lsl #1; strb w1,[x0]; ret
		{"merged with what may be anything", isa.ARM64, "01004039 216c1b12 2104022a 01000039 c0035fd6", 3, 0xfe},
		// test %esi,%esi; je .+17; and $0xffffff,%edx; movzbl 3(%rdi),%eax; shl $24,%eax; or %edx,%eax; mov %eax,(%rdi); dec %esi; jne to the load; ret
		{"written back, with a mask outside of the loop", isa.AMD64, "85f6 7417 81e2ffffff00 0fb64703 c1e018 09d0 8907 ffce 75f1 c3", 3, kept},
		// ldrb w1,[x0]; orr x2,x3,x1,lsl #32; lsr x2,x2,#20; and w0,w2,#0xff; ret
		{"returned bits of another word", isa.ARM64, "01004039 628001aa 42fc54d3 401c0012 c0035fd6", 0, kept},
		// ldrb w1,[x0]; orr x0,x3,x1,lsr #5; ret
		{"returned bits shifted right", isa.ARM64, "01004039 601441aa c0035fd6", 0, 0xe0},
		// ldrb w1,[x0]; ubfx w1,w1,#9,#3; ldrb w2,[x0]; strb w2,[x0]; mov w0,w1; ret
		{"dropped, and another load written back", isa.ARM64, "01004039 212c0953 02004039 02000039 e003012a c0035fd6", 0, kept},
	} {
		code, err := hex.DecodeString(strings.ReplaceAll(x.code, " ", ""))
		if err != nil {
			t.Fatal(x.name, err)
		}
		f := disassemble(&loadObject{symbols: &symtab.Table{Arch: x.arch}}, code, x.arch, 0x1000, 0)
		f.types = testTypes()
		f.types.Scopes = []types.Scope{{}, {Function: 1, Name: x.name}}
		if strings.HasPrefix(x.name, "returned ") {
			f.types.Scopes[1].Type = typeLong
		}
		f.types.Ranges = []types.Range{{Low: 0x1000, High: 0x2000, Scope: 1}}
		f.types.Index()
		f.stateBefore(x.n)
		bits, ok := f.usedBits(x.n)
		got := int64(bits)
		if !ok {
			got = kept
		}
		if got != x.want {
			t.Errorf("%s: %#x, want %#x", x.name, got, x.want)
		}
	}
}
