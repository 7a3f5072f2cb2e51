package x86

import (
	"testing"

	"stackmill/stages/loadobject/insn"
)

// Quick decoding says the same as decoding all of the instruction, of every opcode with
// every prefix byte and operand.
func TestQuick(t *testing.T) {
	const addr = 0x401000
	code := []byte{14: 0}
	decoded := 0
	check := func() {
		var got insn.Inst
		if !decodeQuick(code, addr, &got) {
			return
		}
		decoded++
		if want, err := decodeWhole(true, code, addr); err != nil || got != want {
			t.Fatalf("% x: %+v, decoded as a whole %+v, %v", code, got, want, err)
		}
	}
	for prefix := range 256 {
		for op := range 256 {
			for modrm := range 256 {
				for _, sib := range []byte{0x00, 0x05, 0x24, 0x25, 0xe5, 0xff} {
					for i := range code {
						code[i] = sib ^ byte(0x91*i)
					}
					code[0], code[1], code[2], code[3] = byte(prefix), byte(op), byte(modrm), sib
					check()
					if prefix&0xf0 == 0x40 {
						code[1], code[2], code[3], code[4] = 0x0f, byte(op), byte(modrm), sib
						check()
					}
				}
			}
		}
	}
	if decoded < 5_000_000 {
		t.Errorf("only %d of the instructions were decoded quickly", decoded)
	}
}
