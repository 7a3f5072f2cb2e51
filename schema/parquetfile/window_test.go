package parquetfile

import (
	"math/rand/v2"
	"testing"
)

// Thorough files may have pages larger than pageBytes (rollupRows), in which zstd must find
// repetitions that are far apart.
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
