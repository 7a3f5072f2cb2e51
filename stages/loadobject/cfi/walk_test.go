package cfi

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"stackmill/stages/loadobject/isa"
)

// process has one object at 0x7000000, with 0x1000 bytes of code from offset 0x1000 on, and code
// without a file at 0x9000000.
type process struct {
	table *Table
	file  map[uint64]uint64 // words of the file by address
}

const loaded = 0x7000000

func (p *process) Code(address uint64, time int64) Code {
	c := Code{From: 0, Until: 100}
	switch {
	case address-loaded < 0x2000:
		c.Executable, c.Table, c.Offset = true, p.table, address-loaded
	case address-0x9000000 < 0x1000:
		c.Executable = true
	case address-loaded < 0x100_0000_0000_0000 && address&(1<<48-1)-loaded < 0x2000: // what a signature makes of it
	}
	return c
}

func (p *process) Read(address uint64, time int64, b []byte) bool {
	v, ok := p.file[address]
	if ok {
		copy(b, binary.LittleEndian.AppendUint64(nil, v))
	}
	return ok
}

// pc returns the address of an offset in a function; function 0 is at 0x1100 in the file.
func pc(function int, offset uint64) uint64 {
	return loaded + 0x1100 + 0x100*uint64(function) + offset
}

// object composes functions of 0x40 bytes each, one per program; processes start after the first.
func object(arch isa.Arch, signal int, programs ...[]byte) *Table {
	c := newComposer()
	if arch == isa.AMD64 {
		c.common(1, "", 16, nil, amd64CIE...)
	} else {
		c.common(1, "", 30, nil, 0x0c, 31, 0)
	}
	plain := c.cie
	for i, p := range programs {
		start := 0x401100 + 0x100*uint64(i)
		if i == signal {
			c.common(1, "zRS", byte(map[isa.Arch]int{isa.AMD64: 16, isa.ARM64: 30}[arch]), []byte{0})
			c.function(c.at(start-1, 0x41), true, p...)
			c.cie = plain
			continue
		}
		c.function(c.at(start, 0x40), false, p...)
	}
	return Read(Input{Arch: arch, Order: c.order, Segments: code, EHFrame: c.section(), Entry: 0x40114f})
}

// dump is the stack from 0x5000 on.
func dump(big bool, words ...uint64) (b []byte) {
	for _, w := range words {
		if big {
			b = binary.BigEndian.AppendUint64(b, w)
		} else {
			b = binary.LittleEndian.AppendUint64(b, w)
		}
	}
	return b
}

// registers returns a thread's registers from pairs of number and value.
func registers(arch isa.Arch, start uint64, pairs ...uint64) *Registers {
	r := &Registers{}
	for _, p := range append([][2]uint64{{uint64(arch.PC()), start}, {uint64(arch.SP()), 0x5000}}, pairsOf(pairs)...) {
		r.Value[p[0]] = p[1]
		r.Known |= 1 << p[0]
	}
	return r
}

func pairsOf(list []uint64) (pairs [][2]uint64) {
	for p := range slices.Chunk(list, 2) {
		pairs = append(pairs, [2]uint64{p[0], p[1]})
	}
	return pairs
}

func show(s *Stack) string {
	var list []string
	for i, w := range s.Words {
		text := fmt.Sprintf("%#x", w)
		if at := w - pc(0, 0); w >= pc(0, 0) && at < 0x1000 {
			text = fmt.Sprintf("%d+%d", at>>8, at&0xff)
		}
		if slices.Contains(s.Exact, int32(i)) {
			text += "!"
		}
		if slices.Contains(s.ByFrame, int32(i)) {
			text += "^"
		}
		list = append(list, text)
	}
	if s.Reason != "" {
		list = append(list, s.Reason)
	}
	return strings.Join(list, " ")
}

