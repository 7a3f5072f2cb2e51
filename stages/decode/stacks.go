package decode

import (
	"slices"

	"stackmill/internal/chunked"
)

// Stacks holds the distinct recorded stacks of a process, merged from their roots into a tree: a
// node is a word and the node of its caller. Successive stacks share most words, so a new stack
// costs only the words that differ. The tree has almost no pointers: the garbage collector has
// nothing to scan. The zero value is ready; nil is empty. Adding stacks is not safe for concurrent
// use.
type Stacks struct {
	tree    wordTree
	stacks  chunked.List[stack]
	byLeaf  chunked.List[leafStack] // indexed by the leaf's node
	origins []originStacks
	extra   map[int32]extraFrames // number of a stack -> its extra frames
	marks   []WordMarks           // the marks of the stack being added
	marked  bool                  // some words are marked
}

// Origin says how a stack was recorded, as in RawStack. Stacks with different origins share no
// nodes, because the rules read their words differently.
type Origin struct {
	Returns bool
	Callers Callers
	Reason  string
}

// originStacks is an origin and the last interned stack that has this origin and no words.
type originStacks struct {
	Origin
	last leafStack
}

// leafStack is the last interned stack with a given leaf; most leaves have only one stack.
type leafStack struct {
	number int32 // number of the stack plus 1; 0: none
	kernel int32 // RawStack.Kernel of the stack; -1 if it has a recorded state
}

// noState is the state of stacks without one.
const noState = -1

// stack is a recorded stack.
type stack struct {
	leaf   WordNo // negative if it has no words
	kernel int32
	origin int32
	state  int32 // OMPState
	before int32 // number plus 1 of the previous interned stack with the same leaf; 0: none
}

// extraFrames are frames that few stacks have.
type extraFrames struct {
	java []JavaFrame
	omp  []uint64
}

// StacksOf returns the listed stacks, numbered in order.
func StacksOf(list ...RawStack) *Stacks {
	s := &Stacks{}
	for i := range list {
		s.Add(&list[i])
	}
	return s
}

// Len returns the number of stacks.
func (s *Stacks) Len() int {
	if s == nil {
		return 0
	}
	return s.stacks.Len()
}

// Nodes returns the number of nodes.
func (s *Stacks) Nodes() int {
	if s == nil {
		return 0
	}
	return s.tree.nodes.Len()
}

// Node returns the word of a node, its marks and the node of its caller, negative if there is
// none.
func (s *Stacks) Node(n WordNo) (word uint64, marks WordMarks, caller WordNo) {
	t := s.tree.nodes.At(int(n))
	return t.word, t.marks, t.caller
}

// Words returns the words of all nodes: PCs and markers, with repetitions.
func (s *Stacks) Words() []uint64 {
	words := make([]uint64, s.Nodes())
	for n := range words {
		words[n] = s.tree.nodes.At(n).word
	}
	return words
}

// Touches reports whether any of the sorted words is in [address, address+size], that is, in a piece
// of code or the return address right after its end.
func Touches(words []uint64, address, size uint64) bool {
	i, _ := slices.BinarySearch(words, address)
	return i < len(words) && words[i]-address <= size
}

// Leaf returns the node of a stack's leaf, negative if it has no words.
func (s *Stacks) Leaf(number int32) WordNo { return s.stacks.At(int(number)).leaf }

// Kernel returns the number of kernel words of a stack.
func (s *Stacks) Kernel(number int32) int { return int(s.stacks.At(int(number)).kernel) }

// Origin returns how a stack was recorded.
func (s *Stacks) Origin(number int32) *Origin {
	return &s.origins[s.stacks.At(int(number)).origin].Origin
}

// OMPState returns the OpenMP state of a stack, -1 if it was not recorded.
func (s *Stacks) OMPState(number int32) int { return int(s.stacks.At(int(number)).state) }

