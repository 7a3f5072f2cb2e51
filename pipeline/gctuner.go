package pipeline

import (
	"math"
	"runtime/debug"
	"sync"
	"time"
)

// A garbage collection costs time for each live byte. A larger heap needs fewer collections, but
// has more pages to map in, which costs time once for each. The sum of both costs is lowest if the
// heap grows by the square root of gcCost * allocated * live bytes between two collections.
const (
	// gcCost is the cost of collecting a live byte, relative to the cost of mapping in a new one.
	// On virtual machines it depends on the host: from 1/30 to 1.
	gcCost        = 1. / 8
	minHeapTarget = 32 << 20 // bytes in use before the first collection
	heapShare     = 6        // heapTarget reaches at most 1/heapShare of the memory
	minGCPercent  = 50       // percent of the live bytes by which the heap may always grow
)

// heapTarget returns the heap size at which the next collection should start, given the bytes
// allocated so far and those that are live.
func heapTarget(memory, allocated, live int64) int64 {
	growth := int64(math.Sqrt(gcCost * float64(allocated) * float64(live)))
	return min(memory/heapShare, max(minHeapTarget, live+growth))
}

// gcTuner adjusts how much the heap may grow until the next garbage collection.
type gcTuner struct{ usual, percent int }

// lingering is the tuner that has ended last, while its setting is still in place; nil: none.
var lingering struct {
	sync.Mutex
	*gcTuner
}

func newGCTuner() *gcTuner {
	lingering.Lock()
	defer lingering.Unlock()
	if c := lingering.gcTuner; c != nil {
		lingering.gcTuner = nil
		return c
	}
	usual := debug.SetGCPercent(100)
	debug.SetGCPercent(usual)
	return &gcTuner{usual, usual}
}

// setTarget delays the next collection until the heap has the given size; live bytes are in use
// now. It keeps a GOGC that the user has set.
func (c *gcTuner) setTarget(size, live int64) {
	if c.usual != 100 {
		return
	}
	percent := int(max(minGCPercent, 100*size/max(live, 4<<20)-100))
	if change := percent - c.percent; change > c.percent/8 || -change > c.percent/8 { // each change stops the world
		debug.SetGCPercent(percent)
		c.percent = percent
	}
}

// lingerTime is how long the setting outlives the tuner: resetting it would start a collection, and
// most programs end.
const lingerTime = 50 * time.Millisecond

// end restores the usual setting soon, unless another tuner begins.
func (c *gcTuner) end() {
	lingering.Lock()
	defer lingering.Unlock()
	lingering.gcTuner = c
	time.AfterFunc(lingerTime, func() {
		lingering.Lock()
		defer lingering.Unlock()
		if lingering.gcTuner == c {
			debug.SetGCPercent(c.usual)
			lingering.gcTuner = nil
		}
	})
}
