package symtab

import (
	"slices"
	"sort"
)

// Inlines says for which calls the code at an offset was inlined: row i holds
// from Offsets[i] up to the next row.
type Inlines struct {
	Offsets []uint64 // sorted, distinct
	Call    []int32  // index into Calls of the innermost one, -1: nothing is inlined from here on
	File    []int32  // index into Table.Files of the instruction's own line, -1: none
	Line    []int32
	// Discriminator is that of the instruction's own line, as in Lines.
	Discriminator []int32
	Calls         []Call
	Names         []string // for people
}

// Call is a call that was replaced by the code of the called function.
type Call struct {
	Name       int32 // index into Inlines.Names of the function called
	File, Line int32 // of the call; the file an index into Table.Files, -1: none
	Around     int32 // the call that it was inlined with, a lower index; -1: none
	Start      int32 // the line where the source declares the function called, 0 if unknown
	// Discriminator tells the calls of a line apart, as in Lines.
	Discriminator int32
}

// Frame is one level of an inline chain.
type Frame struct {
	Function string
	Start    int32 // the line where the source declares it, 0 if unknown
	Place
}

// Place is a place in the source.
type Place struct {
	File          string // empty if unknown
	Line          int32  // 0 if unknown
	Discriminator int32  // as in Lines
}

// Inlined returns the inline chain at an offset of the file (S10): the functions
// that were inlined into the one that has the code, the outermost first. Each
// has the place reached in it: the call of the next, or the instruction's own
// line. The call of the first is what Line returns.
func (t *Table) Inlined(off uint64) []Frame {
	in := &t.Inlines
	i := sort.Search(len(in.Offsets), func(i int) bool { return in.Offsets[i] > off }) - 1
	if i < 0 {
		return nil
	}
	var chain []Frame
	file, line, discriminator := in.File[i], in.Line[i], int32(0)
	if len(in.Discriminator) > 0 {
		discriminator = in.Discriminator[i]
	}
	for n := in.Call[i]; n >= 0; n = in.Calls[n].Around {
		c := &in.Calls[n]
		f := Frame{Function: in.Names[c.Name], Start: c.Start}
		if file >= 0 {
			f.Place = Place{t.Files[file], line, discriminator}
		}
		chain = append(chain, f)
		file, line, discriminator = c.File, c.Line, c.Discriminator
	}
	slices.Reverse(chain)
	return chain
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
