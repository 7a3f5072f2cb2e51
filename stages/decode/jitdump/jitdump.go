// Package jitdump reads jitdump files, in which JIT compilers describe which code they generate,
// and when (perf-data 18.2).
package jitdump

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"unicode"
	"unicode/utf8"
)

const (
	magic        = 0x4A695444 // "JiTD"
	headerSize   = 40
	prefixSize   = 16
	flagCycles   = 1 // times are values of the processor's cycle counter
	v8Mark       = 0xDEADBEEF
	maxName      = 1 << 16
	elfHeader32  = 0x34
	elfHeader64  = 0x40
	machine386   = 3
	machineARM   = 40
	debugEntry   = 16 // bytes in front of a line's file name
	sameFileMark = 0xff
)

// The types of records.
const (
	recordLoad = iota
	recordMove
	recordDebug
	recordClose
	recordUnwinding
)

// header is the header of a dump.
type header struct {
	size    uint32
	machine uint32
	v8      bool
	pid     uint32
	time    uint64
	cycles  bool
	order   binary.ByteOrder
}

// record is a record of a dump.
type record struct {
	offset int // in the file
	kind   uint32
	time   uint64
	body   []byte
}

// function is a LOAD or MOVE record.
type function struct {
	pid        uint32
	from       uint64 // its former address, 0 if it was not moved
	start      uint64
	size       uint64
	index      uint64
	name, code []byte
}

// line says that the instructions at address and after it belong to a source line.
type line struct {
	address uint64
	number  uint32
	file    []byte
}

// errName says that a file name in a list of lines is not text: V8 may write names from freed
// memory, which contain zeros.
var errName = errors.New("a name is not text")

var errCut = errors.New("the file ends inside it")

func readHeader(b []byte) (h header, err error) {
	if len(b) < headerSize {
		return h, fmt.Errorf("the file has %d bytes, but its header needs %d", len(b), headerSize)
	}
	switch m := binary.LittleEndian.Uint32(b); m {
	case magic:
		h.order = binary.LittleEndian
	case bits.ReverseBytes32(magic):
		h.order = binary.BigEndian
	default:
		return h, fmt.Errorf("it begins with %#x: it is not a jitdump", m)
	}
	u := h.order
	h.size, h.machine, h.pid, h.time = u.Uint32(b[8:]), u.Uint32(b[12:]), u.Uint32(b[20:]), u.Uint64(b[24:])
	h.v8, h.cycles = u.Uint32(b[16:]) == v8Mark, u.Uint64(b[32:])&flagCycles != 0
	if version := u.Uint32(b[4:]); version != 1 {
		return h, fmt.Errorf("version %d is unknown", version)
	}
	if h.size < headerSize || uint64(h.size) > uint64(len(b)) {
		return h, fmt.Errorf("its header claims %d bytes", h.size)
	}
	return h, nil
}

// next reads the record at an offset; errCut if the file ends inside it.
func (h *header) next(b []byte, at int) (r record, end int, err error) {
	r.offset = at
	rest := b[at:]
	if len(rest) < prefixSize {
		return r, at, errCut
	}
	r.kind, r.time = h.order.Uint32(rest), h.order.Uint64(rest[8:])
	size := uint64(h.order.Uint32(rest[4:]))
	switch {
	case size < prefixSize:
		return r, at, fmt.Errorf("it has %d bytes", size)
	case size > uint64(len(rest)):
		return r, at, errCut
	}
	r.body = rest[prefixSize:size]
	return r, at + int(size), nil
}

// load reads the body of a LOAD record.
func (h *header) load(b []byte) (f function, err error) {
	const fixed = 40
	if len(b) < fixed {
		return f, errShort
	}
	u := h.order
	f = function{pid: u.Uint32(b), start: u.Uint64(b[16:]), size: u.Uint64(b[24:]), index: u.Uint64(b[32:])}
	f.name, b = cutName(b[fixed:])
	// Compilers may omit the code and write only its size.
	f.code = b[:min(f.size, uint64(len(b)))]
	return f, f.check()
}

// move reads the body of a MOVE record.
func (h *header) move(b []byte) (f function, err error) {
	if len(b) < 48 {
		return f, errShort
	}
	u := h.order
	f = function{pid: u.Uint32(b), from: u.Uint64(b[16:]), start: u.Uint64(b[24:]), size: u.Uint64(b[32:]), index: u.Uint64(b[40:])}
	return f, f.check()
}

// unwinding reads the body of an UNWINDING_INFO record: the `.eh_frame` of the code in the next
// record. The `.eh_frame_hdr` after it is not needed.
func (h *header) unwinding(b []byte) ([]byte, error) {
	const fixed = 24
	if len(b) < fixed {
		return nil, errShort
	}
	size, index := h.order.Uint64(b), h.order.Uint64(b[8:])
	if size > uint64(len(b)-fixed) || index > size {
		return nil, fmt.Errorf("its header claims %d bytes, %d of them an index", size, index)
	}
	return b[fixed : fixed+size-index], nil
}

var errShort = errors.New("it is too short for its type")

func (f *function) check() error {
	if f.size == 0 || f.start+f.size < f.start {
		return fmt.Errorf("code of %d bytes at %#x is empty or exceeds the address space", f.size, f.start)
	}
	return nil
}

// cutName returns the name at the start of b, which ends with a NUL, and the rest.
func cutName(b []byte) (name, rest []byte) {
	for i, c := range b[:min(len(b), maxName)] {
		if c == 0 {
			return b[:i], b[i+1:]
		}
	}
	return b[:min(len(b), maxName)], nil
}

// lines reads the body of a DEBUG_INFO record: the address of the code, and its lines. The file
// name 0xff repeats the previous file name.
func (h *header) lines(b []byte) (address uint64, list []line, err error) {
	if len(b) < 16 {
		return 0, nil, errShort
	}
	u := h.order
	address = u.Uint64(b)
	n := u.Uint64(b[8:])
	b = b[16:]
	var file []byte
	for ; n > 0; n-- {
		if len(b) <= debugEntry {
			return address, list, errShort
		}
		l := line{address: u.Uint64(b), number: u.Uint32(b[8:])}
		l.file, b = cutName(b[debugEntry:])
		if len(l.file) == 1 && l.file[0] == sameFileMark {
			l.file = file
		}
		if !isText(l.file) {
			return address, nil, errName
		}
		file = l.file
		list = append(list, l)
	}
	return address, list, nil
}

// isText reports whether a name is text without control characters.
func isText(b []byte) bool {
	return utf8.Valid(b) && bytes.IndexFunc(b, unicode.IsControl) < 0
}

// lineShift returns by how much the addresses of lines are too high: V8 adds the size of the ELF
// header that perf inject puts in front of the code.
func (h *header) lineShift(address uint64, list []line) uint64 {
	if !h.v8 {
		return 0
	}
	shift := uint64(elfHeader64)
	if h.machine == machine386 || h.machine == machineARM {
		shift = elfHeader32
	}
	for _, l := range list {
		if l.address-address < shift {
			return 0
		}
	}
	return shift
}
