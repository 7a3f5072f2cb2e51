package perfdata

import (
	"fmt"

	"stackmill/schema"
)

// origin identifies the recording by what perf writes first and never changes: the event ids,
// which the kernel does not reuse until it restarts, and the time of the first sample in the
// file. It is empty without ids or a time.
func (r *reader) origin() string {
	if len(r.meta.eventIDs) == 0 {
		return ""
	}
	id := schema.NewID("perf")
	for _, n := range r.meta.eventIDs {
		id = id.Number(n)
	}
	for part := range r.found.sampleRefs.all() {
		for i := range part {
			if t := part[i].time; isTime(t) {
				return fmt.Sprintf("%016x", id.Number(t).Sum())
			}
		}
	}
	return ""
}
