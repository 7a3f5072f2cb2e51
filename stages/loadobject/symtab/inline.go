package symtab

import (
	"cmp"
	"slices"
	"stackmill/stages/loadobject/funcinfo"
)

// Inlines are the inlined calls of a load object.
type Inlines struct {
	Rows      Rows // the innermost calls by offset, with the lines of their instructions
	Calls     []Call
	Functions []InlinedFunction
	Regions   []RegionHolder // by ascending offset of the body
}

// RegionHolder is the function whose source contains a parallel region (S11).
type RegionHolder struct {
	Body     uint64 // offset of the region's body in the file
	Function int32  // index into Inlines.Functions
}

// Call is an inlined call.
type Call struct {
	Function      int32 // index into Inlines.Functions
	File, Line    int32 // position of the call; the file is an index into Table.Files, -1 for none
	Around        int32 // the enclosing inlined call, a lower index; -1 for none
	Discriminator int32 // distinguishes calls on one line, as in Row
}

// InlinedFunction is a function that was inlined. Its identity comes from its debug information,
// since different functions may have the same name (S10).
type InlinedFunction struct {
	Name    string // readable
	Linkage string // empty if the debug information has none
	Scope   funcinfo.NameScope
	Own     uint64 // offset in the file of its copy that is not inlined, 0 for none
	Module  int32  // index into Table.Modules: the file that declares it, else its unit
	Start   int32  // line of its declaration, 0 if unknown
	// ID distinguishes functions with the same name and module. It is a hash of their debug
	// information.
	ID     uint64
	Deeper bool // the function DeeperInlined
}

// DeeperInlined is the name of the innermost function in chains that are cut because they are too
// long.
const DeeperInlined = "<Truncated-inline-chain>"

// Frame is one level of an inline chain.
type Frame struct {
	Number   int32 // index into Inlines.Functions
	Function *InlinedFunction
	funcinfo.Place
}

// Inlined returns the inline chain at an offset of the file (S10): the functions that were inlined
// into the function there, outermost first. The position in a frame is where the function calls the
// next one; in the innermost frame, it is the instruction's own line. Line returns where the first
// inlined function is called.
func (t *Table) Inlined(off uint64) []Frame {
	in := &t.Inlines
	i := in.Rows.Before(off)
	if i < 0 {
		return nil
	}
	var chain []Frame
	row := in.Rows.At(i)
	for n := row.Call; n >= 0; n = in.Calls[n].Around {
		c := &in.Calls[n]
		chain = append(chain, Frame{c.Function, &in.Functions[c.Function], t.place(row)})
		row = Row{File: c.File, Line: c.Line, Discriminator: c.Discriminator}
	}
	slices.Reverse(chain)
	return chain
}

// RegionHolder returns the function whose source contains a parallel region, given the offset in
// the file of the region's body; false if it is unknown.
func (t *Table) RegionHolder(body uint64) (f Frame, ok bool) {
	in := &t.Inlines
	i, ok := slices.BinarySearchFunc(in.Regions, body, func(h RegionHolder, body uint64) int { return cmp.Compare(h.Body, body) })
	if ok {
		n := in.Regions[i].Function
		f = Frame{Number: n, Function: &in.Functions[n]}
	}
	return f, ok
}

// Names makes linkage names readable. Bounds of one table apply to all its names together.
type Names struct{ namer *namer }

// NewNames returns a Names that has not used up any of the bounds.
func NewNames() Names { return Names{newNamer(false)} }

// Readable returns the readable name of a linkage name.
func (n Names) Readable(linkage string) string {
	clear(n.namer.known)
	name, _ := n.namer.name(linkage)
	return name
}

// Notes returns a note on how many names were too complex to demangle, if any.
func (n Names) Notes() []Note { return n.namer.notes() }

// ReadableName returns the readable name of a single linkage name.
func ReadableName(linkage string) string {
	n := newNamer(false)
	n.steps = 1 << 16
	name, _ := n.name(linkage)
	return name
}
