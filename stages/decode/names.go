package decode

import (
	"cmp"
	"fmt"
	"slices"
)

// Names gives addresses to frames that were recorded as names, so that they fit
// RawStack.Words. Each function is a mapping of generated code, in which the offset
// of an address is the source line: a function is the same in all recordings that
// have its name and file. The words of callers are calls, not return addresses
// (RawStack.Returns), and their stacks are as whole as the recorder says
// (CallersUnwound).
type Names struct {
	functions map[namedFunction]int // places in image
	lines     map[uint64]bool       // words with a line
	image     []MapEvent
}

type namedFunction struct{ name, file string }

// linesPerFunction is the size of a function's mapping: a line is a positive int32,
// or 0 if unknown.
const linesPerFunction = 1 << 31

// maxNames keeps addresses in the lower half: the upper half is the kernel's.
const maxNames = 1<<32 - 2

// NewNames returns an empty list.
func NewNames() *Names {
	return &Names{functions: map[namedFunction]int{}, lines: map[uint64]bool{}}
}

// Word returns the word of a frame. file is empty and line is 0 if unknown.
func (n *Names) Word(function, file string, line int32) (uint64, error) {
	if line < 0 {
		return 0, fmt.Errorf("line %d of %s", line, function)
	}
	k := namedFunction{function, file}
	at, known := n.functions[k]
	if !known {
		at = len(n.image)
		if at == maxNames {
			return 0, fmt.Errorf("more than %d functions", maxNames)
		}
		n.functions[k] = at
		n.image = append(n.image, MapEvent{
			Address: uint64(at+1) * linesPerFunction, Size: linesPerFunction, Modes: 5,
			Path: GeneratedCode, Code: &Code{Function: function, File: file},
		})
	}
	m := &n.image[at]
	word := m.Address + uint64(line)
	if line > 0 && !n.lines[word] {
		n.lines[word] = true
		m.Code.Lines = append(m.Code.Lines, CodeLine{Offset: uint32(line), Line: line})
	}
	return word, nil
}

// Image returns the mappings of all functions, for Process.Image. It comes after the
// last call of Word.
func (n *Names) Image() []MapEvent {
	for _, m := range n.image {
		slices.SortFunc(m.Code.Lines, func(a, b CodeLine) int { return cmp.Compare(a.Offset, b.Offset) })
	}
	return n.image
}
