package parquetfile

import (
	"math/rand/v2"
	"testing"
)

// What is kept has pages larger than pageBytes (rollupRows), in which values that come again
// far apart are found.
func TestFarRepeats(t *testing.T) {
	half := make([]byte, 3*pageBytes/2)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range half {
		half[i] = byte(random.Uint32())
	}
	s := Thorough.takeScratch()
	if n := len(s.zstd.EncodeAll(append(half, half...), nil)); n > len(half)+len(half)/10 {
		t.Errorf("%d random bytes, twice, take %d", len(half), n)
	}
}
