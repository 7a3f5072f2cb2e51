package pipeline

import (
	"math"
	"runtime/debug"
	"sync"
	"time"
)

// A garbage collection takes time for each byte that is live. A larger heap needs fewer
// collections, but its pages have to be made, once each. Together they take the least time if
// the heap grows between two collections by the root of restCost * allocated * live bytes.
const (
	// restCost is the cost of a live byte in a collection, relative to that of making a byte of a
	// page. On virtual machines it depends on the host: between a thirtieth and 1.
	restCost  = 1. / 8
	restStart = 32 << 20 // bytes that are in use at least when garbage is collected
	restShare = 6        // the part of the memory that may be in use then
	restLeast = 50       // percent of the live bytes by which the heap may grow, whatever restShare says
)

// restSize returns how much memory may be in use before garbage is collected, when so much
// has been allocated and so much of it is in use.
func restSize(memory, allocated, live int64) int64 {
	growth := int64(math.Sqrt(restCost * float64(allocated) * float64(live)))
	return min(memory/restShare, max(restStart, live+growth))
}

// collector sets how much the memory in use may grow until garbage is collected.
type collector struct{ usual, percent int }

// lasting is the collector that has ended, but whose setting has not.
var lasting struct {
	sync.Mutex
	*collector
}

func newCollector() *collector {
	lasting.Lock()
	defer lasting.Unlock()
	if c := lasting.collector; c != nil {
		lasting.collector = nil
		return c
	}
	usual := debug.SetGCPercent(100)
	debug.SetGCPercent(usual)
	return &collector{usual, usual}
}

// rest lets the collector rest until memory of that size is in use, of which live is
// in use now. What the user has set stays.
func (c *collector) rest(size, live int64) {
	if c.usual != 100 {
		return
	}
	percent := int(max(restLeast, 100*size/max(live, 4<<20)-100))
	if change := percent - c.percent; change > c.percent/8 || -change > c.percent/8 { // each stops the world
		debug.SetGCPercent(percent)
		c.percent = percent
	}
}

// lasts is for how long the setting outlives the collector. The usual one would begin a
// collection, and most programs end.
const lasts = 50 * time.Millisecond

// end makes the setting the usual one soon, unless another collector begins.
func (c *collector) end() {
	lasting.Lock()
	defer lasting.Unlock()
	lasting.collector = c
	time.AfterFunc(lasts, func() {
		lasting.Lock()
		defer lasting.Unlock()
		if lasting.collector == c {
			debug.SetGCPercent(c.usual)
			lasting.collector = nil
		}
	})
}
