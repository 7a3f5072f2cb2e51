package symbolize

import (
	"encoding/binary"
	"slices"

	"stackmill/stages/loadobject/funcinfo"
	"stackmill/stages/loadobject/insn/disasm"
	"stackmill/stages/loadobject/isa"
	"stackmill/stages/loadobject/symtab"
	"stackmill/stages/program"
)

// How bodies of parallel regions are assigned to functions (S11): the function that contains a
// region passes the address of the region's body to the OpenMP runtime, which calls the body. If
// the region is not worth a team, the function calls the body itself. Either way, the function's
// machine code has the body's address, whatever the name of the body and whatever was inlined.

// bodyReference is an instruction that contains a body's address, and its function, both as offsets
// in the file.
type bodyReference struct{ function, instruction uint64 }

// referrers returns, by the offset of each parallel region's body, the instructions that contain
// the body's address, one per function.
func (r *Resolver) referrers(object program.ObjectNo) map[uint64][]bodyReference {
	o := &r.loadObjects[object]
	if o.referrers != nil {
		return o.referrers
	}
	found := map[uint64][]bodyReference{}
	s := referenceSearch{r: r, object: object, table: o.table, bodies: map[uint64]uint64{}, found: found}
	for f := range o.table.Functions.All() {
		if kindOf(f) == funcinfo.Body {
			s.bodies[f.Address] = f.Offset
		}
	}
	s.fixed = len(o.table.Segments) > 0 && o.table.Segments[0].Address > 0
	for _, g := range o.table.Regions {
		s.region(g)
	}
	r.loadObjects[object].referrers = found
	return found
}

// referenceSearch searches the machine code of one load object for references to bodies.
type referenceSearch struct {
	r      *Resolver
	object program.ObjectNo
	table  *symtab.Table
	bodies map[uint64]uint64 // offsets of bodies in the file, by address
	fixed  bool              // linked for fixed addresses: instructions contain them
	found  map[uint64][]bodyReference
}

// overlap is the number of bytes by which successive chunks of code overlap, so that no reference
// is missed at their ends.
const overlap = 64

// region searches the code of a region, in chunks.
func (s *referenceSearch) region(g symtab.Region) {
	for at := uint64(0); at < g.Size; {
		code, arch := s.r.Bytes(s.object, g.Offset+at, g.Size-at)
		switch arch {
		case isa.AMD64, isa.X86:
			s.x86(code, g, at)
		case isa.ARM64:
			s.arm64(code, g, at)
		}
		if len(code) <= overlap || at+uint64(len(code)) >= g.Size {
			return
		}
		at += uint64(len(code)) - overlap
	}
}

// x86 searches for a body's address in the last 4 bytes of instructions: absolute, or relative to
// the instruction's end.
func (s *referenceSearch) x86(code []byte, g symtab.Region, at uint64) {
	for i := 1; i+4 <= len(code); i++ {
		field := binary.LittleEndian.Uint32(code[i:])
		end := g.Address + at + uint64(i) + 4
		body, ok := s.bodies[end+uint64(int64(int32(field)))]
		if !ok && s.fixed {
			body, ok = s.bodies[uint64(field)]
		}
		if ok {
			s.addReference(body, g.Offset+at+uint64(i)+4)
		}
	}
}

// addReference records that the instruction that ends at an offset refers to a body, if an
// instruction ends there.
func (s *referenceSearch) addReference(body, end uint64) {
	f, ok := s.table.Function(end - 1)
	if !ok || f.Offset == body || f.Kind == funcinfo.Static || f.Kind == funcinfo.PLT {
		return
	}
	if slices.ContainsFunc(s.found[body], func(x bodyReference) bool { return x.function == f.Offset }) {
		return
	}
	code, arch := s.r.Bytes(s.object, f.Offset, end-f.Offset)
	for i := range disasm.Walk(arch, code, f.Address) {
		if i.Addr+uint64(i.Inst.Len)-f.Address == end-f.Offset && i.Err == nil {
			s.found[body] = append(s.found[body], bodyReference{f.Offset, f.Offset + (i.Addr - f.Address)})
		}
	}
}

// arm64 searches for instructions with a body's address: adrp followed by add, adr, and branches.
func (s *referenceSearch) arm64(code []byte, g symtab.Region, at uint64) {
	var pages [32]uint64 // register -> the page that the last adrp put into it
	for i := 0; i+4 <= len(code); i += 4 {
		word, addr := binary.LittleEndian.Uint32(code[i:]), g.Address+at+uint64(i)
		distance := uint64(int64(int32(word<<8))>>13)<<2 | uint64(word>>29&3) // operand of adr and adrp: distance in bytes or pages
		target := uint64(0)
		switch {
		case word&0x9f000000 == 0x90000000: // adrp
			pages[word&31] = addr&^0xfff + distance<<12
		case word&0xffc00000 == 0x91000000: // add, 64 bits, no shift
			target = pages[word>>5&31] + uint64(word>>10&0xfff)
		case word&0x9f000000 == 0x10000000: // adr
			target = addr + distance
		case word&0x7c000000 == 0x14000000: // b, bl
			target = addr + uint64(int64(int32(word<<6))>>6)<<2
		}
		if body, ok := s.bodies[target]; ok {
			s.addReference(body, g.Offset+at+uint64(i)+4)
		}
	}
}

// maxHolders bounds how many enclosing bodies are followed from a body to the functions that
// contain its region.
const maxHolders = 64

// holders returns the functions that, by their machine code, contain the region of a body: those
// that refer to the body, or to the body of an enclosing region. If there are several, each clone
// is replaced by the function from which it was made.
func (r *Resolver) holders(object program.ObjectNo, body symtab.Function) []symtab.Function {
	o := &r.loadObjects[object]
	refers := r.referrers(object)
	var list []symtab.Function
	add := func(list []symtab.Function, f symtab.Function) []symtab.Function {
		if slices.ContainsFunc(list, func(g symtab.Function) bool { return g.Offset == f.Offset }) {
			return list
		}
		return append(list, f)
	}
	visited := []uint64{body.Offset}
	for next := 0; next < len(visited) && len(visited) < maxHolders; next++ {
		for _, x := range refers[visited[next]] {
			f, ok := o.table.Function(x.function)
			if ok && f.Kind == funcinfo.Outline {
				f, ok = o.findNamed(mainName(f.Linkage), o.table.Modules[f.Module].Name)
			}
			switch {
			case !ok || slices.Contains(visited, f.Offset):
			case kindOf(f) == funcinfo.Body:
				visited = append(visited, f.Offset)
			default:
				list = add(list, f)
			}
		}
	}
	if len(list) < 2 {
		return list
	}
	var originals []symtab.Function
	for _, f := range list {
		if original, ok := o.findOriginal(f.Linkage, o.table.Modules[f.Module].Name); ok && f.Kind == funcinfo.Clone {
			f = original
		}
		originals = add(originals, f)
	}
	return originals
}
