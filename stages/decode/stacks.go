package decode

import (
	"slices"

	"stackmill/internal/chunked"
)

// Stacks are the distinct recorded stacks of a process, merged from their roots to a
// tree: a node is a word and the node of its caller. Most of a stack is as in the one
// before, so that a new one costs the words that differ. Next to nothing in it is a
// pointer: the collector has nothing to look at. The zero value is ready; nil is empty.
// It is not safe for concurrent use while stacks are added.
type Stacks struct {
	tree    wordTree
	stacks  chunked.List[stack]
	last    chunked.List[lastStack] // by node
	origins []originStacks
	more    map[int32]moreOfStack // by stack
	marks   []WordMarks           // of the stack that is added
	marked  bool                  // some words are marked
}

// Origin is how a stack was recorded, as in RawStack. Words of stacks with different
// origins are different nodes: rules read them differently.
type Origin struct {
	Returns bool
	Callers Callers
	Reason  string
}

// originStacks is an origin, with the last of its stacks without words.
type originStacks struct {
	Origin
	last lastStack
}

// lastStack is the last of the stacks that Number finds at a leaf: mostly the only one.
type lastStack struct {
	number int32 // from 1; 0 for none
	kernel int32 // as in stack if its state was not recorded, otherwise negative
}

// noState is the state of stacks for which it was not recorded.
const noState = -1

// stack is a recorded stack.
type stack struct {
	leaf   WordNo // negative if it has no words
	kernel int32
	origin int32
	state  int32 // OMPState
	before int32 // the stack before it that Number finds at its leaf, as in lastStack.number
}

// moreOfStack is what few stacks have.
type moreOfStack struct {
	java []JavaFrame
	omp  []uint64
}

// StacksOf returns a list of stacks, each with a number of its own.
func StacksOf(list ...RawStack) *Stacks {
	s := &Stacks{}
	for i := range list {
		s.Add(&list[i])
	}
	return s
}

// Len is how many stacks there are.
func (s *Stacks) Len() int {
	if s == nil {
		return 0
	}
	return s.stacks.Len()
}

// Nodes is how many nodes there are.
func (s *Stacks) Nodes() int {
	if s == nil {
		return 0
	}
	return s.tree.nodes.Len()
}

// Node returns the word of a node, its marks and the node of its caller, which is
// negative if there is none.
func (s *Stacks) Node(n WordNo) (word uint64, marks WordMarks, caller WordNo) {
	t := s.tree.nodes.At(int(n))
	return t.word, t.marks, t.caller
}

// Words returns a list of all words on stacks by node: PCs and markers, with
// repetitions.
func (s *Stacks) Words() []uint64 {
	words := make([]uint64, s.Nodes())
	for n := range words {
		words[n] = s.tree.nodes.At(n).word
	}
	return words
}

// Leaf returns the node of a stack's leaf, which is negative if it has no words.
func (s *Stacks) Leaf(number int32) WordNo { return s.stacks.At(int(number)).leaf }

// Kernel returns how many words of a stack are the kernel's.
func (s *Stacks) Kernel(number int32) int { return int(s.stacks.At(int(number)).kernel) }

// Origin returns how a stack was recorded.
func (s *Stacks) Origin(number int32) *Origin {
	return &s.origins[s.stacks.At(int(number)).origin].Origin
}

// OMPState returns the OpenMP state of a stack, -1 if not recorded.
func (s *Stacks) OMPState(number int32) int { return int(s.stacks.At(int(number)).state) }

// Traits fills in all of a stack but its words, of which there are none then. The
// slices of Java and OpenMP are its own.
func (s *Stacks) Traits(number int32, raw *RawStack) {
	t := s.stacks.At(int(number))
	o, more := &s.origins[t.origin].Origin, s.more[number]
	// A struct that is made first and copied then would have the processor wait for it.
	raw.Words, raw.Exact, raw.ByFrame = raw.Words[:0], raw.Exact[:0], raw.ByFrame[:0]
	raw.Kernel, raw.Returns, raw.Callers, raw.Reason = int(t.kernel), o.Returns, o.Callers, o.Reason
	raw.Java, raw.OMP, raw.OMPState = more.java, more.omp, int(t.state)
}

// Stack fills in a stack. It uses the memory of the slices that raw has, but for those
// of Java and OpenMP, which it replaces by its own.
func (s *Stacks) Stack(number int32, raw *RawStack) {
	s.Traits(number, raw)
	for n := s.Leaf(number); n >= 0; {
		node := s.tree.nodes.At(int(n))
		if node.marks&MarkedExact != 0 {
			raw.Exact = append(raw.Exact, int32(len(raw.Words)))
		}
		if node.marks&MarkedByFrame != 0 {
			raw.ByFrame = append(raw.ByFrame, int32(len(raw.Words)))
		}
		raw.Words = append(raw.Words, node.word)
		n = node.caller
	}
}