func TestWalk(t *testing.T) {
	root := []byte{0x07, 16}                      // the outermost function
	frame := []byte{0x0e, 16, 0x80 | 6, 2}        // saves rbp
	byBP := []byte{0x0c, 6, 16, 0x80 | 6, 2}      // has a frame pointer
	restorer := []byte{0x0f, 3, 0x77, 0x10, 0x06, // CFA = *(rsp+16)
		0x10, 16, 2, 0x77, 8, 0x10, 7, 2, 0x77, 16, 0x10, 6, 2, 0x77, 24} // rip, rsp and rbp at rsp+8, +16, +24
	lost := []byte{0x07, 6}
	const bp = 6
	tests := []struct {
		name     string
		programs [][]byte
		signal   int
		regs     *Registers
		stack    []byte
		full     bool
		want     string
	}{
		{"leaf to root", [][]byte{nil, frame, root}, -1, registers(isa.AMD64, pc(0, 5), bp, 1),
			dump(false, pc(1, 8), 77, pc(2, 9)), false, "0+5 1+8 2+9"},
		{"by frame pointer", [][]byte{nil, byBP, root}, -1, registers(isa.AMD64, pc(0, 5), bp, 0x5018),
			dump(false, pc(1, 8), 1, 2, 88, pc(2, 9)), false, "0+5 1+8 2+9"},
		{"a call at the end of a function", [][]byte{nil, frame, root}, -1, registers(isa.AMD64, pc(0, 5)),
			dump(false, pc(1, 0x40), 77, pc(2, 0x40)), false, "0+5 1+64 2+64"},
		{"return address 0", [][]byte{nil}, -1, registers(isa.AMD64, pc(0, 5)), dump(false, 0), false, "0+5"},
		{"dump ends, stack goes on", [][]byte{nil, frame}, -1, registers(isa.AMD64, pc(0, 5)),
			dump(false, pc(1, 8), 77), true, "0+5 1+8 dump-too-short"},
		{"the last word of the dump", [][]byte{nil, root}, -1, registers(isa.AMD64, pc(0, 5)), dump(false, pc(1, 8)), true, "0+5 1+8"},
		{"stack ends", [][]byte{nil, frame}, -1, registers(isa.AMD64, pc(0, 5)), dump(false, pc(1, 8), 77), false, "0+5 1+8 unreadable"},
		{"below the stack pointer", [][]byte{{0x0e, 0}}, -1, registers(isa.AMD64, pc(0, 5)), dump(false, 1, 2), true, "0+5 unreadable"},
		{"a saved register that was not dumped", [][]byte{{0x80 | 3, 0x7f}, root}, -1, registers(isa.AMD64, pc(0, 5), 3, 9),
			dump(false, pc(1, 8)), true, "0+5 1+8"},
		{"signal", [][]byte{nil, nil, restorer, frame, root}, 2, registers(isa.AMD64, pc(1, 3)),
			dump(false, pc(2, 0), 0, pc(3, 0), 0x5030, 66, 0, 11, pc(4, 4)), false, "1+3 2+0! 3+0! 4+4"},
		{"signal while the trampoline returns", [][]byte{nil, nil, restorer, root}, 2, registers(isa.AMD64, pc(2, 2)),
			dump(false, 0, pc(3, 0), 0x5020, 66), false, "2+2 3+0!"},
		{"no rules, and a frame pointer", [][]byte{nil, byBP, root}, -1, registers(isa.AMD64, pc(5, 5), bp, 0x5008),
			dump(false, 1, 0x5020, pc(1, 8), 7, 8, pc(2, 9), pc(2, 10)), false, "5+5^ 1+8 2+9"},
		{"no rules, outermost by the frame pointer", [][]byte{nil}, -1, registers(isa.AMD64, pc(5, 5), bp, 0), dump(false, 1, 2, 3), true, "5+5^"},
		{"no rules, frame pointer below the stack", [][]byte{nil}, -1, registers(isa.AMD64, pc(5, 5), bp, 0x4ff8), dump(false, 1, 2, 3), true, "5+5 no-cfi"},
		{"no rules, frame pointer beyond the dump", [][]byte{nil}, -1, registers(isa.AMD64, pc(5, 5), bp, 0x5010), dump(false, 1, 2, 3), true, "5+5 dump-too-short"},
		{"no rules, frame pointer beyond the stack", [][]byte{nil}, -1, registers(isa.AMD64, pc(5, 5), bp, 0x5010), dump(false, 1, 2, 3), false, "5+5 no-cfi"},
		{"no rules, no frame pointer", [][]byte{nil}, -1, registers(isa.AMD64, pc(5, 5), bp, 1<<40), dump(false, 1, 2, 3), true, "5+5 no-cfi"},
		{"no rules, frame pointer to no call", [][]byte{nil}, -1, registers(isa.AMD64, pc(5, 5), bp, 0x5000), dump(false, 0x5010, 2, 3), true, "5+5 no-cfi"},
		{"no rules, frame pointer not aligned", [][]byte{nil}, -1, registers(isa.AMD64, pc(5, 5), bp, 0x5001), dump(false, 0x5010, pc(0, 1), 3), true, "5+5 no-cfi"},
		{"generated code", [][]byte{nil, root}, -1, registers(isa.AMD64, 0x9000010, bp, 0x5000), dump(false, 0x5010, pc(1, 8)), true, "0x9000010^ 1+8"},
		{"in an epilogue, behind its pop", [][]byte{{0x80 | 6, 2}, byBP, root}, -1, registers(isa.AMD64, pc(0, 5), bp, 0x5008),
			dump(false, pc(1, 8), 0, pc(2, 8)), false, "0+5 1+8 2+8"},
		{"where the process began", [][]byte{nil, nil}, -1, registers(isa.AMD64, pc(1, 5), bp, 0x5000), dump(false, pc(0, 0x50), 2, 3), false, "1+5 0+80"},
		{"ahead of where it began", [][]byte{nil, nil}, -1, registers(isa.AMD64, pc(1, 5), bp, 0x4000), dump(false, pc(0, 0x4e), 2, 3), false, "1+5 0+78 no-cfi"},
		{"no code", [][]byte{nil}, -1, registers(isa.AMD64, pc(0, 5)), dump(false, 0x123456, 2), true, "0+5 no-code"},
		{"a register that is lost", [][]byte{lost, byBP}, -1, registers(isa.AMD64, pc(0, 5), bp, 0x5000), dump(false, pc(1, 8), 2, 3), false, "0+5 1+8 lost-register"},
		{"a register that was not recorded", [][]byte{byBP}, -1, registers(isa.AMD64, pc(0, 5)), dump(false, 1), false, "0+5 lost-register"},
		{"in a circle", [][]byte{{0x14, 7, 0, 0x0f, 2, 0x77, 0, 0x16, 16, 2, 0x80, 0}}, -1, registers(isa.AMD64, pc(0, 5)), dump(false, 1), false, "0+5 bad-cfi"},
		{"no rule for the return address", [][]byte{{0x08, 16}}, -1, registers(isa.AMD64, pc(0, 5)), dump(false, 1), false, "0+5 bad-cfi"},
		{"an expression without a result", [][]byte{{0x0f, 1, 0x96}}, -1, registers(isa.AMD64, pc(0, 5)), dump(false, 1), false, "0+5 bad-cfi"},
		{"an expression without an end", [][]byte{{0x0f, 3, 0x2f, 0xfd, 0xff}}, -1, registers(isa.AMD64, pc(0, 5)), dump(false, 1), false, "0+5 bad-cfi"},
		// CFA = rsp + 8 + ((rip & 15) >= 11) << 3
		{"a slot of the PLT, before its push", [][]byte{{0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}, root}, -1,
			registers(isa.AMD64, pc(0, 0x16)), dump(false, pc(1, 1), pc(1, 2)), false, "0+22 1+1"},
		{"a slot of the PLT, behind its push", [][]byte{{0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22}, root}, -1,
			registers(isa.AMD64, pc(0, 0x1b)), dump(false, pc(1, 1), pc(1, 2)), false, "0+27 1+2"},
		{"read-only data", [][]byte{{0x0f, 10, 0x03, 0x00, 0x18, 0x40, 0, 0, 0, 0, 0, 0x06}, root}, -1,
			registers(isa.AMD64, pc(0, 5)), dump(false, 1, pc(1, 7)), false, "0+5 1+7"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := NewWalker(isa.AMD64, false)
			w.Process(&process{object(isa.AMD64, tt.signal, tt.programs...), map[uint64]uint64{loaded + 0x1800: 0x5010}})
			for range 2 { // the second time, from the cache
				if got := show(w.Walk(tt.regs, tt.stack, tt.full, 5)); got != tt.want {
					t.Errorf("%s, want %s", got, tt.want)
				}
			}
		})
	}
}

