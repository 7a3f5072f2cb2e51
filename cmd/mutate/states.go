package main

import (
	"context"
	"fmt"
	"slices"
)

// period is a time in which a thread was in a state, in ns.
type period struct {
	from, to int64
	state    string // on, off, or unknown
}

// readStates reads the states of threads and the fields of tracepoints.
func (o oracle) readStates(ctx context.Context, h *contents, files map[string]string) error {
	h.threads, h.fields = map[int64][]period{}, map[string]int{}
	if file := files["thread_states"]; file != "" {
		rows, err := o.db.QueryContext(ctx, "SELECT thread_id, t0_ns, t1_ns, CASE WHEN state IN ('on', 'unknown') THEN state ELSE 'off' END FROM "+file+" ORDER BY ALL")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var thread int64
			var p period
			if err := rows.Scan(&thread, &p.from, &p.to, &p.state); err != nil {
				return err
			}
			h.threads[thread] = append(h.threads[thread], p)
		}
		if err := rows.Err(); err != nil {
			return err
		}
	}
	if files["event_fields"] == "" || files["event_formats"] == "" {
		return nil
	}
	rows, err := o.db.QueryContext(ctx, fmt.Sprintf(`SELECT concat_ws(' ', p.event, d.field, f.number, hash(f.text)), count(*)
		FROM %s f JOIN %s p USING (sample) JOIN %s d USING (event, position) GROUP BY ALL`, files["event_fields"], files["perf_samples"], files["event_formats"]))
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		var n int
		if err := rows.Scan(&key, &n); err != nil {
			return err
		}
		h.fields[key] += n
	}
	return rows.Err()
}

// wrongStates counts the known periods of h that contradict the undamaged recording `from`, and the
// known periods of `from` for which h has no row, not even an unknown state.
func (h *contents) wrongStates(from *contents, moved int64) (wrong, gone int, examples []string) {
	for thread, list := range h.threads {
		for _, p := range list {
			p.from, p.to = p.from-moved, p.to-moved
			if p.state == "unknown" {
				continue
			}
			if same, _ := covered(from.threads[thread], p); same < p.to-p.from {
				if wrong++; wrong <= 3 {
					examples = append(examples, fmt.Sprintf("thread %d wrongly: %+v", thread, p))
				}
			}
		}
	}
	for thread, list := range from.threads {
		for _, p := range list {
			p.from, p.to = p.from+moved, p.to+moved
			if p.state == "unknown" {
				continue
			}
			if _, any := covered(h.threads[thread], p); any < p.to-p.from {
				if gone++; gone <= 3 {
					examples = append(examples, fmt.Sprintf("thread %d without a row: %+v", thread, p))
				}
			}
		}
	}
	slices.Sort(examples)
	return wrong, gone, examples
}

// covered returns for how much of a period a thread has the same state, and for how much it has any.
func covered(list []period, p period) (same, any int64) {
	at, _ := slices.BinarySearchFunc(list, p.from, func(o period, from int64) int {
		if o.to <= from {
			return -1
		}
		return 1
	})
	for ; at < len(list) && list[at].from < p.to; at++ {
		n := min(list[at].to, p.to) - max(list[at].from, p.from)
		if any += n; list[at].state == p.state {
			same += n
		}
	}
	return same, any
}

// wrongFields counts the values of fields that are missing or new compared with the undamaged
// recording.
func (h *contents) wrongFields(from *contents) (n int, example string) {
	for key, want := range from.fields {
		if k := want - h.fields[key]; k > 0 {
			n, example = n+k, fmt.Sprintf("-%d %s", k, key)
		}
	}
	for key, have := range h.fields {
		if k := have - from.fields[key]; k > 0 {
			n, example = n+k, fmt.Sprintf("+%d %s", k, key)
		}
	}
	return n, example
}

// How many periods of states and values of fields change at most with one record.
const (
	statesPerRecord = 4
	fieldsPerRecord = 64
)

// verdictOfStates is verdict for the states of threads and the fields of tracepoints.
func verdictOfStates(have, want *contents, t truth) (failures []string) {
	moved := int64(0)
	if t.free&shift != 0 {
		moved = have.movedBy(want)
	}
	// Without the last record, the recording ends earlier: one period may be missing.
	if wrong, gone, examples := have.wrongStates(want, moved); max(wrong, gone-1) > statesPerRecord*t.samples && t.free&states == 0 {
		failures = append(failures, fmt.Sprintf("loss in silence: %d periods of states are wrong, %d are missing; %d records are damaged", wrong, gone, t.samples))
		failures = append(failures, examples...)
	}
	if n, example := have.wrongFields(want); n > fieldsPerRecord*t.samples && t.free&content == 0 {
		failures = append(failures, fmt.Sprintf("loss in silence: %d values of fields are missing or new, such as %s", n, example))
	}
	return failures
}
