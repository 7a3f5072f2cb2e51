package disasm

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/insn/x86"
	"stackmill/stages/loadobject/isa"
)

// unhex reads bytes as `48 8b 05`, and A64 words as `94000001`.
func unhex(t *testing.T, arch isa.Arch, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	if arch == isa.ARM64 {
		for w := range slices.Chunk(b, 4) {
			slices.Reverse(w)
		}
	}
	return b
}

// TestWalk walks over a jump across a data byte that is not an instruction, and over an instruction
// that the end of the code truncates.
func TestWalk(t *testing.T) {
	code := unhex(t, isa.AMD64, "eb 01 06 c3 e8 00")
	want := []Item{
		{0x1000, insn.Inst{Len: 2, Kind: insn.Jump, HasTarget: true, Target: 0x1003}, nil},
		{0x1002, insn.Inst{Len: 1}, insn.ErrUndefined},
		{0x1003, insn.Inst{Len: 1, Kind: insn.Return}, nil},
		{0x1004, insn.Inst{Len: 1}, insn.ErrTruncated},
		{0x1005, insn.Inst{Len: 1}, insn.ErrTruncated},
	}
	same := cmp.Comparer(func(a, b error) bool { return errors.Is(a, b) })
	if diff := cmp.Diff(want, slices.Collect(Walk(isa.AMD64, code, 0x1000)), same); diff != "" {
		t.Error(diff)
	}
	code = unhex(t, isa.ARM64, "02000000 d65f03c0 d503")
	want = []Item{
		{0x1000, insn.Inst{Len: 4}, insn.ErrUndefined},
		{0x1004, insn.Inst{Len: 4, Kind: insn.Return}, nil},
		{0x1008, insn.Inst{Len: 2}, insn.ErrTruncated},
	}
	if diff := cmp.Diff(want, slices.Collect(Walk(isa.ARM64, code, 0x1000)), same); diff != "" {
		t.Error(diff)
	}
	for range Walk(isa.ARM64, code, 0) {
		break
	}
}

func TestStubSlot(t *testing.T) {
	for _, c := range []struct {
		name string
		arch isa.Arch
		code string
		slot uint64 // 0: none
	}{
		{"x86-64 lazy", isa.AMD64, "ff 25 e2 2f 00 00 68 00 00 00 00 e9 e0 ff ff ff", 0x403fe8},
		{"x86-64 with IBT", isa.AMD64, "f3 0f 1e fa f2 ff 25 c5 2f 00 00 0f 1f 44 00 00", 0x403fd0},
		{"x86-64 IBT, first half", isa.AMD64, "f3 0f 1e fa 68 00 00 00 00 f2 e9 e1 ff ff ff 90", 0},
		{"i386", isa.X86, "ff 25 0c a0 04 08 68 00 00 00 00 e9 e0 ff ff ff", 0x804a00c},
		{"i386 position independent", isa.X86, "ff a3 0c 00 00 00 68 00 00 00 00 e9 e0 ff ff ff", 0},
		{"A64", isa.ARM64, "f00000f0 f947fa11 913fc210 d61f0220", 0x41fff0 + 0x1000},
		{"A64 with BTI", isa.ARM64, "d503245f 90000090 f9400a11 91004210 d61f0220", 0x411010},
		{"A64 with PAC", isa.ARM64, "90000090 f9400a11 91004210 d503219f d61f0220", 0x411010},
		{"A64 backwards", isa.ARM64, "f0fffff0 f9400211 91000210 d61f0220", 0x400000},
		{"A64 without jump", isa.ARM64, "90000090 f9400a11 91004210 d503201f", 0},
		{"empty", isa.AMD64, "", 0},
		{"empty A64", isa.ARM64, "", 0},
	} {
		slot, ok := StubSlot(c.arch, unhex(t, c.arch, c.code), 0x401000)
		if slot != c.slot || ok != (c.slot != 0) {
			t.Errorf("%s: %#x %v, want %#x", c.name, slot, ok, c.slot)
		}
	}
}

