package perfdata

// totals are the last readings of counters, by id.
type totals map[uint64]reading

// reading is a counter's value, and for how long it was enabled and really ran
// on the hardware, in ns; 0 when not recorded.
type reading struct{ value, enabled, running uint64 }

// since is what was counted since an earlier reading. A counter that shared the
// hardware with others ran for a part of the time only: its value is scaled to
// the whole.
func (r reading) since(last reading) uint64 {
	n, enabled, running := r.value-last.value, r.enabled-last.enabled, r.running-last.running
	if running == 0 || running >= enabled {
		return n
	}
	return uint64(float64(n)*float64(enabled)/float64(running) + 0.5)
}

// counted adds a row to a list for each counter that a sample read, with what it counted
// since the last time; none for those that did not move (perf-data 6.1).
func (r *reader) counted(last totals, s *sample, from row, to *rows) {
	format := r.events[s.event].readFormat
	c := cursor{b: s.values, big: r.big}
	n := uint64(1)
	group := format&readGroup != 0
	if group {
		n = c.u64()
	}
	var now reading
	times := func() {
		if format&readEnabled != 0 {
			now.enabled = c.u64()
		}
		if format&readRunning != 0 {
			now.running = c.u64()
		}
	}
	if group {
		times()
	}
	for ; n > 0 && !c.short; n-- {
		now.value = c.u64()
		if !group {
			times()
		}
		part, id := from, uint64(0)
		if format&readID != 0 {
			id = c.u64()
			if e, ok := r.byID[id]; ok {
				part.event = e
			}
		}
		if format&readLost != 0 {
			c.u64()
		}
		if c.short {
			break
		}
		if period := now.since(last[id]); period != 0 {
			to.add(part, period, true)
		}
		last[id] = now
	}
}