// Expanded returns all stacks by number, each by itself: where there are few.
func (s *Stacks) Expanded() []RawStack {
	list := make([]RawStack, s.Len())
	for n := range list {
		s.Stack(int32(n), &list[n])
	}
	return list
}

// Number returns the number of a stack, which is added if there is none equal to it.
// It must have neither Java nor OpenMP frames: Add adds such stacks.
func (s *Stacks) Number(raw *RawStack) int32 {
	t := s.merge(raw)
	if n := s.find(&t); n >= 0 {
		return n
	}
	return s.addFound(t)
}

// Add adds a stack, also if it is equal to another one, and returns its number. The
// memory of Java and OMP is then its own, the other slices are copied.
func (s *Stacks) Add(raw *RawStack) int32 {
	t := s.merge(raw)
	if raw.Java == nil && raw.OMP == nil && s.find(&t) < 0 {
		return s.addFound(t)
	}
	return s.add(t, moreOfStack{raw.Java, raw.OMP})
}

// AddLeaf adds a stack that has one more leaf than another, and returns its number.
func (s *Stacks) AddLeaf(number int32, leaf uint64) int32 {
	t := *s.stacks.At(int(number))
	t.leaf, _ = s.tree.child(t.leaf, leaf, 0)
	return s.add(t, s.more[number])
}

// add adds a stack that Number does not find.
func (s *Stacks) add(t stack, more moreOfStack) int32 {
	n := int32(s.stacks.Len())
	t.before = 0
	s.stacks.Add(t)
	if more.java != nil || more.omp != nil {
		if s.more == nil {
			s.more = map[int32]moreOfStack{}
		}
		s.more[n] = more
	}
	return n
}

// addFound adds a stack that differs from all that Number finds.
func (s *Stacks) addFound(t stack) int32 {
	last := s.lastAt(&t)
	t.before = last.number
	s.stacks.Add(t)
	*last = lastStack{int32(s.stacks.Len()), t.kernel}
	if t.state != noState {
		last.kernel = -1
	}
	return last.number - 1
}

// find returns the number of a stack, -1 if there is none.
func (s *Stacks) find(t *stack) int32 {
	last := s.lastAt(t)
	if last.number != 0 && last.kernel == t.kernel && t.state == noState {
		return last.number - 1
	}
	for n := last.number; n != 0; n = s.stacks.At(int(n) - 1).before {
		if o := s.stacks.At(int(n) - 1); o.kernel == t.kernel && o.state == t.state {
			return n - 1
		}
	}
	return -1
}

// lastAt is where the last of the stacks with a leaf is kept.
func (s *Stacks) lastAt(t *stack) *lastStack {
	if t.leaf < 0 {
		return &s.origins[t.origin].last
	}
	for s.last.Len() < s.tree.nodes.Len() {
		s.last.Add(lastStack{})
	}
	return s.last.At(int(t.leaf))
}

// merge adds a stack's words to the tree.
func (s *Stacks) merge(raw *RawStack) stack {
	o := s.origin(Origin{raw.Returns, raw.Callers, raw.Reason})
	leaf := s.tree.merge(root(o), raw.Words, s.marksOf(raw))
	return stack{leaf: leaf, kernel: int32(raw.Kernel), origin: o, state: int32(raw.OMPState)}
}

func (s *Stacks) origin(o Origin) int32 {
	n := slices.IndexFunc(s.origins, func(known originStacks) bool { return known.Origin == o })
	if n < 0 {
		n = len(s.origins)
		s.origins = append(s.origins, originStacks{Origin: o})
	}
	return int32(n)
}

// marksOf returns the marks of a stack's words, nil if it has none.
func (s *Stacks) marksOf(raw *RawStack) []WordMarks {
	if len(raw.Exact) == 0 && len(raw.ByFrame) == 0 {
		return nil
	}
	s.marked = true
	s.marks = append(s.marks[:0], make([]WordMarks, len(raw.Words))...)
	for _, n := range raw.Exact {
		s.marks[n] |= MarkedExact
	}
	for _, n := range raw.ByFrame {
		s.marks[n] |= MarkedByFrame
	}
	return s.marks
}

// JavaFrames calls yield for each frame of the recorded Java stacks.
func (s *Stacks) JavaFrames(yield func(JavaFrame) bool) {
	if s == nil {
		return
	}
	for _, more := range s.more {
		for _, f := range more.java {
			if !yield(f) {
				return
			}
		}
	}
}
