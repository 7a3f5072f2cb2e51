package perfdata

import (
	"encoding/binary"
	"math/bits"

	"stackmill/stages/decode"
	"stackmill/stages/loadobject/isa"
)

// abi32 is the ABI of the registers of 32-bit programs (perf-data 6).
const abi32 = 1

// The DWARF numbers of perf's registers, -1 for those that the unwinder ignores (perf-data 15.2).
var (
	amd64Registers = [64]int8{0, 3, 2, 1, 4, 5, 6, 7, 16, -1, -1, -1, -1, -1, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15}
	arm64Registers = [64]int8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
		16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32}
	amd64Count, arm64Count = 24, 33
)

// The registers that unwinding needs: stack pointer and PC.
const (
	amd64Needed = 1<<7 | 1<<16
	arm64Needed = 1<<31 | 1<<32
)

// hasDump reports whether a sample has registers and a stack to unwind (perf-data 15.1).
func (s *sample) hasDump() bool { return len(s.regs) > 0 && len(s.stack) > 0 }

// isUnwound reports whether a sample's stack has to be unwound.
func (p *recordParser) isUnwound(s *sample) bool { return s.hasDump() || p.hasLinkRegister(s) }

// dumpList implements decode.Dumps for a process.
type dumpList struct {
	t *timeline
	p *process
}

// Len implements decode.Dumps.
func (d dumpList) Len() int { return len(d.p.dumps) }

// Guard implements decode.Dumps.
func (d dumpList) Guard(f func()) error { return d.t.r.in.files[0].Guard(f) }

// Reader implements decode.Dumps.
func (d dumpList) Reader() decode.DumpReader {
	return &dumpReader{dumpList: d, r: stackReader{reader: d.t.r}}
}

// dumpReader reads the dumps of a process.
type dumpReader struct {
	dumpList
	r    stackReader
	s    sample
	dump decode.StackDump
}

// Dump implements decode.DumpReader.
func (d *dumpReader) Dump(number int) *decode.StackDump {
	at := d.p.dumps[number]
	r, s, dump := &d.r, &d.s, &d.dump
	misc, body := r.body(at)
	if !r.readSample(misc, body, s) { // the file has changed
		*dump = decode.StackDump{Recorded: decode.RawStack{OMPState: -1, Reason: decode.ReasonRegisters}}
		return dump
	}
	dump.Recorded = *r.stack(s, misc)
	dump.Time, dump.Leaf = d.t.ns(r.when(s, at)), s.ip
	if s.hasDump() {
		dump.Reason = r.dump(s, dump)
	} else {
		r.linkRegister(s, dump)
	}
	return dump
}

// dump fills in the registers and the stack of a sample, or returns why they cannot be unwound.
func (p *recordParser) dump(s *sample, d *decode.StackDump) (reason string) {
	mask := p.events[s.event].regsUser
	numbers, count, needed := &amd64Registers, amd64Count, uint64(amd64Needed)
	switch d.Machine = (decode.Machine{Arch: isa.AMD64, Big: p.big}); p.rec.Arch {
	case "x86_64":
	case "aarch64":
		d.Machine.Arch = isa.ARM64
	case "": // perf was killed before it wrote the architecture
		if mask>>arm64IP&1 != 0 {
			d.Machine.Arch = isa.ARM64
		}
	default:
		return decode.ReasonMachine
	}
	if s.abi == abi32 {
		return decode.ReasonMachine
	}
	if d.Machine.Arch == isa.ARM64 {
		numbers, count, needed = &arm64Registers, arm64Count, arm64Needed
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if p.big {
		order = binary.BigEndian
	}
	d.Known = 0
	rest := s.regs
	for ; mask != 0 && len(rest) >= 8; mask &= mask - 1 {
		if n := bits.TrailingZeros64(mask); n < count && numbers[n] >= 0 {
			d.Registers[numbers[n]] = order.Uint64(rest)
			d.Known |= 1 << numbers[n]
		}
		rest = rest[8:]
	}
	d.Stack, d.Full = s.stack, s.stackCut
	if d.Known&needed != needed {
		return decode.ReasonRegisters
	}
	return ""
}
