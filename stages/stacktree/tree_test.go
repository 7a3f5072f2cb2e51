package stacktree

import "testing"

// Frames that differ anywhere have numbers of their own, also after the table has grown.
func TestFrameNumbers(t *testing.T) {
	l := NewTree()
	var frames []Frame
	for i := range 3000 {
		f := NewFrame()
		f.Word = uint64(i / 10)
		switch i % 10 {
		case 1:
			f.Own = 7
		case 2, 3, 4:
			f.Shown[i%10-2] = 7
		case 5, 6, 7:
			f.Rules[i%10-5] = 7
		case 8:
			f.Part = Java
		case 9:
			f.BCI = 7
		}
		frames = append(frames, f)
	}
	for again := range 2 {
		for i := range frames {
			if n := l.Intern(&frames[i]); int(n) != i || *l.Frames.At(int(n)) != frames[i] {
				t.Fatalf("time %d: frame %d has the number %d", again, i, n)
			}
		}
	}
}
