package main

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/ulikunitz/xz"
	"golang.org/x/arch/x86/x86asm"
)

// files are the load objects of recordings. They are read without stackmill's code.
type files struct {
	find func(path string) string // returns the path of the file for a recorded path
	read map[string]*object
}

func newFiles(find func(string) string) *files { return &files{find, map[string]*object{}} }

// asRecorded is a files.find for load objects that are at their recorded paths.
func asRecorded(path string) string { return path }

// symbol is an entry of a symbol table.
type symbol struct {
	elf.Symbol
	peer bool // it is in a table that perf reads
	own  bool // it is in the file itself, not in a debug file
}

// object is a load object.
type object struct {
	data    []byte
	written time.Time
	loads   []elf.ProgHeader
	tables  []elf.SectionHeader // sections with procedure linkage tables
	code    []elf.SectionHeader
	symbols []symbol
}

// object returns the load object with a path, or nil if it cannot be read.
func (fs *files) object(path string) *object {
	o, ok := fs.read[path]
	if !ok {
		o = fs.parse(path)
		fs.read[path] = o
	}
	return o
}

func (fs *files) parse(path string) *object {
	var data []byte
	var err error
	if path == "[vdso]" {
		data, err = vdso()
	} else {
		data, err = os.ReadFile(fs.find(path))
	}
	written := time.Time{}
	if info, err := os.Stat(fs.find(path)); err == nil {
		written = info.ModTime()
	}
	if err != nil {
		return nil
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	o := &object{data: data, written: written}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			o.loads = append(o.loads, p.ProgHeader)
		}
	}
	for _, s := range f.Sections {
		switch {
		case strings.HasPrefix(s.Name, ".plt"):
			o.tables = append(o.tables, s.SectionHeader)
		case s.Flags&elf.SHF_EXECINSTR != 0:
			o.code = append(o.code, s.SectionHeader)
		}
	}
	o.add(f, path != "[vdso]", true) // perf does not know symbols of the vdso, which has no file
	if d, err := elf.Open(fs.find(debugFile(f))); err == nil {
		o.add(d, true, false)
		d.Close()
	}
	if s := f.Section(".gnu_debugdata"); s != nil {
		if d := unpacked(s); d != nil {
			o.add(d, false, false)
		}
	}
	return o
}

func (o *object) add(f *elf.File, peer, own bool) {
	tables := []func() ([]elf.Symbol, error){f.Symbols, f.DynamicSymbols}
	for _, table := range tables {
		list, _ := table() // the file may have no such table
		for _, s := range list {
			o.symbols = append(o.symbols, symbol{s, peer, own})
		}
	}
}

// debugFile returns the path of the separate debug file for a file's build-id.
func debugFile(f *elf.File) string {
	s := f.Section(".note.gnu.build-id")
	if s == nil {
		return ""
	}
	note, err := s.Data()
	if err != nil || len(note) < 18 {
		return ""
	}
	id := hex.EncodeToString(note[16:])
	return fmt.Sprintf("/usr/lib/debug/.build-id/%s/%s.debug", id[:2], id[2:])
}

// unpacked returns the ELF file with a small symbol table that is compressed in a section
// (.gnu_debugdata).
func unpacked(s *elf.Section) *elf.File {
	data, err := s.Data()
	if err != nil {
		return nil
	}
	r, err := xz.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	if data, err = io.ReadAll(r); err != nil {
		return nil
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	return f
}

// vdso returns the code that Linux maps into each process.
func vdso() ([]byte, error) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(maps)) {
		var from, to int64
		if !strings.HasSuffix(line, "[vdso]\n") {
			continue
		}
		if _, err := fmt.Sscanf(line, "%x-%x", &from, &to); err != nil {
			return nil, err
		}
		m, err := os.Open("/proc/self/mem")
		if err != nil {
			return nil, err
		}
		defer m.Close()
		data := make([]byte, to-from)
		_, err = m.ReadAt(data, from)
		return data, err
	}
	return nil, os.ErrNotExist
}

// address returns the link-time address of an offset in a file.
func (o *object) address(offset int64) (uint64, bool) {
	at := uint64(offset)
	for _, p := range o.loads {
		if at >= p.Off && at-p.Off < p.Filesz {
			return p.Vaddr + (at - p.Off), true
		}
	}
	return 0, false
}