func TestWalkARM64(t *testing.T) {
	saved := []byte{0x0e, 16, 0x80 | 29, 2, 0x80 | 30, 1} // x29 and x30 below the CFA
	signed := append([]byte{0x2d}, saved...)
	byFP := append([]byte{0x0d, 29}, saved...)
	root := []byte{0x07, 30}
	trampoline := []byte{0x0c, 29, 0, 0x05, 29, 0, 0x11, 30, 0x7f} // x29 at x29, x30 at x29+8
	tests := []struct {
		name     string
		programs [][]byte
		signal   int
		regs     *Registers
		stack    []byte
		want     string
	}{
		{"a leaf keeps its return address in x30", [][]byte{nil, saved, root}, -1, registers(isa.ARM64, pc(0, 4), 30, pc(1, 8), 29, 1),
			dump(true, 1, pc(2, 12)), "0+4 1+8 2+12"},
		{"by frame pointer", [][]byte{byFP, root}, -1, registers(isa.ARM64, pc(0, 8), 30, 1, 29, 0x5010), dump(true, 0, 0, 1, pc(1, 12)), "0+8 1+12"},
		{"signed return address", [][]byte{signed, root}, -1, registers(isa.ARM64, pc(0, 4), 30, 1), dump(true, 1, 0x002f_0000_0000_0000|pc(1, 8)), "0+4 1+8"},
		{"signal", [][]byte{nil, trampoline, nil, root}, 1, registers(isa.ARM64, pc(0, 4), 30, pc(1, 0), 29, 0x5000),
			dump(true, 0, pc(2, 0)), "0+4 1+0! 2+0! bad-cfi"},
		{"no rules, and a frame pointer", [][]byte{nil, root}, -1, registers(isa.ARM64, pc(5, 4), 30, 1, 29, 0x5000),
			dump(true, 0, 0x002f_0000_0000_0000|pc(1, 8)), "5+4^ 1+8"},
		{"return address 0", [][]byte{saved}, -1, registers(isa.ARM64, pc(0, 4), 30, 1), dump(true, 0, 0), "0+4"},
		{"x30 unknown", [][]byte{nil}, -1, registers(isa.ARM64, pc(0, 4)), dump(true, 0, 0), "0+4 lost-register"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := NewWalker(isa.ARM64, true)
			w.Process(&process{table: object(isa.ARM64, tt.signal, tt.programs...)})
			if got := show(w.Walk(tt.regs, tt.stack, false, 5)); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

// A stack has at most MaxFrames frames, by whatever rules.
func TestTooManyFrames(t *testing.T) {
	w := NewWalker(isa.AMD64, false)
	// The CFA grows by 8, the return address is this function's.
	w.Process(&process{table: object(isa.AMD64, -1, []byte{0x16, 16, 2, 0x80, 0})})
	s := w.Walk(registers(isa.AMD64, pc(0, 5)), dump(false, 1), true, 5)
	if len(s.Words) != MaxFrames || s.Reason != TooManyFrames {
		t.Errorf("%d frames, %q", len(s.Words), s.Reason)
	}
}

// The code at an address changes with time.
func TestTime(t *testing.T) {
	p := &changing{process{table: object(isa.AMD64, -1, nil, []byte{0x07, 16})}}
	w := NewWalker(isa.AMD64, false)
	w.Process(p)
	for time, want := range []string{"0+5 1+4", "0+5 no-code", "0+5 1+4"} {
		if got := show(w.Walk(registers(isa.AMD64, pc(0, 5)), dump(false, pc(1, 4)), false, int64(time*10))); got != want {
			t.Errorf("at %d: %s, want %s", time, got, want)
		}
	}
}

// changing is a process without code from time 10 to 20.
type changing struct{ process }

func (p *changing) Code(address uint64, time int64) Code {
	if time >= 10 && time < 20 {
		return Code{From: 10, Until: 20}
	}
	c := p.process.Code(address, time)
	if c.From, c.Until = 0, 10; time >= 20 {
		c.From, c.Until = 20, 100
	}
	return c
}

func TestExpression(t *testing.T) {
	tests := []struct {
		name    string
		program []byte
		want    uint64
		ok      bool
	}{
		{"constants", []byte{0x08, 0xff, 0x09, 0xff, 0x22}, 0xfe, true},
		{"of two bytes", []byte{0x0a, 0xff, 0xff, 0x0b, 0xff, 0xff, 0x22}, 0xfffe, true},
		{"of four", []byte{0x0c, 0xff, 0xff, 0xff, 0xff, 0x0d, 0xff, 0xff, 0xff, 0xff, 0x22}, 0xfffffffe, true},
		{"of eight", []byte{0x0e, 1, 2, 3, 4, 5, 6, 7, 8}, 0x0807060504030201, true},
		{"of variable length", []byte{0x10, 0x80, 0x01, 0x11, 0x7f, 0x22}, 127, true},
		{"the CFA", nil, 0x5040, true},
		{"plus_uconst", []byte{0x23, 0x81, 0x01}, 0x50c1, true},
		{"dup, over, pick, swap, rot", []byte{0x31, 0x32, 0x33, 0x17, 0x16, 0x14, 0x15, 1, 0x12, 0x22, 0x22}, 4, true},
		{"drop", []byte{0x35, 0x13}, 0x5040, true},
		{"arithmetic", []byte{0x3f, 0x34, 0x1c, 0x35, 0x1e, 0x33, 0x1b}, 18, true},
		{"remainder", []byte{0x3f, 0x34, 0x1d}, 3, true},
		{"negative quotient", []byte{0x11, 0x78, 0x32, 0x1b}, ^uint64(0) - 3, true},
		{"logic", []byte{0x3f, 0x35, 0x27, 0x30, 0x20, 0x1a, 0x36, 0x21}, 14, true},
		{"abs and neg", []byte{0x11, 0x7d, 0x19, 0x1f, 0x19}, 3, true},
		{"shifts", []byte{0x11, 0x70, 0x32, 0x26, 0x3f, 0x1a, 0x31, 0x24, 0x32, 0x25}, 6, true},
		{"comparisons are signed", []byte{0x11, 0x7f, 0x31, 0x2d}, 1, true},
		{"equal, not equal", []byte{0x31, 0x31, 0x29, 0x31, 0x32, 0x2e, 0x22, 0x31, 0x31, 0x2c, 0x22, 0x32, 0x31, 0x2b, 0x22}, 4, true},
		{"branch", []byte{0x31, 0x28, 1, 0, 0x35, 0x36}, 6, true},
		{"no branch", []byte{0x30, 0x28, 1, 0, 0x35}, 5, true},
		{"register", []byte{0x92, 3, 0x7f}, 8, true},
		{"memory", []byte{0x77, 8, 0x06}, 0x2020202020202011, true},
		{"part of memory", []byte{0x77, 8, 0x94, 1}, 0x11, true},
		{"nop", []byte{0x96}, 0x5040, true},
		{"division by 0", []byte{0x30, 0x30, 0x1b}, 0, false},
		{"empty stack", []byte{0x13, 0x13}, 0, false},
		{"full stack", []byte(strings.Repeat("\x30", 64)), 0, false},
		{"unknown register", []byte{0x72, 0}, 0, false},
		{"memory that is not there", []byte{0x30, 0x06}, 0, false},
		{"too much memory", []byte{0x77, 8, 0x94, 9}, 0, false},
		{"jump out", []byte{0x2f, 9, 0}, 0, false},
		{"cut", []byte{0x0e, 1}, 0, false},
		{"unknown operation", []byte{0xe0}, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := NewWalker(isa.AMD64, false)
			w.Process(&process{})
			w.regs = *registers(isa.AMD64, pc(0, 0), 3, 9)
			w.dump, w.base = dump(false, 1, 0x2020202020202011), 0x5000
			table := &Table{Arch: isa.AMD64, order: binary.LittleEndian, programs: [][]byte{tt.program}}
			if got, ok := w.expression(table, 0, 0x5040, true); ok != tt.ok || ok && got != tt.want {
				t.Errorf("%#x %t, want %#x %t", got, ok, tt.want, tt.ok)
			}
		})
	}
}
