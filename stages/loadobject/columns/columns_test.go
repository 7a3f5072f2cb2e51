package columns

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestColumns checks that values are read back in the order in which they were written.
func TestColumns(t *testing.T) {
	w := NewWriter()
	w.Uint(math.MaxUint64)
	w.Int(math.MinInt64)
	w.Count(3)
	w.Bool(true)
	w.Texts([]string{"a", "", "b", "a"})
	w.Text("b")
	b := w.Append([]byte("head"))
	r := NewReader(b[len("head"):])
	if r.Uint() != math.MaxUint64 || r.Int() != math.MinInt64 || r.Count() != 3 || !r.Bool() {
		t.Error("other numbers than were written")
	}
	if diff := cmp.Diff([]string{"a", "", "b", "a"}, r.Texts()); diff != "" {
		t.Error(diff)
	}
	if r.Whole() || r.Text() != "b" || !r.Whole() {
		t.Error("the end is not where it was")
	}
}

// TestBad checks that after an invalid number all values are zero.
func TestBad(t *testing.T) {
	written := func(f func(*Writer)) *Reader {
		w := NewWriter()
		f(w)
		w.Text("behind")
		return NewReader(w.Append(nil))
	}
	for name, bad := range map[string]func() *Reader{
		"nothing":              func() *Reader { return NewReader(nil) },
		"strings without end":  func() *Reader { return NewReader([]byte{2, 0, 9, 'a'}) },
		"too many strings":     func() *Reader { return NewReader([]byte{200, 1, 0}) },
		"a count beyond bytes": func() *Reader { r := written(func(w *Writer) { w.Uint(99) }); r.Count(); return r },
		"no truth value":       func() *Reader { r := written(func(w *Writer) { w.Uint(2) }); r.Bool(); return r },
		"no such string":       func() *Reader { r := written(func(w *Writer) { w.Uint(7) }); r.Text(); return r },
		"a cut number":         func() *Reader { r := NewReader([]byte{1, 0, 0x80}); r.Int(); return r },
	} {
		r := bad()
		if r.Whole() || r.Text() != "" || r.Uint() != 0 || r.Texts() != nil {
			t.Errorf("%s: the reader goes on", name)
		}
	}
}
