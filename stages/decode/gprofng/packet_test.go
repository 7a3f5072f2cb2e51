package gprofng

import "testing"

// Zeros are counted up to the first other byte.
func TestLeadingZeros(t *testing.T) {
	for _, size := range []int{0, 1, 255, 256, 257, 512, 70_000} {
		b := make([]byte, size)
		if got := leadingZeros(b); got != size {
			t.Errorf("%d of %d", got, size)
		}
		for _, at := range []int{0, 1, 255, 256, 511, 69_999} {
			if at < size {
				b[at] = 1
				if got := leadingZeros(b); got != at {
					t.Errorf("%d of %d, %d are zeros", got, size, at)
				}
				b[at] = 0
			}
		}
	}
}
