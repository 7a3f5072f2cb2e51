package decode

import (
	"encoding/binary"
)

// Form is all of a recorded stack but its words: how it was recorded, and which of its
// words are special.
type Form struct {
	Returns  bool    `json:"returns,omitempty"`
	Callers  Callers `json:"callers,omitempty"`
	Reason   string  `json:"reason,omitempty"`
	Kernel   int     `json:"kernel,omitempty"`
	OMPState int     `json:"omp_state"`
	Java     bool    `json:"java,omitempty"` // a Java stack was recorded, perhaps an empty one
	OMP      bool    `json:"omp,omitempty"`  // likewise an OpenMP stack
	Exact    []int32 `json:"exact,omitempty"`
	ByFrame  []int32 `json:"by_frame,omitempty"`
}

// Forms are distinct forms by number. The zero value has none.
type Forms struct {
	List    []Form
	numbers map[formKey]int32
	words   []byte
}

// FormsOf finds the forms of one process's stacks.
type FormsOf struct {
	forms  *Forms
	stacks *Stacks
	last   [lastForms]lastForm // by how many words are the kernel's
}

// lastForms is how many forms without marked words are found fast.
const lastForms = 32

// lastForm is a form, with its number from 1; 0 for none.
type lastForm struct{ origin, kernel, state, number int32 }

// Of returns what finds the forms of stacks.
func (f *Forms) Of(s *Stacks) *FormsOf { return &FormsOf{forms: f, stacks: s} }

// formKey identifies a form.
type formKey struct {
	Origin
	kernel, state int32
	java, omp     bool
	marks         string // the lists of marked words
}

// Number returns the number of a stack's form, which is added if it is new.
func (o *FormsOf) Number(stack int32) int32 {
	s := o.stacks
	t, more := s.stacks.At(int(stack)), s.more[stack]
	if s.marked || more.java != nil || more.omp != nil {
		return o.forms.number(s, t, more)
	}
	last := &o.last[uint32(t.kernel)%lastForms]
	if k := (lastForm{t.origin, t.kernel, t.state, last.number}); k.number == 0 || *last != k {
		k.number = o.forms.number(s, t, more) + 1
		*last = k
	}
	return last.number - 1
}

// number returns the number of a form, which is added if it is new.
func (f *Forms) number(s *Stacks, t *stack, more moreOfStack) int32 {
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

// key makes a text of two lists.
func (f *Forms) key(lists ...[]int32) string {
	f.words = f.words[:0]
	for _, list := range lists {
		f.words = binary.AppendUvarint(f.words, uint64(len(list)))
		for _, n := range list {
			f.words = binary.AppendUvarint(f.words, uint64(n))
		}
	}
	return string(f.words)
}

// marksAbove returns the marked words of a stack with that leaf.
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

// Stack returns a stack of the form with these words, of which it keeps those of Java and
// OpenMP.
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
