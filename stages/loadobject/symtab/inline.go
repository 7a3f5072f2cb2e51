package symtab

import (
	"cmp"
	"slices"
	"stackmill/stages/loadobject/funcinfo"
)

// Inlines says for which calls code was inlined.
type Inlines struct {
	Rows      Rows // with the lines of the instructions themselves
	Calls     []Call
	Functions []InlinedFunction
	Regions   []RegionHolder // by ascending offset of the body
}

// RegionHolder says in which function a parallel region was written (S11).
type RegionHolder struct {
	Body     uint64 // offset in the file
	Function int32  // index into Inlines.Functions
}

// Call is a call that was replaced by the code of the called function.
type Call struct {
	Function   int32 // index into Inlines.Functions
	File, Line int32 // of the call; the file an index into Table.Files, -1: none
	Around     int32 // the call that it was inlined with, a lower index; -1: none
	// Discriminator tells the calls of a line apart, as in Row.
	Discriminator int32
}

// InlinedFunction is a function that was inlined. It is the function of an entry of the
// debug information, not of a name (S10).
type InlinedFunction struct {
	Name    string // for people
	Linkage string // empty if the debug information has none
	Scope   funcinfo.NameScope
	Own     uint64 // offset in the file of its code that is not inlined, which has its symbol; 0: none
	Module  int32  // index into Table.Modules: the file of its declaration, or else its unit
	Start   int32  // the line where the source declares it, 0 if unknown
	// ID tells functions of one name and module apart: a hash of what the debug information
	// says of them.
	ID uint64
	// Deeper marks the one that stands for all functions inlined deeper than chains are long.
	Deeper bool
}

// DeeperInlined is the name of the function that stands for all functions inlined deeper
// than chains are long.
const DeeperInlined = "<Truncated-inline-chain>"

// Frame is one level of an inline chain.
type Frame struct {
	Number   int32 // of the function: index into Inlines.Functions
	Function *InlinedFunction
	funcinfo.Place
}

// Inlined returns the inline chain at an offset of the file (S10): the functions
// that were inlined into the one that has the code, the outermost first. Each
// has the place reached in it: the call of the next, or the instruction's own
// line. The call of the first is what Line returns.
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

// RegionHolder returns the function in which the region of the body at an offset of the file
// was written, if the debug information says so.
func (t *Table) RegionHolder(body uint64) (f Frame, ok bool) {
	in := &t.Inlines
	i, ok := slices.BinarySearchFunc(in.Regions, body, func(h RegionHolder, body uint64) int { return cmp.Compare(h.Body, body) })
	if ok {
		n := in.Regions[i].Function
		f = Frame{Number: n, Function: &in.Functions[n]}
	}
	return f, ok
}

// Names makes names for people of linkage names, as functions have them, within
// the bounds of one table.
type Names struct{ namer *namer }

// NewNames starts with the bounds of one table.
func NewNames() Names { return Names{newNamer(false)} }

// Readable returns the name for people.
func (n Names) Readable(linkage string) string {
	clear(n.namer.known)
	name, _ := n.namer.name(linkage)
	return name
}

// Notes say how many names were left as they are.
func (n Names) Notes() []Note { return n.namer.notes() }

// Readable returns a function that makes names for people, of which no notes are
// wanted.
func Readable() func(linkage string) string { return NewNames().Readable }

// ReadableName returns the name for people of a single linkage name.
func ReadableName(linkage string) string {
	n := newNamer(false)
	n.steps = 1 << 16
	name, _ := n.name(linkage)
	return name
}
