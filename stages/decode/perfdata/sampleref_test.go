package perfdata

import (
	"math/rand/v2"
	"testing"

	"stackmill/internal/spill"
)

// The summary computed from the chunks' summaries equals the summary computed sample by sample.
func TestMomentSpans(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		l := sampleRefs{space: spill.New(1<<30, nil)}
		at := random.Uint64N(100)
		for n := range random.IntN(3 * refsPerChunk) {
			if n%refsPerChunk == 0 && n > 0 {
				at -= min(at, random.Uint64N(3)) // out of order only from one chunk to the next
			}
			time := at
			odd := -1
			if round%2 == 0 {
				odd = random.IntN(4 * refsPerChunk)
			}
			switch odd {
			case 0:
				time = 0
			case 1:
				time -= min(time, random.Uint64N(1000))
			case 2:
				time = noTime
			}
			l.add(sampleRef{time, recordOffset(n)})
			at += random.Uint64N(3)
		}
		got, want := l.span(nil), l.span(map[recordOffset]uint64{1 << segmentShift: 0})
		if l.n == 0 {
			want.earliest = noTime
		}
		want.first, want.last = got.first, got.last // differ by design: those of chunks
		if got != want {
			t.Fatalf("%d moments: %+v, want %+v", l.n, got, want)
		}
		s := timeLimits{first: want.earliest + random.Uint64N(2), last: want.latest - min(want.latest, random.Uint64N(2))}
		outside, within := 0, true
		for i := range l.chunks {
			p := &l.chunks[i]
			within = within && p.isIn(&s)
			for _, m := range p.list {
				if m.time != 0 && !s.holds(m.time) {
					outside++
				}
			}
		}
		if within != (outside == 0) {
			t.Fatalf("%d of %d moments are outside of %+v, of none of the chunks: %t", outside, l.n, s, within)
		}
	}
}