func TestText(t *testing.T) {
	for _, c := range []struct {
		arch isa.Arch
		code string
		want string
	}{
		{isa.AMD64, "48 89 e5", "mov %rsp,%rbp"},
		{isa.AMD64, "e8 0b 00 00 00", "callq 0x401010"},
		{isa.AMD64, "ff 25 e2 2f 00 00", "jmpq *0x2fe2(%rip)"},
		{isa.AMD64, "f3 0f 1e fa", "endbr64"},
		{isa.AMD64, "c5 f8 77 c3", "vzeroupper"},
		{isa.AMD64, "c5 7d 6f 25 df 29 04 00", "vmovdqa 0x429df(%rip),%ymm12"},
		{isa.AMD64, "62 e1 6d 40 da 60 07", "vpminub 0x1c0(%rax),%zmm18,%zmm20"},
		{isa.AMD64, "41 0f be 0c 24", "movsbl (%r12),%ecx"},
		{isa.AMD64, "48 63 d0", "movslq %eax,%rdx"},
		{isa.AMD64, "48 98", "cltq"},
		{isa.AMD64, "83 8d 6c ff ff ff 01", "orl $0x1,-0x94(%rbp)"},
		{isa.AMD64, "48 8d 14 c5 f8 ff ff ff", "lea -0x8(,%rax,8),%rdx"},
		{isa.AMD64, "f3 0f c7 f8", ".byte 0xf3,0x0f,0xc7,0xf8"},
		{isa.AMD64, "06 01", ".byte 0x06"},
		{isa.AMD64, "", ""},
		{isa.X86, "ff 25 0c a0 04 08", "jmp *0x804a00c"},
		{isa.ARM64, "94000004", "bl 0x401010"},
		{isa.ARM64, "90000090", "adrp x16, 0x411000"},
		{isa.ARM64, "a9bf7bfd", "stp x29, x30, [sp,#-16]!"},
		{isa.ARM64, "04e00c41", ".inst 0x04e00c41"},
	} {
		if got := Text(c.arch, unhex(t, c.arch, c.code), 0x401000); got != c.want {
			t.Errorf("%s: %q, want %q", c.code, got, c.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{"\xe8\x00\x00\x00\x00", "\xf3\x0f\x1e\xfa", "\xc5\xf8\x77\xc3", "\x62\xf1\x7c\x48\x58\x05\x00\x00\x00\x00",
		"\x8f\xe8\x78\xc0\xc1\x05", "\x66\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00", "\x01\x00\x00\x94", "\x0f\x0f\xc1\x9e"} {
		for arch := isa.AMD64; arch <= isa.ARM64; arch++ {
			f.Add(byte(arch), []byte(s), uint64(0x401000))
		}
	}
	f.Fuzz(func(t *testing.T, a byte, code []byte, addr uint64) {
		arch := isa.AMD64 + isa.Arch(a)%isa.ARM64
		if text := Text(arch, code, addr); (text == "") != (len(code) == 0) {
			t.Errorf("text %q", text)
		}
		StubSlot(arch, code, addr)
		next := addr
		for item := range Walk(arch, code, addr) {
			if item.Addr != next || item.Inst.Len < 1 {
				t.Fatalf("%+v, want an item at %#x", item, next)
			}
			if item.Err == nil {
				checkInst(t, arch, code[item.Addr-addr:], item)
			}
			next += uint64(item.Inst.Len)
		}
		if next != addr+uint64(len(code)) {
			t.Errorf("ended at %#x", next)
		}
	})
}

// checkInst checks that an instruction is within bounds and does not depend on the bytes after it.
func checkInst(t *testing.T, arch isa.Arch, code []byte, item Item) {
	n := item.Inst.Len
	if n > len(code) || n > x86.MaxLength || arch == isa.ARM64 && n != 4 {
		t.Fatalf("%+v", item)
	}
	other := append(bytes.Clone(code[:n]), 0x55, 0xaa, 0x55, 0xaa)
	if inst, err := Decode(arch, other, item.Addr); err != nil || inst != item.Inst {
		t.Errorf("% x: %+v %v, then %+v", code[:n], item, err, inst)
	}
	e, err := Effects(arch, other, item.Addr)
	if err != nil || e.Inst != item.Inst || len(e.Accesses) > 2 || e.Written>>32 != 0 || e.Width < 0 || e.Width > 8 {
		t.Errorf("% x: effect %+v %v", code[:n], e, err)
	}
	for _, r := range []insn.Register{e.Dest, e.Source, e.Second, e.Base} {
		if r < insn.NoRegister || r > 31 {
			t.Errorf("% x: register %d", code[:n], r)
		}
	}
	if _, err := Decode(arch, code[:n-1], item.Addr); !errors.Is(err, insn.ErrTruncated) {
		t.Errorf("% x without the last byte: %v", code[:n], err)
	}
}

// BenchmarkDecode decodes the code of this test program on x86, and a hundred thousand copies of a
// word on A64.
func BenchmarkDecode(b *testing.B) {
	benchmark(b, func(arch isa.Arch, code []byte) (n int) {
		for range Walk(arch, code, 0x401000) {
			n++
		}
		return n
	})
}

// BenchmarkEffects does the same with Effects.
func BenchmarkEffects(b *testing.B) {
	benchmark(b, func(arch isa.Arch, code []byte) (n int) {
		for len(code) > 0 {
			e, err := Effects(arch, code, 0x401000)
			if err != nil {
				e.Len = 1
			}
			code = code[e.Len:]
			n++
		}
		return n
	})
}

// benchmark measures decode, which decodes all code and returns the number of instructions.
func benchmark(b *testing.B, decode func(isa.Arch, []byte) int) {
	bench := func(name string, arch isa.Arch, code []byte) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n += decode(arch, code)
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds()/1e6, "Minst/s")
		})
	}
	if runtime.GOARCH == "amd64" && runtime.GOOS == "linux" {
		f, err := elf.Open("/proc/self/exe")
		if err != nil {
			b.Fatal(err)
		}
		defer f.Close()
		code, err := f.Section(".text").Data()
		if err != nil {
			b.Fatal(err)
		}
		bench("x86-64", isa.AMD64, code)
	}
	bench("arm64", isa.ARM64, bytes.Repeat(binary.LittleEndian.AppendUint32(nil, 0x94000001), 100_000))
}

// Exits finds calls, and jumps out of the function, in code and in bytes that are not code.
func TestExits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 1<<16)
	for i := range noise {
		noise[i] = byte(r.Uint32())
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	for _, code := range [][]byte{nil, noise, noise[:20], noise[:5], program[:min(len(program), 1<<21)]} {
		for _, arch := range []isa.Arch{isa.AMD64, isa.X86, isa.ARM64} {
			for _, size := range []uint64{0, 20, 1 << 14, 1 << 21} {
				var want []Item
				for i := range Walk(arch, code, 0x1000) {
					k, inside := i.Inst.Kind, i.Inst.HasTarget && i.Inst.Target-0x1000 < size
					if k == insn.Call || (k == insn.Jump || k == insn.CondJump) && !inside {
						want = append(want, i)
					}
				}
				if got := slices.Collect(Exits(arch, code, 0x1000, size)); !slices.Equal(got, want) {
					t.Errorf("%v: %d exits of %d bytes, want %d", arch, len(got), len(code), len(want))
				}
			}
		}
	}
	for range Exits(isa.AMD64, program, 0, 0) {
		break
	}
}
