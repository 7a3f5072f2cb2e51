package symbolize

import (
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/isa"
	"stackmill/stages/program"
	"stackmill/stages/symbolize/image"
)

// maxCode bounds the code that is read of a function. The longest functions that compilers make,
// interpreters' main loops and generated tables, have some 100 KiB.
const maxCode = 4 << 20

// machineCode reads the machine code of a resolver's functions. Each user has its own files, so
// that several can read once the resolver has finished.
type machineCode struct {
	resolver *Resolver
	fileContents
}

// Code returns the machine code of a function, and its instruction set; less than the function's
// size if the file ends before, nothing if the code is unavailable.
func (c *machineCode) Code(function program.FunctionNo) ([]byte, isa.Arch) {
	f := &c.resolver.Program.Functions[function]
	return c.codeAt(function, f.Offset, f.Size)
}

// codeAt is Code for a range of the function.
func (c *machineCode) codeAt(function program.FunctionNo, offset, size uint64) ([]byte, isa.Arch) {
	f := &c.resolver.Program.Functions[function]
	if code := c.resolver.generatedCode[function]; code != nil {
		n := uint64(len(code.Bytes))
		start := min(offset-f.Offset, n)
		return code.Bytes[start:min(start+size, n)], archOf(c.resolver.rec)
	}
	return c.Bytes(f.Object, offset, size)
}

// Bytes returns the bytes at an offset of a load object's file, like Code. They must not be
// changed.
func (c *machineCode) Bytes(object program.ObjectNo, offset, size uint64) ([]byte, isa.Arch) {
	o := &c.resolver.loadObjects[object]
	if o.table == nil || o.table.Arch == 0 {
		return nil, 0
	}
	return c.read(o.file, offset, min(size, maxCode)), o.table.Arch
}

// ForgetCode frees the cached blocks of files. Nothing may be disassembled afterwards.
func (r *Resolver) ForgetCode() { clear(r.blocks) }

// archOf returns the instruction set of code outside of files.
func archOf(rec *decode.Recording) isa.Arch { return isa.Named(rec.Arch, rec.WordBits) }

// File returns the file of a mapping's load object, empty if none was found.
func (pr *Process) File(m *image.Mapping) string {
	if m.Code != nil || !m.Executable() {
		return ""
	}
	return pr.r.loadObjects[pr.r.fileObject(pr.Image, m)].file
}

// ReadFile fills b with the bytes at an offset of a mapping's file; false if they are
// unavailable.
func (pr *Process) ReadFile(m *image.Mapping, offset uint64, b []byte) bool {
	name := pr.File(m)
	return name != "" && copy(b, pr.r.read(name, offset, uint64(len(b)))) == len(b)
}
