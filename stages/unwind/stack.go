// Package unwind turns recorded stacks into normalised ones, by the rules of
// the manual. One file holds one rule.
package unwind

import (
	"stackmill/schema"
	"stackmill/stages/symbolize"
)

// Frame is one frame of a normalised stack.
type Frame struct {
	Location symbolize.LocationNo
	Rule     Rule
}

// Rule names what put a frame in or changed it.
type Rule uint8

// The rules.
const (
	Recorded      Rule = iota // as recorded
	RulePLT                   // a leaf in the PLT was dropped below it (S22)
	RuleLinker                // stands for the linker's frames of a first call (S23)
	RuleLeafCheck             // taken from the return register, or from a recorded call (S7)
	RuleTruncated             // stands for lost frames (S18)
	RuleOutline               // the artificial call of an outline function (S12)
	RuleTrap                  // trapped into the kernel, whose frames were dropped above it (S25)
	RuleJava                  // from the recorded Java stack (S14)
	RuleOpenMP                // from the recorded OpenMP stack or state, or from the runtime's frames (S17)
	RuleBody                  // in a body, shown in the function it was made from (S11)
	RuleInferred              // a caller that was not recorded, which the machine code tells (S22)
	RuleMissing               // stands for callers that were not recorded (S22)
)

// RuleNames are the rules' names, by rule.
var RuleNames = [...]string{"", "S22", "S23", "S7", "S18", "S12", "S25", "S14", "S17", "S11", "S22 inferred", "S22 missing"}

func (r Rule) String() string { return RuleNames[r] }

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
}

// NewSet returns a set that holds the empty stack.
func NewSet() *Set {
	s := &Set{byID: map[int64]StackNo{}}
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
		s.Stacks = append(s.Stacks, Stack{id, append([]Frame(nil), frames...)})
		s.byID[id] = n
	}
	return n
}
