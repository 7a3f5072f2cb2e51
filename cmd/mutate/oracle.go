package main

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"

	"stackmill/queries"
	"stackmill/schema/storedir"
)

// sample is an event in a store, with only those columns that are recorded, not derived.
type sample struct {
	kind        string
	pid, thread int64
	cpu, time   int64
	stack       uint64 // hash of the recorded words
	value       string
}

// contents are the samples and problems that a store has of one recording.
type contents struct {
	samples  map[sample]int
	count    int
	problems map[string]int64 // number of errors and warnings, by severity and reason
	shown    []string         // the same problems, as text
	threads  map[int64][]period
	fields   map[string]int // number of rows of event_fields, by event, field and value
}

// values are the columns that sample.value is made of, by table.
var values = map[string]string{
	"clock_samples": "state, duration_ns",
	"heap_samples":  "operation, size, address, old_address",
	"io_samples":    "operation, fd, bytes, duration_ns",
	"sync_samples":  "duration_ns, object",
	"hwc_samples":   "counter, value",
	"perf_samples":  "event, value, data_address, weight",
	"pprof_samples": "type, value, labels",
}

// oracle reads the table files of stores with a SQL engine of its own, not through stackmill's
// views.
type oracle struct{ db *sql.DB }

// read returns the samples and problems that a store has of a recording, from the files of its
// commit c.
func (o oracle) read(ctx context.Context, store string, c storedir.Commit) (*contents, error) {
	files := map[string]string{}
	for _, f := range c.Files {
		files[f.Table] = queries.ReadParquet([]string{filepath.Join(store, filepath.FromSlash(f.Path))})
	}
	h := &contents{samples: map[sample]int{}, problems: map[string]int64{}}
	if err := o.readProblems(ctx, h, files["problems"]); err != nil {
		return nil, err
	}
	if err := o.readStates(ctx, h, files); err != nil {
		return nil, err
	}
	if files["samples"] == "" {
		return h, nil
	}
	none := "SELECT -1 AS sample, '' AS value"
	for table, columns := range values {
		if files[table] != "" {
			none += fmt.Sprintf(" UNION ALL SELECT sample, concat_ws(',', %s) FROM %s", columns, files[table])
		}
	}
	words := "path AS (SELECT -1 AS stack), w AS (SELECT -1 AS stack, 0::UBIGINT AS words)"
	if files["stack_tree"] != "" {
		words = fmt.Sprintf(`path AS (
				SELECT stack, node, 0 AS position FROM %[1]s
				UNION ALL
				SELECT p.stack, t.node - t.up, p.position + 1 FROM path p JOIN %[2]s t USING (node) WHERE t.node > 0
			),
			w AS (
				SELECT p.stack, hash(list(f.word ORDER BY f.part, p.position)) AS words
				FROM path p JOIN %[2]s t USING (node) JOIN %[3]s f USING (frame) WHERE f.word IS NOT NULL GROUP BY ALL
			)`, files["recorded_stacks"], files["stack_tree"], files["tree_frames"])
	}
	rows, err := o.db.QueryContext(ctx, fmt.Sprintf(`WITH RECURSIVE %s, v AS (%s)
		SELECT s.kind, coalesce(p.pid, 0), s.thread_id, s.cpu, s.time_ns, coalesce(w.words, 0)::UBIGINT, coalesce(v.value, ''), count(*)
		FROM %s s LEFT JOIN %s p USING (process) LEFT JOIN w USING (stack) LEFT JOIN v USING (sample)
		WHERE s.kind <> 'wait' GROUP BY ALL -- verdictOfStates compares waits`,
		words, none, files["samples"], files["processes"]))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var s sample
		var n int
		if err := rows.Scan(&s.kind, &s.pid, &s.thread, &s.cpu, &s.time, &s.stack, &s.value, &n); err != nil {
			return nil, err
		}
		h.samples[s] += n
		h.count += n
	}
	return h, rows.Err()
}

func (o oracle) readProblems(ctx context.Context, h *contents, file string) error {
	if file == "" {
		return nil
	}
	rows, err := o.db.QueryContext(ctx, "SELECT severity, reason, count, severity || ' ' || file || ': ' || reason || ': ' || message FROM "+file+" WHERE severity <> 'info'")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var severity, reason, text string
		var n int64
		if err := rows.Scan(&severity, &reason, &n, &text); err != nil {
			return err
		}
		h.problems[severity+" "+reason] += n
		h.shown = append(h.shown, text)
	}
	return rows.Err()
}

// saysMore reports whether h has errors or warnings that the undamaged recording `than` does not
// have.
func (h *contents) saysMore(than *contents) bool {
	for k, n := range h.problems {
		if n > than.problems[k] {
			return true
		}
	}
	return false
}

// differences counts the samples that are missing compared with the undamaged recording, and those
// that are new. Columns in free may differ.
func (h *contents) differences(from *contents, free columns) (missing, more int, examples []string) {
	moved := int64(0)
	if free&shift != 0 {
		moved = h.movedBy(from)
	}
	have, want := h.project(free, moved), from.project(free, 0)
	shown := map[string]int{}
	note := func(sign string, n int, s sample) {
		if shown[sign]++; shown[sign] <= 2 {
			examples = append(examples, fmt.Sprintf("%s%d %+v", sign, n, s))
		}
	}
	for s, n := range want {
		if k := n - have[s]; k > 0 {
			missing += k
			note("-", k, s)
		}
	}
	for s, n := range have {
		if k := n - want[s]; k > 0 {
			more += k
			note("+", k, s)
		}
	}
	return missing, more, examples
}

// project returns the samples without the free columns, and with times earlier by moved.
func (h *contents) project(free columns, moved int64) map[sample]int {
	out := map[sample]int{}
	for s, n := range h.samples {
		s.time -= moved
		if free&pid != 0 {
			s.pid = 0
		}
		if free&thread != 0 {
			s.thread = 0
		}
		if free&cpu != 0 {
			s.cpu = 0
		}
		if free&moment != 0 {
			s.time = 0
		}
		if free&stack != 0 {
			s.stack = 0
		}
		if free&value != 0 {
			s.value = ""
		}
		out[s] += n
	}
	return out
}

// movedBy returns by how many ns most times have moved. It compares the latest samples that are
// equal but for the time.
func (h *contents) movedBy(from *contents) (best int64) {
	last := func(h *contents) map[sample]int64 {
		times := map[sample]int64{}
		for s := range h.samples {
			t := s.time
			s.time = 0
			times[s] = max(times[s], t)
		}
		return times
	}
	theirs, votes := last(from), map[int64]int{}
	for s, t := range last(h) {
		if other, ok := theirs[s]; ok {
			votes[t-other]++
		}
	}
	for d, n := range votes {
		if n > votes[best] || n == votes[best] && d < best {
			best = d
		}
	}
	return best
}

// verdict compares the samples of a mutant with those of its base. It returns nil if none was lost,
// or if stackmill reported the loss or cannot notice it.
func verdict(have, want *contents, t truth, status int) []string {
	if t.any || status != 0 || have.saysMore(want) {
		return nil
	}
	missing, more, examples := have.differences(want, t.free)
	if missing <= t.samples && more <= t.samples {
		return verdictOfStates(have, want, t)
	}
	said := "stackmill could notice all of that"
	if t.why != "" {
		said = fmt.Sprintf("stackmill could not notice %d: %s", t.samples, t.why)
	}
	return append([]string{fmt.Sprintf("loss in silence: %d of %d samples are missing, %d are new; %s", missing, want.count, more, said)}, strings.Split(strings.Join(examples, "\n"), "\n")...)
}
