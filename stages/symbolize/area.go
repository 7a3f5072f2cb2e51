package symbolize

import "stackmill/stages/symbolize/image"

// area is a piece of a process's text that is mapped from a load object with symbols.
type area struct {
	image.Piece
	object ObjectNo
	offset uint64 // from an address to the offset in the file
}

// maxAreas is how many areas are looked through: more take as long as asking the image.
const maxAreas = 8

// areas are those that a process's PCs were in last: most PCs are in one of few.
type areas struct {
	list [maxAreas]area
	n    int // that were added
	last int // where the last PC was
}

// at returns the area in which a PC was at a time, nil if it is not among those known.
func (x *areas) at(pc uint64, t int64) *area {
	if x.n == 0 {
		return nil
	}
	if a := &x.list[x.last]; a.has(pc, t) {
		return a
	}
	for i := range x.list[:min(x.n, maxAreas)] {
		if a := &x.list[i]; a.has(pc, t) {
			x.last = i
			return a
		}
	}
	return nil
}

func (a *area) has(pc uint64, t int64) bool {
	return a.First <= pc && pc <= a.Last && a.From <= t && t < a.Until
}

// add adds an area unless it is there. The kernel's part of the address space is not one:
// PCs there need not be its own.
func (x *areas) add(a area) {
	if a.Last >= kernelStart || x.at(a.First, a.From) != nil {
		return
	}
	x.list[x.n%maxAreas] = a
	x.last = x.n % maxAreas
	x.n++
}
