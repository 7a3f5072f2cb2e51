package perfdata

// clockMonotonic is the number of the clock that run-time compilers read.
const clockMonotonic = 1

// cycleClock converts cycles of the processor's counter to the recording's time
// (perf-data 5.2, TIME_CONV).
type cycleClock struct {
	shift, mult, zero, cycles, mask uint64
	short                           bool // the counter has only the bits of mask
}

// readCycleClock returns nil if the record makes no sense.
func readCycleClock(body []byte, big bool) *cycleClock {
	c := cursorOf(body, big)
	k := &cycleClock{shift: c.U64(), mult: c.U64(), zero: c.U64()}
	if c.Short || k.shift > 63 || k.mult == 0 {
		return nil
	}
	k.cycles, k.mask = c.U64(), c.U64()
	if caps := c.Bytes(2); caps != nil {
		k.short = caps[1] != 0
	}
	return k
}

func (k *cycleClock) time(cycles uint64) uint64 {
	if k.short {
		cycles = k.cycles + (cycles-k.cycles)&k.mask
	}
	whole, rest := cycles>>k.shift, cycles&(1<<k.shift-1)
	return k.zero + whole*k.mult + rest*k.mult>>k.shift
}

// compilerTime converts a run-time compiler's time to ns from the start, which
// may be negative. Cycles can be converted to the kernel's own clock only.
func (t *timeline) compilerTime(time uint64, cycles bool) (int64, bool) {
	if len(t.r.events) == 0 {
		return 0, false
	}
	a := &t.r.events[0].attr
	chosen := a.flags&flagClockID != 0
	switch {
	case cycles && !chosen && t.r.cycles != nil:
		return int64(t.r.cycles.time(time) - t.start), true
	case !cycles && chosen && a.clockID == clockMonotonic:
		return int64(time - t.start), true
	}
	return 0, false
}
