package pipeline

import (
	"runtime/debug"
	"testing"
	"time"
)

func TestCollectorRests(t *testing.T) {
	percent := func() int {
		p := debug.SetGCPercent(100)
		debug.SetGCPercent(p)
		return p
	}
	was := debug.SetGCPercent(100)
	defer debug.SetGCPercent(was)
	c := newGCTuner()
	for _, x := range []struct {
		what string
		live int64
		want int
	}{
		{"nothing is in use", 0, 3100},
		{"little is in use", 32 << 20, 300},
		{"hardly more is in use", 33 << 20, 300},
		{"half of it is in use", 64 << 20, 100},
		{"more is in use", 1 << 30, 50},
		{"it is free again", 16 << 20, 700},
	} {
		if c.setTarget(128<<20, x.live); percent() != x.want {
			t.Errorf("%s: collected after a growth of %d %%, want %d", x.what, percent(), x.want)
		}
	}
	c.end()
	if next := newGCTuner(); next.usual != 100 {
		t.Errorf("%d %% is taken for usual", next.usual)
	}
	for c.end(); percent() != 100; { // soon
		time.Sleep(time.Millisecond)
	}

	debug.SetGCPercent(50)
	c = newGCTuner()
	if c.setTarget(128<<20, 0); percent() != 50 {
		t.Errorf("what the user has set became %d %%", percent())
	}
}

// The heap target grows with the bytes allocated so far and the live bytes.
func TestRestSize(t *testing.T) {
	for _, x := range []struct{ memory, allocated, live, want int64 }{
		{1200, 0, 0, 32}, {1200, 80, 10, 32}, {1200, 80, 40, 60}, {1200, 800, 0, 32}, {1200, 800, 25, 75},
		{1200, 800, 100, 200}, {1200, 1 << 20, 50, 200}, {60, 0, 0, 10},
	} {
		if got := heapTarget(x.memory<<20, x.allocated<<20, x.live<<20); got != x.want<<20 {
			t.Errorf("of %d MiB, %d were allocated and %d are in use: garbage is collected from %d on, not %d", x.memory, x.allocated, x.live, got>>20, x.want)
		}
	}
}