// inTable reports whether a file offset is in a procedure linkage table.
func (o *object) inTable(offset int64) bool { return within(o.tables, offset) }

// inCode reports whether a file offset is in another section of code.
func (o *object) inCode(offset int64) bool { return within(o.code, offset) }

func within(sections []elf.SectionHeader, offset int64) bool {
	for _, s := range sections {
		if at := uint64(offset); at >= s.Offset && at-s.Offset < s.Size {
			return true
		}
	}
	return false
}

// covers reports whether a file offset is within a symbol that ok accepts.
func (o *object) covers(offset int64, ok func(symbol) bool) bool {
	at, found := o.address(offset)
	if !found {
		return false
	}
	for _, s := range o.symbols {
		if at >= s.Value && at-s.Value < s.Size && ok(s) {
			return true
		}
	}
	return false
}

// stretches reports whether a symbol with this name but no size precedes a file offset. perf
// assumes that such a symbol reaches to the next one.
func (o *object) stretches(name string, offset int64) bool {
	at, found := o.address(offset)
	for _, s := range o.symbols {
		if found && s.Name == name && s.Size == 0 && s.Value <= at {
			return true
		}
	}
	return false
}

// typed reports whether a symbol is marked as a function.
func typed(s symbol) bool {
	t := elf.ST_TYPE(s.Info)
	return t == elf.STT_FUNC || t == elf.STT_GNU_IFUNC
}

// call returns the target of the call instruction that ends at a file offset, or -1 if it is an
// indirect call. ok is false if there is no call.
func (o *object) call(offset int64) (target int64, ok bool) {
	for n := int64(2); n <= 8; n++ {
		if offset < n || offset > int64(len(o.data)) {
			return 0, false
		}
		i, err := x86asm.Decode(o.data[offset-n:offset], 64)
		if err != nil || int64(i.Len) != n || i.Op != x86asm.CALL {
			continue
		}
		if d, ok := i.Args[0].(x86asm.Rel); ok {
			return offset + int64(d), true
		}
		return -1, true
	}
	return 0, false
}

// afterSystemCall reports whether a system call ends at a file offset.
func (o *object) afterSystemCall(offset int64) bool {
	return offset >= 2 && offset <= int64(len(o.data)) && bytes.Equal(o.data[offset-2:offset], []byte{0x0f, 5})
}

// textSize returns the size of the segment that contains the code.
func (o *object) textSize() int64 {
	for _, p := range o.loads {
		if p.Flags&elf.PF_X != 0 {
			return int64(p.Memsz)
		}
	}
	return 0
}

// leaves reports whether the code between two file offsets may jump to another function (S26).
func (o *object) leaves(start, end int64) bool {
	for at := start; at < end && at < int64(len(o.data)); {
		i, err := x86asm.Decode(o.data[at:min(at+15, int64(len(o.data)))], 64)
		if err != nil {
			at++
			continue
		}
		at += int64(i.Len)
		if d, ok := i.Args[0].(x86asm.Rel); i.Op == x86asm.JMP && (!ok || at+int64(d) < start || at+int64(d) >= end) {
			return true
		}
	}
	return false
}

// reaches reports whether a call of target may have led to the function at file offsets start to
// end (exclusive): directly, through the procedure linkage table, or because the called function
// jumps.
func (o *object) reaches(target, start, end int64) bool {
	if target == -1 || target >= start && target < end || o.inTable(target) {
		return true
	}
	at, found := o.address(target)
	if !found {
		return false
	}
	size := int64(unnamedSize)
	for _, s := range o.symbols {
		if s.Value == at && s.Size > 0 {
			size = int64(s.Size)
		}
	}
	return o.leaves(target, target+size)
}

// unnamedSize is how many bytes of a function without a symbol are searched for jumps.
const unnamedSize = 4096

// returnsFromSignal reports whether the system call rt_sigreturn is at a file offset.
func (o *object) returnsFromSignal(offset int64) bool {
	if offset < 0 || offset > int64(len(o.data)) {
		return false
	}
	code := o.data[offset:]
	return bytes.HasPrefix(code, []byte{0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 5}) || bytes.HasPrefix(code, []byte{0xb8, 15, 0, 0, 0, 0x0f, 5})
}
