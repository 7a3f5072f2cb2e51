package attribute

import (
	"slices"

	"stackmill/stages/symbolize"
	"stackmill/stages/unwind"
)

// Mode is one of the manual's representations of a stack, as a bit.
type Mode int32

// The modes.
const (
	User    Mode = 1
	Expert  Mode = 2
	Machine Mode = 4
	Plain        = User | Expert | Machine // without inlined functions
)

// Inlined is the mode with inlined functions as frames of their own (S10).
func (m Mode) Inlined() Mode { return m << 3 }

// The numbers of lines of functions and of files: their indices in the lists of a
// Shape.
type (
	lineNo   int32
	sourceNo int32
)

// Shape is what the modes show of stacks.
type Shape struct {
	Views      []view // first those of modes without inlined functions
	LineKeys   []LineKey
	SourceKeys []SourceKey

	program *symbolize.Program
	stacks  *Stacks
	lines   map[LineKey]lineNo
	sources map[SourceKey]sourceNo
}

// view is what one or more modes show, which is the same.
type view struct {
	modes   Mode
	leaf    unwind.Mode            // one of them
	shows   []symbolize.LocationNo // by frame of the stacks, None if it is not shown
	inlined bool
	places  []place // of all frames
	first   []int32 // by frame: its first place; its last is the one before the next frame's
}

// LineKey is a source line of a function.
type LineKey struct {
	Function symbolize.FunctionNo
	File     string
	Line     int32
}

// SourceKey is a line of a source file.
type SourceKey struct {
	File string
	Line int32
}

// place is where a frame is: in an inlined function, if the mode shows them.
type place struct {
	location symbolize.LocationNo
	function symbolize.FunctionNo
	line     lineNo
	source   sourceNo
}

// NewShape finds what the modes show of stacks, which are in order. Modes in which
// every stack is the same share a view.
func NewShape(p *symbolize.Program, stacks *Stacks) *Shape {
	s := &Shape{program: p, stacks: stacks, lines: map[LineKey]lineNo{}, sources: map[SourceKey]sourceNo{}}
	plain, inlined := viewsOf(p, stacks.Frames)
	s.Views = append(plain, inlined...)
	for i := range s.Views {
		s.place(&s.Views[i])
	}
	return s
}

// viewsOf returns the views of modes without inlined functions and with them.
func viewsOf(p *symbolize.Program, frames []unwind.TreeFrame) (plain, inlined []view) {
next:
	for i, modes := range []Mode{User, Expert, Machine} {
		v := view{modes: modes, leaf: unwind.Mode(i), shows: make([]symbolize.LocationNo, len(frames))}
		for n := range frames {
			v.shows[n] = frames[n].Shown[i]
		}
		for i := range plain {
			if slices.Equal(plain[i].shows, v.shows) {
				plain[i].modes |= modes
				continue next
			}
		}
		plain = append(plain, v)
	}
	for i, v := range plain {
		if slices.ContainsFunc(v.shows, func(l symbolize.LocationNo) bool { return l >= 0 && len(p.InlinedAt(l)) > 0 }) {
			v.modes, v.inlined = v.modes.Inlined(), true
			inlined = append(inlined, v)
		} else {
			plain[i].modes |= v.modes.Inlined()
		}
	}
	return plain, inlined
}

// place finds where the frames of a view are.
func (s *Shape) place(v *view) {
	v.first = make([]int32, len(v.shows)+1)
	for frame, location := range v.shows {
		if location >= 0 {
			l := &s.program.Locations[location]
			v.places = append(v.places, s.at(location, l.Function, l.File, l.Line))
			if v.inlined {
				for _, i := range s.program.InlinedAt(location) {
					v.places = append(v.places, s.at(location, i.Function, i.File, i.Line))
				}
			}
		}
		v.first[frame+1] = int32(len(v.places))
	}
}

func (s *Shape) at(location symbolize.LocationNo, function symbolize.FunctionNo, file string, line int32) place {
	return place{
		location, function,
		number(s.lines, &s.LineKeys, LineKey{function, file, line}),
		number(s.sources, &s.SourceKeys, SourceKey{file, line}),
	}
}

// number returns the number of a key, which is added to the list if it is new.
func number[K comparable, N ~int32](numbers map[K]N, list *[]K, k K) N {
	n, ok := numbers[k]
	if !ok {
		n = N(len(*list))
		numbers[k] = n
		*list = append(*list, k)
	}
	return n
}

// of returns where a frame is, the outermost function first; nothing if it is not
// shown.
func (v *view) of(frame unwind.FrameNo) []place {
	return v.places[v.first[frame]:v.first[frame+1]]
}
