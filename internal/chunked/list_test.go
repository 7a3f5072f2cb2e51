package chunked

import "testing"

// A list has the added values, in chunks that stay in place.
func TestList(t *testing.T) {
	var l List[int]
	const n = 3*chunkLen + 7
	var second *int
	for i := range n {
		l.Add(i)
		if i == chunkLen {
			second = l.At(chunkLen)
		}
	}
	if l.Len() != n || l.At(chunkLen) != second {
		t.Errorf("%d values, the first of the second piece has moved: %t", l.Len(), l.At(chunkLen) != second)
	}
	for i := range n {
		if *l.At(i) != i {
			t.Fatalf("value %d is %d", i, *l.At(i))
		}
	}
}
