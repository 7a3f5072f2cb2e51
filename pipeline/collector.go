package pipeline

import (
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// The part of the memory that may be in use before garbage is collected: looking for what is
// not garbage costs time. Small recordings leave little that is to be looked at, and making
// the pages of a larger heap takes as long as many of them.
const (
	restShare  = 4
	smallShare = 6 // while all recordings are small
)

// restSize returns how much memory may be in use before garbage is collected while
// recordings are read.
func restSize(memory int64, list []*attempt) int64 {
	if slices.ContainsFunc(list, func(a *attempt) bool { return a.src.bytes >= largeInput }) {
		return memory / restShare
	}
	return memory / smallShare
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
	percent := int(max(100, 100*size/max(live, 4<<20)-100))
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
