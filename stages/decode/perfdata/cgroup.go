package perfdata

import "strconv"

// cgroupNames maps the ids of control groups to their paths (perf-data 5.2).
type cgroupNames map[uint64]string

// add reads a CGROUP record, an identifier and a path; false if it ends too early.
func (n *cgroupNames) add(body []byte, big bool) bool {
	c := cursorOf(body, big)
	id := c.U64()
	if c.Short {
		return false
	}
	if *n == nil {
		*n = cgroupNames{}
	}
	if _, known := (*n)[id]; !known {
		(*n)[id] = text(c.Rest)
	}
	return true
}

// of returns the path of a control group, or its id if no record has the path.
func (n cgroupNames) of(id uint64) string {
	if path, known := n[id]; known {
		return path
	}
	return strconv.FormatUint(id, 10)
}
