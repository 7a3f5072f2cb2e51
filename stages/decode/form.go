package decode

import (
	"encoding/binary"
)

// Form is everything about a recorded stack except its words: how it was recorded, and which words
// are special.
type Form struct {
	Returns  bool    `json:"returns,omitempty"`
	Callers  Callers `json:"callers,omitempty"`
	Reason   string  `json:"reason,omitempty"`
	Kernel   int     `json:"kernel,omitempty"`
	OMPState int     `json:"omp_state"`
	Java     bool    `json:"java,omitempty"` // a Java stack was recorded, perhaps an empty one
	OMP      bool    `json:"omp,omitempty"`  // an OpenMP stack was recorded, perhaps an empty one
	Exact    []int32 `json:"exact,omitempty"`
	ByFrame  []int32 `json:"by_frame,omitempty"`
}

// FormTable numbers distinct forms. The zero value is empty.
type FormTable struct {
	List    []Form
	numbers map[formKey]int32
	words   []byte
}

// FormIndex finds the forms of one process's stacks.
type FormIndex struct {
	table  *FormTable
	stacks *Stacks
	recent [recentForms]recentForm // indexed by the number of kernel words modulo recentForms
}

// recentForms is the size of FormIndex.recent, a cache of forms without marked words.
const recentForms = 32

// recentForm is a cached form. number is the form's number plus 1, or 0 if the entry is empty.
type recentForm struct{ origin, kernel, state, number int32 }

// IndexOf returns an index for the forms of stacks.
func (f *FormTable) IndexOf(s *Stacks) *FormIndex { return &FormIndex{table: f, stacks: s} }

// formKey identifies a form.
type formKey struct {
	Origin
	kernel, state int32
	java, omp     bool
	marks         string // the lists of marked words
}

// Intern returns the number of a stack's form.
func (o *FormIndex) Intern(stack int32) int32 {
	s := o.stacks
	t, more := s.stacks.At(int(stack)), s.extra[stack]
	if s.marked || more.java != nil || more.omp != nil {
		return o.table.intern(s, t, more)
	}
	last := &o.recent[uint32(t.kernel)%recentForms]
	if k := (recentForm{t.origin, t.kernel, t.state, last.number}); k.number == 0 || *last != k {
		k.number = o.table.intern(s, t, more) + 1
		*last = k
	}
	return last.number - 1
}

// intern returns the number of a form.
func (f *FormTable) intern(s *Stacks, t *stack, more extraFrames) int32 {
	k := formKey{Origin: s.origins[t.origin].Origin, kernel: t.kernel, state: t.state, java: more.java != nil, omp: more.omp != nil}
	var exact, byFrame []int32
	if s.marked {
		exact, byFrame = s.marksAbove(t.leaf)
		k.marks = f.key(exact, byFrame)
	}
	n, known := f.numbers[k]
	if !known {
		if f.numbers == nil {
			f.numbers = map[formKey]int32{}
		}
		n = int32(len(f.List))
		f.numbers[k] = n
		f.List = append(f.List, Form{k.Returns, k.Callers, k.Reason, int(k.kernel), int(k.state), k.java, k.omp, exact, byFrame})
	}
	return n
}

// key encodes lists as a string.
func (f *FormTable) key(lists ...[]int32) string {
	f.words = f.words[:0]
	for _, list := range lists {
		f.words = binary.AppendUvarint(f.words, uint64(len(list)))
		for _, n := range list {
			f.words = binary.AppendUvarint(f.words, uint64(n))
		}
	}
	return string(f.words)
}

// marksAbove returns the indexes of the marked words of the stack with this leaf.
func (s *Stacks) marksAbove(leaf WordNo) (exact, byFrame []int32) {
	for i, n := int32(0), leaf; n >= 0; i++ {
		node := s.tree.nodes.At(int(n))
		if node.marks&MarkedExact != 0 {
			exact = append(exact, i)
		}
		if node.marks&MarkedByFrame != 0 {
			byFrame = append(byFrame, i)
		}
		n = node.caller
	}
	return exact, byFrame
}

// Stack returns a stack of the form, with copies of java and omp.
func (f *Form) Stack(words []uint64, java []JavaFrame, omp []uint64) RawStack {
	raw := RawStack{
		Words: words, Kernel: f.Kernel, Returns: f.Returns, Callers: f.Callers, Reason: f.Reason,
		OMPState: f.OMPState, Exact: f.Exact, ByFrame: f.ByFrame,
	}
	if f.Java {
		raw.Java = append([]JavaFrame{}, java...)
	}
	if f.OMP {
		raw.OMP = append([]uint64{}, omp...)
	}
	return raw
}
