package columns

import "math"

// Texts are strings by number. They are parts of one string, so that hundreds of thousands
// of them are little to keep.
type Texts struct {
	all    string
	starts []uint32 // of each, and where the last one ends
}

// At returns a string, which must be there.
func (t Texts) At(n int32) string { return t.all[t.starts[n]:t.starts[n+1]] }

// Len returns how many there are.
func (t Texts) Len() int { return max(len(t.starts)-1, 0) }

// Bytes returns the memory that they take.
func (t Texts) Bytes() int { return len(t.all) + 4*len(t.starts) }

// maxTexts is how many bytes strings may have.
var maxTexts = math.MaxUint32

// TextWriter numbers distinct strings; the first is empty.
type TextWriter struct {
	Full    bool // some did not fit
	all     []byte
	starts  []uint32
	numbers map[string]int32
}

// NewTextWriter returns a writer with the empty string only.
func NewTextWriter() *TextWriter {
	return &TextWriter{starts: []uint32{0, 0}, numbers: map[string]int32{"": 0}}
}

// Number returns the number of a string, that of the empty one if there is no room for it.
func (w *TextWriter) Number(s string) int32 {
	n, known := w.numbers[s]
	switch {
	case known:
		return n
	case len(s) > maxTexts-len(w.all) || len(w.numbers) == math.MaxInt32:
		w.Full = true
		return 0
	}
	n = int32(len(w.numbers))
	w.numbers[s] = n
	w.all = append(w.all, s...)
	w.starts = append(w.starts, uint32(len(w.all)))
	return n
}

// Texts returns the strings. The writer must not be used any more.
func (w *TextWriter) Texts() Texts { return Texts{string(w.all), w.starts} }
