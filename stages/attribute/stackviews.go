package attribute

import (
	"slices"

	"stackmill/internal/memo"
	"stackmill/stages/program"
	"stackmill/stages/stacktree"
)

// Mode is a set of the manual's representations of a stack, one bit each.
type Mode int32

// The manual's modes, without inlined functions.
const (
	User    Mode = 1
	Expert  Mode = 2
	Machine Mode = 4
	Plain        = User | Expert | Machine // without inlined functions
)

// modeBits is the distance from the bit of a mode to the bit of the same mode with inlined
// functions.
const modeBits = 3

// Inlined returns the same modes, but with inlined functions shown as frames (S10).
func (m Mode) Inlined() Mode { return m << modeBits }

// lineNo and sourceNo are indices in the LineKeys and SourceKeys of StackViews.
type (
	lineNo   int32
	sourceNo int32
)

// StackViews holds the stacks as the modes show them. Modes that show all stacks alike share a
// view.
type StackViews struct {
	Views      []view // first the views of modes without inlined functions
	LineKeys   []LineKey
	SourceKeys []SourceKey

	program  *program.Program
	stacks   *Stacks
	ends     endSums
	sourceOf []sourceNo // lineNo -> the line of the source file

	// Used by NewStackViews only.
	lineNos   map[LineKey]lineNo
	sourceNos map[SourceKey]sourceNo
	latest    []lineNo   // by function: the line interned last, or None
	positions []position // location -> its position, without inlined functions; function is None until computed
}

// view says what one or more modes show of each frame.
type view struct {
	modes     Mode
	leaf      stacktree.Mode       // one of the modes, inlined functions aside: its leaf is the view's
	shows     []program.LocationNo // by frame of the stack tree: the location, None if the frame is not shown
	inlined   bool
	positions []position // the positions of all frames, one frame after the other
	first     []int32    // by frame: the index of its first position; the next frame's first ends the list
}

// modesOf returns, for each view, the subset of `of` that the view represents.
func (s *StackViews) modesOf(of Mode) []Mode {
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

// position is a frame's place in the program. In a view with inlined functions, a frame has one
// position for each function inlined at its location, and one for the function itself.
type position struct {
	location program.LocationNo
	function program.FunctionNo
	line     lineNo
	source   sourceNo
}

// NewStackViews makes the views of stacks. Call it after Renumber.
func NewStackViews(p *program.Program, stacks *Stacks, sums *Sums) *StackViews {
	s := &StackViews{
		program: p, stacks: stacks, ends: newEndSums(stacks, sums), lineNos: map[LineKey]lineNo{}, sourceNos: map[SourceKey]sourceNo{},
		latest:    slices.Repeat([]lineNo{program.None}, len(p.Functions)),
		positions: slices.Repeat([]position{{function: program.None}}, p.Locations.Len()),
	}
	plain, inlined := viewsOf(p, stacks.Frames)
	s.Views = append(plain, inlined...)
	for i := range s.Views {
		s.setPositions(&s.Views[i])
	}
	s.lineNos, s.sourceNos, s.latest, s.positions = nil, nil, nil, nil
	return s
}

// viewsOf returns the views without and with inlined functions.
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

// setPositions finds the positions of a view's frames.
func (s *StackViews) setPositions(v *view) {
	v.first = make([]int32, len(v.shows)+1)
	v.positions = make([]position, 0, len(v.shows))
	for frame, location := range v.shows {
		if location >= 0 {
			v.positions = append(v.positions, s.positionOf(location))
			if v.inlined {
				for _, i := range s.program.InlinedAt(location) {
					line := s.internLine(LineKey{i.Function, i.File, i.Line})
					v.positions = append(v.positions, position{location, i.Function, line, s.sourceOf[line]})
				}
			}
		}
		v.first[frame+1] = int32(len(v.positions))
	}
}

// positionOf returns the position of a location in the function that contains its code, not in an
// inlined one.
func (s *StackViews) positionOf(location program.LocationNo) position {
	at := &s.positions[location]
	if at.function < 0 {
		l := s.program.Location(location)
		line := s.internLine(LineKey{l.Function, l.File, l.Line})
		*at = position{location, l.Function, line, s.sourceOf[line]}
	}
	return *at
}

// internLine returns the number of a line of a function.
func (s *StackViews) internLine(k LineKey) lineNo {
	latest := &s.latest[k.Function]
	if *latest < 0 || s.LineKeys[*latest] != k {
		*latest = intern(s.lineNos, &s.LineKeys, k)
		if int(*latest) == len(s.sourceOf) {
			s.sourceOf = append(s.sourceOf, intern(s.sourceNos, &s.SourceKeys, SourceKey{k.File, k.Line}))
		}
	}
	return *latest
}

// intern returns the index of a key in the list. It appends new keys.
func intern[K comparable, N ~int32](numbers map[K]N, list *[]K, k K) N {
	return memo.Get(numbers, k, func() N {
		*list = append(*list, k)
		return N(len(*list) - 1)
	})
}

// positionsOf returns the positions of a frame, the outermost function first; none if the view
// does not show it.
func (v *view) positionsOf(frame stacktree.FrameNo) []position {
	return v.positions[v.first[frame]:v.first[frame+1]]
}
