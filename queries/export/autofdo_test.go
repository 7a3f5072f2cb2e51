package export

import "testing"

// The base of a discriminator is the part that LLVM uses (getBaseDiscriminatorFromDiscriminator). If another compiler
// than clang made the load object, it is 0.
func TestBaseDiscriminator(t *testing.T) {
	clang, gcc := &object{}, &object{}
	a := &autofdoWriter{notClang: map[*object]bool{gcc: true}}
	for d, want := range map[int64]int64{0: 0, 2: 1, 4: 2, 62: 31, 9: 0, 1030: 3, 4<<7 | 2: 1, 0x40: 0, 0xc4: 34} {
		if got := a.base(clang, d); got != want {
			t.Errorf("%d: %d, want %d", d, got, want)
		}
	}
	if got := a.base(gcc, 2); got != 0 {
		t.Errorf("of another compiler: %d", got)
	}
}
