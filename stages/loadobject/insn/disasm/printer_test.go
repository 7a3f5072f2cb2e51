package disasm

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"stackmill/stages/loadobject/isa"
)

// A Printer prints the same as Text, also for bytes that it has printed at another address.
func TestPrinter(t *testing.T) {
	if testing.Short() {
		t.Skip("every opcode")
	}
	samples := map[isa.Arch][]string{isa.AMD64: everyOpcode(isa.AMD64), isa.X86: everyOpcode(isa.X86)}
	words := rand.New(rand.NewPCG(1, 2))
	for range 50_000 {
		samples[isa.ARM64] = append(samples[isa.ARM64], string(binary.LittleEndian.AppendUint32(nil, words.Uint32())))
	}
	for arch, codes := range samples {
		p := NewPrinter(arch)
		for i, c := range codes {
			if arch != isa.ARM64 && i%7 != 0 && c[0] != 0x0f && c[0]&0xf0 != 0xe0 && c[0]&0xf0 != 0x70 {
				continue // all branches, and some of the others
			}
			code := []byte(c + "\x11\x22\x33\x44\x55\x66\x77\x08")
			for _, addr := range []uint64{0x401000, 0x7000123456} {
				if arch == isa.X86 {
					addr = uint64(uint32(addr))
				}
				for item := range Walk(arch, code, addr) {
					if got, want := p.Text(&item, code), Text(arch, code, addr); got != want {
						t.Fatalf("% x at %#x: %q, want %q", code[:item.Inst.Len], addr, got, want)
					}
					break
				}
			}
		}
	}
}

// Pass returns the position where Walk arrives.
func TestPass(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	code := make([]byte, 4000)
	for i := range code {
		code[i] = byte(random.Uint32())
	}
	for _, arch := range []isa.Arch{isa.AMD64, isa.X86, isa.ARM64} {
		for _, distance := range []uint64{0, 1, 17, 1000, 3999, 4000, 5000} {
			want := uint64(len(code))
			for i := range Walk(arch, code, 0) {
				if i.Addr >= distance {
					want = i.Addr
					break
				}
			}
			if got := Pass(arch, code, distance); got != want {
				t.Errorf("passes %d bytes for %d, want %d", got, distance, want)
			}
		}
	}
}

// Text disassembles the instruction at the start of code; empty for no code.
func Text(arch isa.Arch, code []byte, addr uint64) string {
	inst, err := Decode(arch, code, addr)
	if err != nil {
		return bytesText(code[:min(arch.Step(), len(code))])
	}
	return textOf(arch, code[:inst.Len], addr)
}
