package perfdata

import "stackmill/stages/decode"

// clockMonotonic is the number of the clock that run-time compilers read.
const clockMonotonic = 1

// readCycleClock reads a TIME_CONV record; it returns nil if the record makes no sense.
func readCycleClock(body []byte, big bool) *decode.CycleClock {
	c := cursorOf(body, big)
	k := &decode.CycleClock{Shift: c.U64(), Mult: c.U64(), Zero: c.U64()}
	if c.Short || k.Shift > 63 || k.Mult == 0 {
		return nil
	}
	k.Cycles, k.Mask = c.U64(), c.U64()
	if caps := c.Bytes(2); caps != nil {
		k.Short = caps[1] != 0
	}
	return k
}

// compilerClock returns the clock of run-time compilers. Cycles can be converted to the
// kernel's own clock only.
func (t *timeline) compilerClock() *decode.CompilerClock {
	if len(t.r.events) == 0 {
		return nil
	}
	a, c := &t.r.events[0].attr, &decode.CompilerClock{Start: t.start}
	if a.flags&flagClockID != 0 {
		c.Monotonic = a.clockID == clockMonotonic
	} else {
		c.Cycles = t.r.meta.cycles
	}
	return c
}