// Traits fills in everything about a stack except its words; it empties Words, Exact and ByFrame.
// The slices of Java and OpenMP belong to s.
func (s *Stacks) Traits(number int32, raw *RawStack) {
	t := s.stacks.At(int(number))
	o, more := &s.origins[t.origin].Origin, s.extra[number]
	// Assigning a struct literal is slower: the processor waits for the copy.
	raw.Words, raw.Exact, raw.ByFrame = raw.Words[:0], raw.Exact[:0], raw.ByFrame[:0]
	raw.Kernel, raw.Returns, raw.Callers, raw.Reason = int(t.kernel), o.Returns, o.Callers, o.Reason
	raw.Java, raw.OMP, raw.OMPState = more.java, more.omp, int(t.state)
}

// Stack fills in a stack. It reuses the memory of raw's slices, but replaces the Java and OpenMP
// slices.
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

// Expanded returns all stacks by number, for small lists.
func (s *Stacks) Expanded() []RawStack {
	list := make([]RawStack, s.Len())
	for n := range list {
		s.Stack(int32(n), &list[n])
	}
	return list
}

// Intern returns the number of a stack. It must have neither Java nor OpenMP frames: Add adds
// such stacks.
func (s *Stacks) Intern(raw *RawStack) int32 {
	t := s.merge(raw)
	if n := s.find(&t); n >= 0 {
		return n
	}
	return s.addInterned(t)
}

// Add adds a stack, even if it equals another one, and returns its number. It keeps the slices Java
// and OMP, and copies the others.
func (s *Stacks) Add(raw *RawStack) int32 {
	t := s.merge(raw)
	if raw.Java == nil && raw.OMP == nil && s.find(&t) < 0 {
		return s.addInterned(t)
	}
	return s.add(t, extraFrames{raw.Java, raw.OMP})
}

// InternState returns the number of a stack that equals an existing one except for its state.
func (s *Stacks) InternState(number int32, state int) int32 {
	t := *s.stacks.At(int(number))
	t.state = int32(state)
	if n := s.find(&t); n >= 0 {
		return n
	}
	return s.addInterned(t)
}

// AddLeaf adds a copy of a stack with one more word, its new leaf, and returns the copy's number.
func (s *Stacks) AddLeaf(number int32, leaf uint64) int32 {
	t := *s.stacks.At(int(number))
	t.leaf, _ = s.tree.child(t.leaf, leaf, 0)
	return s.add(t, s.extra[number])
}

// add adds a stack that Intern will not find.
func (s *Stacks) add(t stack, more extraFrames) int32 {
	n := int32(s.stacks.Len())
	t.before = 0
	s.stacks.Add(t)
	if more.java != nil || more.omp != nil {
		if s.extra == nil {
			s.extra = map[int32]extraFrames{}
		}
		s.extra[n] = more
	}
	return n
}

// addInterned adds a stack that differs from all interned ones.
func (s *Stacks) addInterned(t stack) int32 {
	last := s.leafStackOf(&t)
	t.before = last.number
	s.stacks.Add(t)
	*last = leafStack{int32(s.stacks.Len()), t.kernel}
	if t.state != noState {
		last.kernel = -1
	}
	return last.number - 1
}

// find returns the number of an interned stack, -1 if there is none.
func (s *Stacks) find(t *stack) int32 {
	last := s.leafStackOf(t)
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

// leafStackOf returns the entry of byLeaf for a stack's leaf; without a leaf, the entry of the
// stack's origin.
func (s *Stacks) leafStackOf(t *stack) *leafStack {
	if t.leaf < 0 {
		return &s.origins[t.origin].last
	}
	for s.byLeaf.Len() < s.tree.nodes.Len() {
		s.byLeaf.Add(leafStack{})
	}
	return s.byLeaf.At(int(t.leaf))
}

// merge merges a stack's words into the tree.
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

// marksOf returns the marks of a stack's words, nil if no word is marked.
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
	for _, more := range s.extra {
		for _, f := range more.java {
			if !yield(f) {
				return
			}
		}
	}
}
