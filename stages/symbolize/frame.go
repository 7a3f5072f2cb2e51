package symbolize

import (
	"bytes"
	"encoding/binary"
	"slices"

	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/insn"
	"stackmill/stages/loadobject/insn/disasm"
	"stackmill/stages/loadobject/isa"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
)

// frameSetup says where a function sets its frame pointer, as offsets in the file.
type frameSetup struct {
	set   uint64      // the offset after the first instruction that sets it, 0 if none does
	early []codeRange // code after set that jumps reach without executing that instruction
	until uint64      // the function's end
	known bool        // all of the code is known, and belongs to one function
}

// codeRange is a range of offsets in the file.
type codeRange struct{ from, until uint64 }

func (r *Resolver) findFrameSetup(object program.ObjectNo, f symtab.Function) *frameSetup {
	code, arch, whole := r.wholeCode(object, f)
	x := &frameSetup{until: f.Offset + f.Size, known: whole && f.Kind != funcinfo.Static}
	if !x.known {
		return x
	}
	var targets []uint64 // targets of jumps before set, relative to the function's start
	set := uint64(0)     // relative to the function's start
	for i := range disasm.Walk(arch, code, f.Address) {
		at := i.Addr - f.Address
		if target := i.Inst.Target - f.Address; i.Inst.Kind == insn.CondJump && i.Inst.HasTarget && target < f.Size {
			targets = append(targets, target)
		}
		if end := at + uint64(i.Inst.Len); setsFramePointer(arch, code[at:end]) {
			set = end
			break
		}
	}
	if set == 0 {
		return x
	}
	x.set = f.Offset + set
	slices.Sort(targets)
	until := set
	for _, from := range targets {
		if from >= until {
			until = from + straightLength(arch, code[from:])
			x.early = append(x.early, codeRange{f.Offset + from, f.Offset + until})
		}
	}
	return x
}

// straightLength returns the length of the code up to and including the first jump (not a
// conditional one), return or trap.
func straightLength(arch isa.Arch, code []byte) (n uint64) {
	for i := range disasm.Walk(arch, code, 0) {
		n += uint64(i.Inst.Len)
		if i.Err != nil || i.Inst.Kind == insn.Jump || i.Inst.Kind == insn.Return || i.Inst.Kind == insn.Trap {
			break
		}
	}
	return n
}

// setsFramePointer reports whether an instruction sets the frame pointer: on x86 `mov %rsp,%rbp`
// or `lea n(%rsp),%rbp`, on A64 `mov x29, sp` or `add x29, sp, #n`.
func setsFramePointer(arch isa.Arch, code []byte) bool {
	if arch == isa.ARM64 {
		return len(code) == 4 && binary.LittleEndian.Uint32(code)&0xffc003ff == 0x910003fd
	}
	if arch == isa.AMD64 {
		if len(code) == 0 || code[0] != 0x48 {
			return false
		}
		code = code[1:]
	}
	for _, form := range [...]string{"\x89\xe5", "\x8b\xec", "\x8d\x6c\x24", "\x8d\xac\x24"} {
		if bytes.HasPrefix(code, []byte(form)) {
			return true
		}
	}
	return false
}

// SetsFrame returns from which offset on the function of a location has set its frame pointer: the
// offset after the setting instruction; the function's end if a jump to the location may skip that
// instruction; 0 if there is none. known is false if the code or its division into functions is
// unknown.
func (r *Resolver) SetsFrame(location program.LocationNo) (offset uint64, known bool) {
	l := r.Program.Location(location)
	if l.Reason != "" {
		return 0, false
	}
	x := findOnce(r, &r.graph.frameSetups, r.startOf(l), (*Resolver).findFrameSetup)
	switch {
	case x == nil || !x.known:
		return 0, false
	case slices.ContainsFunc(x.early, func(s codeRange) bool { return s.from <= l.Offset && l.Offset < s.until }):
		return x.until, true
	}
	return x.set, true
}

// BeginsTrampoline reports whether a signal trampoline begins at a location (S24).
func (r *Resolver) BeginsTrampoline(location program.LocationNo) bool {
	l := r.Program.Location(location)
	if l.Object < 0 || l.Reason != "" {
		return false
	}
	code, arch := r.Bytes(l.Object, l.Offset, symtab.LongestTrampoline)
	return symtab.IsTrampoline(arch, code)
}

// Returns reports whether the instruction at a location, or the first one after no-ops, returns
// from the function: the frame pointer is the caller's again.
func (r *Resolver) Returns(location program.LocationNo) bool {
	l := r.Program.Location(location)
	if l.Object < 0 || l.Reason != "" {
		return false
	}
	code, arch := r.Bytes(l.Object, l.Offset, maxStub)
	for i := range disasm.Walk(arch, code, l.Offset) {
		if i.Err != nil || i.Inst.Kind != insn.Nop {
			return i.Err == nil && i.Inst.Kind == insn.Return
		}
	}
	return false
}
