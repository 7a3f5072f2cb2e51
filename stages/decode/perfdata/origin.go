package perfdata

import (
	"fmt"

	"stackmill/schema"
)

// origin identifies the recording by what perf writes first and never changes: the ids of
// its events, which the kernel gives no other event until it is started again, and the time
// of the first sample in the file. It is empty without ids or a time.
func (r *reader) origin() string {
	if len(r.eventIDs) == 0 {
		return ""
	}
	id := schema.NewID("perf")
	for _, n := range r.eventIDs {
		id = id.Number(n)
	}
	for part := range r.moments.all() {
		for i := range part {
			if t := part[i].time; isTime(t) {
				return fmt.Sprintf("%016x", id.Number(t).Sum())
			}
		}
	}
	return ""
}
