package symbolize

import (
	"stackmill/stages/decode"
	"stackmill/stages/loadobject/isa"
	"stackmill/stages/symbolize/image"
)

// maxCode bounds how much of a function is read. The longest that compilers
// make, interpreters' main loops and generated tables, have some 100 KiB.
const maxCode = 4 << 20

// Code returns the machine code of a function, from its start, and its
// instruction set; less than the function's size if the file ends before that,
// nothing if the code is unavailable.
func (r *Resolver) Code(function FunctionNo) ([]byte, isa.Arch) {
	f := &r.Program.Functions[function]
	return r.codeAt(function, f.Offset, f.Size)
}

// codeAt is Code for a part of the function.
func (r *Resolver) codeAt(function FunctionNo, offset, size uint64) ([]byte, isa.Arch) {
	f := &r.Program.Functions[function]
	if c := r.generatedCode[function]; c != nil {
		n := uint64(len(c.Bytes))
		start := min(offset-f.Offset, n)
		return c.Bytes[start:min(start+size, n)], archOf(r.rec)
	}
	return r.Bytes(f.Object, offset, size)
}

// Bytes returns the contents of a load object's file at an offset, as Code does. They
// must not be changed.
func (r *Resolver) Bytes(object ObjectNo, offset, size uint64) ([]byte, isa.Arch) {
	o := &r.Program.Objects[object]
	if o.table == nil || o.table.Arch == 0 {
		return nil, 0
	}
	return r.contents(o.file, offset, min(size, maxCode)), o.table.Arch
}

// archOf is the instruction set of code outside of files.
func archOf(rec *decode.Recording) isa.Arch { return isa.Named(rec.Arch, rec.WordBits) }

// File returns the file in which a mapping's load object was found, empty if
// none was.
func (pr *Process) File(m *image.Mapping) string {
	if m.Code != nil || !m.Executable() {
		return ""
	}
	return pr.r.Program.Objects[pr.r.fileObject(pr.Image, m)].file
}

// ReadFile fills b with what stands in a mapping's file at an offset; false if
// it is unavailable.
func (pr *Process) ReadFile(m *image.Mapping, offset uint64, b []byte) bool {
	name := pr.File(m)
	return name != "" && copy(b, pr.r.contents(name, offset, uint64(len(b)))) == len(b)
}
