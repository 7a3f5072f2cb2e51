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
	c := newCollector()
	for _, x := range []struct {
		what string
		live int64
		want int
	}{
		{"nothing is in use", 0, 3100},
		{"little is in use", 32 << 20, 300},
		{"hardly more is in use", 33 << 20, 300},
		{"half of it is in use", 64 << 20, 100},
		{"more is in use", 1 << 30, 100},
		{"it is free again", 16 << 20, 700},
	} {
		if c.rest(128<<20, x.live); percent() != x.want {
			t.Errorf("%s: collected after a growth of %d %%, want %d", x.what, percent(), x.want)
		}
	}
	c.end()
	if next := newCollector(); next.usual != 100 {
		t.Errorf("%d %% is taken for usual", next.usual)
	}
	for c.end(); percent() != 100; { // soon
		time.Sleep(time.Millisecond)
	}

	debug.SetGCPercent(50)
	c = newCollector()
	if c.rest(128<<20, 0); percent() != 50 {
		t.Errorf("what the user has set became %d %%", percent())
	}
}

// The longer a program runs, the more memory may be in use before garbage is collected.
func TestRestSize(t *testing.T) {
	for _, x := range []struct{ allocated, want int64 }{{0, 64}, {80, 69}, {800, 114}, {2400, 200}, {1 << 20, 200}} {
		if got := restSize(1200<<20, x.allocated<<20); got != x.want<<20 {
			t.Errorf("%d MiB were allocated: garbage is collected from %d MiB on, not %d", x.allocated, got>>20, x.want)
		}
	}
	if got := restSize(60<<20, 0); got != 10<<20 {
		t.Errorf("of 60 MiB, %d MiB may be in use", got>>20)
	}
}
