package dataspace

import (
	"bytes"
	"testing"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/isa"
)

// loop is linked at 0x1000; a jump leads to 0x1003.
var loop = []byte{
	0x48, 0x8b, 0x07, // 0: mov (%rdi),%rax
	0x48, 0x83, 0xc0, 0x01, // 3: add $1,%rax
	0x75, 0xfa, // 7: jne 3
	0x90,             // 9: nop
	0x48, 0x89, 0x06, // a: mov %rax,(%rsi)
	0xf3, 0x48, 0xa5, // d: rep movsq
	0xc3, // 10: ret
}

// TestTrigger checks the ways to find the instruction that made an event, and
// each way to fail (S27, S31).
func TestTrigger(t *testing.T) {
	padded := append([]byte{0x48, 0x8b, 0x07}, bytes.Repeat([]byte{0x90}, 2*maxBack)...)
	for _, x := range []struct {
		name      string
		code      []byte
		pc        uint64
		how       decode.Trigger
		candidate int64
		at        uint64
		why       Reason
		ok        bool
	}{
		{"exact", loop, 0x100a, decode.TriggerExact, -1, 0x100a, 0, true},
		{"exact, inside of an instruction", loop, 0x1001, decode.TriggerExact, -1, 0, NoMemoryReference, false},
		{"behind", loop, 0x1003, decode.TriggerBehind, -1, 0x1000, 0, true},
		{"behind a repetition", loop, 0x100d, decode.TriggerBehind, -1, 0x100a, 0, true},
		{"behind the last repetition", loop, 0x1010, decode.TriggerBehind, -1, 0x100d, 0, true},
		{"behind, at the start", loop, 0x1000, decode.TriggerBehind, -1, 0, PreventedByJump, false},
		{"behind a jump", loop, 0x1009, decode.TriggerBehind, -1, 0, PreventedByJump, false},
		{"skid", loop, 0x1010, decode.TriggerSkid, -1, 0x100d, 0, true},
		{"skid over no memory", append(loop[:3:3], 0x90, 0x90, 0x90), 0x1005, decode.TriggerSkid, -1, 0x1000, 0, true},
		{"skid over a jump", loop, 0x100a, decode.TriggerSkid, -1, 0, PreventedByJump, false},
		{"skid over a branch target", loop, 0x1007, decode.TriggerSkid, -1, 0, CrossedBranchTarget, false},
		{"skid from the start", loop, 0x1000, decode.TriggerSkid, -1, 0, NoTrigger, false},
		{"skid too far", padded, 0x1003 + maxBack, decode.TriggerSkid, -1, 0, NoTrigger, false},
		{"skid, inside of an instruction", loop, 0x1004, decode.TriggerSkid, -1, 0, NoBranchTarget, false},
		{"candidate", loop, 0x100d, decode.TriggerSkid, 0x100a, 0x100a, 0, true},
		{"candidate before a branch target", loop, 0x1007, decode.TriggerSkid, 0x1000, 0, CrossedBranchTarget, false},
		{"candidate that is no instruction", loop, 0x100d, decode.TriggerSkid, 0x1008, 0, NoBranchTarget, false},
	} {
		f := disassemble(nil, x.code, isa.AMD64, 0x1000, 0)
		n, why, ok := f.trigger(x.pc, x.how, x.candidate)
		if ok != x.ok || why != x.why || ok && f.code[n].address != x.at {
			t.Errorf("%s: instruction %d, %q, %v, want %#x, %q, %v", x.name, n, why, ok, x.at, x.why, x.ok)
		}
	}
}
