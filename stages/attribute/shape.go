package attribute

import (
	"slices"

	"stackmill/stages/program"
	"stackmill/stages/stacktree"
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

// modeBits is how far the bits of modes with inlined functions are from those without.
const modeBits = 3

// Inlined is the mode with inlined functions as frames of their own (S10).
func (m Mode) Inlined() Mode { return m << modeBits }

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

	program *program.Program
	stacks  *Stacks
	ends    ends
	numbers map[LineKey]lineNo
	sources map[SourceKey]sourceNo
	source  []sourceNo // by line of a function
	latest  []lineNo   // by function: the line that was asked for last, None before
	places  []place    // by location, outside of inlined functions; without a function until it was asked for
}

// view is what one or more modes show, which is the same.
type view struct {
	modes   Mode
	leaf    stacktree.Mode       // one of them
	shows   []program.LocationNo // by frame of the stacks, None if it is not shown
	inlined bool
	places  []place // of all frames
	first   []int32 // by frame: its first place; its last is the one before the next frame's
}

// modes returns, by view, those of some modes that it is what they show.
func (s *Shape) modes(of Mode) []Mode {
	list := make([]Mode, len(s.Views))
	for i := range s.Views {
		list[i] = s.Views[i].modes & of
	}
	return list
}

// LineKey is a source line of a function.
type LineKey struct {
	Function program.FunctionNo
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
	location program.LocationNo
	function program.FunctionNo
	line     lineNo
	source   sourceNo
}

// NewShape finds what the modes show of stacks, which are in order. Modes in which
// every stack is the same share a view.
func NewShape(p *program.Program, stacks *Stacks, sums *Sums) *Shape {
	s := &Shape{
		program: p, stacks: stacks, ends: endsOf(stacks, sums), numbers: map[LineKey]lineNo{}, sources: map[SourceKey]sourceNo{},
		latest: slices.Repeat([]lineNo{program.None}, len(p.Functions)),
		places: slices.Repeat([]place{{function: program.None}}, p.Locations.Len()),
	}
	plain, inlined := viewsOf(p, stacks.Frames)
	s.Views = append(plain, inlined...)
	for i := range s.Views {
		s.place(&s.Views[i])
	}
	s.numbers, s.sources, s.latest, s.places = nil, nil, nil, nil
	return s
}

// viewsOf returns the views of modes without inlined functions and with them.
func viewsOf(p *program.Program, frames []stacktree.Frame) (plain, inlined []view) {
next:
	for i, modes := range []Mode{User, Expert, Machine} {
		v := view{modes: modes, leaf: stacktree.Mode(i), shows: make([]program.LocationNo, len(frames))}
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
		if slices.ContainsFunc(v.shows, func(l program.LocationNo) bool { return l >= 0 && len(p.InlinedAt(l)) > 0 }) {
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
	v.places = make([]place, 0, len(v.shows))
	for frame, location := range v.shows {
		if location >= 0 {
			v.places = append(v.places, s.at(location))
			if v.inlined {
				for _, i := range s.program.InlinedAt(location) {
					line := s.line(LineKey{i.Function, i.File, i.Line})
					v.places = append(v.places, place{location, i.Function, line, s.source[line]})
				}
			}
		}
		v.first[frame+1] = int32(len(v.places))
	}
}

// at returns where a location is, outside of inlined functions.
func (s *Shape) at(location program.LocationNo) place {
	at := &s.places[location]
	if at.function < 0 {
		l := s.program.Location(location)
		line := s.line(LineKey{l.Function, l.File, l.Line})
		*at = place{location, l.Function, line, s.source[line]}
	}
	return *at
}

// line returns the number of a line of a function, which may be new.
func (s *Shape) line(k LineKey) lineNo {
	latest := &s.latest[k.Function]
	if *latest < 0 || s.LineKeys[*latest] != k {
		*latest = number(s.numbers, &s.LineKeys, k)
		if int(*latest) == len(s.source) {
			s.source = append(s.source, number(s.sources, &s.SourceKeys, SourceKey{k.File, k.Line}))
		}
	}
	return *latest
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
func (v *view) of(frame stacktree.FrameNo) []place {
	return v.places[v.first[frame]:v.first[frame+1]]
}
