package columns

import (
	"math"
	"testing"
)

// Distinct strings have numbers; the empty string's is 0. A string without room gets the empty
// string's number, and its columns cannot be read.
func TestTexts(t *testing.T) {
	defer func() { maxTexts = math.MaxUint32 }()
	maxTexts = 5
	w := NewTextWriter()
	for i, x := range []struct {
		text string
		want int32
		full bool
	}{{"", 0, false}, {"ab", 1, false}, {"c", 2, false}, {"ab", 1, false}, {"def", 0, true}, {"de", 3, true}} {
		if got := w.Intern(x.text); got != x.want || w.Full != x.full {
			t.Errorf("%d: %q has number %d, full: %v", i, x.text, got, w.Full)
		}
	}
	texts := w.Texts()
	for n, want := range []string{"", "ab", "c", "de"} {
		if got := texts.At(int32(n)); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
	if texts.Len() != 4 || (Texts{}).Len() != 0 {
		t.Errorf("%d strings", texts.Len())
	}
	columns := NewWriter()
	columns.Text("abcdef")
	if r := NewReader(columns.Append(nil)); r.Text() != "" || r.Whole() {
		t.Error("columns without a string can be read")
	}
}
