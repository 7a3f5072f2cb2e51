package columns

import "math"

// Texts is a list of strings. They are parts of one long string, because hundreds of thousands of
// separate strings would take more memory.
type Texts struct {
	all    string
	starts []uint32 // start of each string, and the end of the last
}

// At returns string number n, which must be less than Len.
func (t Texts) At(n int32) string { return t.all[t.starts[n]:t.starts[n+1]] }

// Len returns the number of strings.
func (t Texts) Len() int { return max(len(t.starts)-1, 0) }

// Bytes returns the memory that the strings take.
func (t Texts) Bytes() int { return len(t.all) + 4*len(t.starts) }

// maxTexts bounds the total length of strings, in bytes.
var maxTexts = math.MaxUint32

// TextWriter collects distinct strings; the first is empty.
type TextWriter struct {
	Full    bool // some strings did not fit
	all     []byte
	starts  []uint32
	numbers map[string]int32
}

// NewTextWriter returns a writer with the empty string only.
func NewTextWriter() *TextWriter {
	return &TextWriter{starts: []uint32{0, 0}, numbers: map[string]int32{"": 0}}
}

// Intern returns the number of a string, which it adds if necessary. If there is no room for it,
// Intern sets Full and returns the number of the empty string.
func (w *TextWriter) Intern(s string) int32 {
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

// Texts returns the strings. The writer must not be used afterwards.
func (w *TextWriter) Texts() Texts { return Texts{string(w.all), w.starts} }
