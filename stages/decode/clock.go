package decode

// CompilerClock converts run-time compilers' times to the recording's. Nil converts none.
type CompilerClock struct {
	Start     uint64      `json:"start"`     // of the founder
	Monotonic bool        `json:"monotonic"` // the recording's clock is CLOCK_MONOTONIC
	Cycles    *CycleClock `json:"cycles,omitempty"`
}

// CycleClock converts cycles of the processor's counter to a recording's time
// (perf-data 5.2, TIME_CONV).
type CycleClock struct {
	Shift  uint64 `json:"shift"`
	Mult   uint64 `json:"mult"`
	Zero   uint64 `json:"zero"`
	Cycles uint64 `json:"cycles"`
	Mask   uint64 `json:"mask"`
	Short  bool   `json:"short"` // the counter has only the bits of Mask
}

// Time converts a compiler's time, from CLOCK_MONOTONIC or the cycle counter, to ns from the
// founder's start, which may be negative; false if the recording has another clock.
func (c *CompilerClock) Time(t uint64, cycles bool) (ns int64, ok bool) {
	switch {
	case c == nil:
	case cycles && c.Cycles != nil:
		return int64(c.Cycles.time(t) - c.Start), true
	case !cycles && c.Monotonic:
		return int64(t - c.Start), true
	}
	return 0, false
}

func (k *CycleClock) time(cycles uint64) uint64 {
	if k.Short {
		cycles = k.Cycles + (cycles-k.Cycles)&k.Mask
	}
	whole, rest := cycles>>k.Shift, cycles&(1<<k.Shift-1)
	return k.Zero + whole*k.Mult + rest*k.Mult>>k.Shift
}
