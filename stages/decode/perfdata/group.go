package perfdata

// totals are the last values of counters, by id.
type totals map[uint64]uint64

// counted appends a row for each counter that a sample read, with what it
// counted since the last time; none for those that did not move (perf-data 6.1).
func (r *reader) counted(last totals, s *sample, from row, rows []row) []row {
	format := r.events[s.event].readFormat
	c := cursor{b: s.values, big: r.big}
	n := uint64(1)
	group := format&readGroup != 0
	if group {
		n = c.u64()
	}
	times := func() {
		for _, bit := range []uint64{readEnabled, readRunning} {
			if format&bit != 0 {
				c.u64()
			}
		}
	}
	if group {
		times()
	}
	for ; n > 0 && !c.short; n-- {
		value := c.u64()
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
		if part.period = value - last[id]; part.period != 0 {
			rows = append(rows, part)
		}
		last[id] = value
	}
	return rows
}
