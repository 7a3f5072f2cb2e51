// Package unwind turns recorded stacks into normalised ones, by the rules of
// the manual. One file holds one rule.
package unwind

import (
	"stackmill/schema"
	"stackmill/stages/arena"
	"stackmill/stages/symbolize"
)

// Frame is one frame of a normalised stack.
type Frame struct {
	Location symbolize.LocationNo
	Rule     schema.Rule
}

// Stack is one distinct normalised stack.
type Stack struct {
	ID     int64
	Frames []Frame // leaf first
}

// StackNo is the number of a stack: its index in Set.Stacks.
type StackNo int32

// Empty is the number of the stack without frames.
const Empty StackNo = 0

// Set holds the distinct stacks of a recording; the one without
// frames is the first.
type Set struct {
	Stacks []Stack
	byID   map[int64]StackNo
	frames arena.Arena[Frame]
	words  arena.Arena[symbolize.LocationNo] // what recorded words mean

	// What is known of the frames, whichever process they are seen in.
	traits  []traits     // by location, as far as they were looked up
	classes []class      // by function, likewise
	gaps    map[edge]gap // what is missing in chains of frame pointers
}

// NewSet returns a set that holds the empty stack.
func NewSet() *Set {
	s := &Set{byID: map[int64]StackNo{}, gaps: map[edge]gap{}}
	s.Intern(nil, nil)
	return s
}

// Intern returns the number of the stack with these frames, which it copies if
// they are new. locationID gives the identifier of a location.
func (s *Set) Intern(frames []Frame, locationID func(symbolize.LocationNo) int64) StackNo {
	h := schema.NewID("stack")
	for _, f := range frames {
		h.Number(uint64(locationID(f.Location))).Text(f.Rule.String()) // its number changes when rules are added
	}
	id := h.Sum()
	n, ok := s.byID[id]
	if !ok {
		n = StackNo(len(s.Stacks))
		s.Stacks = append(s.Stacks, Stack{id, s.frames.Copy(frames)})
		s.byID[id] = n
	}
	return n
}
